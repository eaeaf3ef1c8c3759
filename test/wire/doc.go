// Package wire is SMPP as the test peers speak it: whole frames, a reader, and messages built
// and walked octet by octet after the SMPP 3.4 specification.
//
// It shares no code with the proxy on purpose. A peer that read and wrote frames with the code
// under test would make the same mistake twice and see nothing.
package wire

// Command ids, SMPP 3.4 section 5.1.2.1. A response has the top bit set (Response).
const (
	GenericNack     uint32 = 0x80000000
	BindReceiver    uint32 = 0x00000001
	BindTransmitter uint32 = 0x00000002
	QuerySM         uint32 = 0x00000003
	SubmitSM        uint32 = 0x00000004
	DeliverSM       uint32 = 0x00000005
	Unbind          uint32 = 0x00000006
	BindTransceiver uint32 = 0x00000009
	EnquireLink     uint32 = 0x00000015
	SubmitMulti     uint32 = 0x00000021
	DataSM          uint32 = 0x00000103

	Response uint32 = 0x80000000
)

// Command statuses, SMPP 3.4 section 5.1.3: those that a test peer gives or looks for.
const (
	OK           uint32 = 0x00
	InvCmdLen    uint32 = 0x02
	InvCmdID     uint32 = 0x03
	InvBindState uint32 = 0x04
	AlreadyBound uint32 = 0x05
	SystemError  uint32 = 0x08
	BindFailed   uint32 = 0x0D
	QueueFull    uint32 = 0x14
	Throttled    uint32 = 0x58
	AppTemporary uint32 = 0x64
)

// Tags of optional parameters, SMPP 3.4 section 5.3.2.
const (
	TagReceiptedID  uint16 = 0x001E
	TagSARReference uint16 = 0x020C
	TagSARTotal     uint16 = 0x020E
	TagSARNumber    uint16 = 0x020F
	TagPayload      uint16 = 0x0424
	TagMessageState uint16 = 0x0427
)
