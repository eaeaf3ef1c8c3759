package pdu

import (
	"bytes"

	"github.com/linxGnu/gosmpp/data"
)

// messageType masks the bits of esm_class that say what a message is (5.2.12).
const messageType = 0x3C

// Receipt is a view of a delivery receipt in a deliver_sm or data_sm. Its
// slices point into the frame, but for those of a UCS-2 text.
type Receipt struct {
	TextID, TLVID       []byte // of `id:` and receipted_message_id, nil where there is none
	State               State  // of message_state, or where that is missing of the text
	RawStatus           []byte // of `stat:`, nil where there is none
	Source, Destination Address
	// Source and Destination are as in the receipt: Destination is the source
	// of the message that it is about.

	msg    Submit
	text   text
	textAt int // of text in the frame
	marks  marks
}

// ParseReceipt looks for a receipt. False: it is none, and must not be touched.
//
// It is one where esm_class says so (delivery receipt or intermediate
// notification). Some SMSCs leave esm_class 0; then there must be a
// receipted_message_id or message_state TLV and a text that reads like a
// receipt. Anything else may come from a handset, whatever it looks like.
func ParseReceipt(f Frame) (Receipt, bool) {
	var s Submit
	var err error
	switch f.Command() {
	case data.DELIVER_SM:
		s, err = walkMessage(f)
	case data.DATA_SM:
		s, err = walkData(f)
	default:
		return Receipt{}, false
	}
	if err != nil {
		return Receipt{}, false
	}

	declared := declaredReceipt(s.ESMClass)
	if !declared && s.ESMClass != 0 {
		return Receipt{}, false
	}
	id, hasID := s.TLV(tagReceiptedMessageID)
	state, hasState := s.TLV(tagMessageState)
	if !declared && !hasID && !hasState {
		return Receipt{}, false
	}

	r := Receipt{Source: s.Source, Destination: s.Destination, msg: s}
	r.readText()
	if !declared && !r.marks.likeReceipt() {
		return Receipt{}, false
	}
	r.TLVID = nonEmpty(untilNUL(id))
	r.TextID = r.text.bytes(r.marks.id)
	r.RawStatus = r.text.bytes(r.marks.status)
	r.State = normalise(s.ESMClass, state, r.RawStatus)
	return r, true
}

// ID is the SMSC message id that the receipt is about, nil if it has none. The
// TLV decides where TLV and text disagree.
func (r *Receipt) ID() []byte {
	if r.TLVID != nil {
		return r.TLVID
	}
	return r.TextID
}

// UserReference is the user_message_reference of the message that the receipt is
// about, 0 where it has none: some SMSCs echo it.
func (r *Receipt) UserReference() uint16 { return r.msg.UserReference() }

// readText finds the text of the receipt behind its UDH, if any.
func (r *Receipt) readText() {
	octets, at := r.msg.textAt()
	r.text, r.textAt = text{octets: octets, wide: isWide(r.msg.DataCoding, octets)}, at
	r.marks = r.text.read()
}

func declaredReceipt(esmClass byte) bool {
	switch esmClass & messageType {
	case data.SM_SMSC_DLV_RCPT_TYPE, data.SM_INTMD_DLV_NOTIFY_TYPE,
		data.SM_SMSC_DLV_RCPT_TYPE | data.SM_INTMD_DLV_NOTIFY_TYPE:
		return true
	}
	return false
}

// normalise gives the state that a receipt reports. The TLV decides. A failure
// in a mere intermediate notification is not the last word.
func normalise(esmClass byte, tlv, word []byte) State {
	state, known := stateOfTLV(tlv)
	if !known {
		state, _ = stateOfWord(word)
	}
	if state == FailedPermanent && esmClass&messageType == data.SM_INTMD_DLV_NOTIFY_TYPE {
		return FailedTemporary
	}
	return state
}

func untilNUL(b []byte) []byte {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return b[:n:n]
	}
	return b
}

func nonEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
