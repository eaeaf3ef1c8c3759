// Package pdu looks at SMPP PDUs as the bytes they are. It has no sockets, no
// goroutines and no clock.
//
// A [Reader] cuts [Frame]s off a byte stream. A frame is what gets relayed;
// everything else here is a view into its bytes, so that nothing is ever
// parsed into a structure and written out again: such a round trip reorders,
// drops and changes what vendors send.
//
//	Reader.Next      one whole frame
//	Frame            header fields, SetSequence
//	ParseBind        who binds
//	ParseSubmit      the fields of a submit_sm, submit_multi or data_sm;
//	                 AppendContent its identity, Part and SetReference its
//	                 place in a long message, Beginnings what a receipt quotes
//	MessageID        the id the SMSC gave, or that is asked for
//	ParseReceipt     a delivery receipt; Receipt.Rewrite gives it another id
//	BindResp, ...    the few PDUs that the proxy itself originates
//
// Views point into the frame and live as long as its bytes do. Input comes
// from the network: nothing here panics on it, and what cannot be understood
// is told apart from what can, never guessed at.
//
// Section numbers in comments are those of the SMPP 3.4 specification, issue
// 1.2, unless another document is named.
package pdu
