package pdu

import (
	"encoding/binary"

	"github.com/linxGnu/gosmpp/data"
)

// Submit is a view of a submission: submit_sm (section 4.4.1), submit_multi
// (4.5.1) or data_sm (4.7.1), which has not all of the fields. It takes no memory
// of its own: the slices point into the frame.
type Submit struct {
	ServiceType []byte
	// Destination is of a submit_multi the first one; the name of a distribution
	// list stands as a number.
	Source, Destination            Address
	ESMClass, ProtocolID, Priority byte
	Schedule, Validity             []byte
	RegisteredDelivery             byte
	ReplaceIfPresent               byte
	DataCoding, DefaultMsgID       byte
	ShortMessage                   []byte // sm_length octets, whatever they are

	frame        Frame
	destinations []byte // of a submit_multi, as they stand

	shortAt int // of short_message in the frame; sm_length is the octet before; 0 in a data_sm
	tlvAt   int // of the first TLV
	tailAt  int // of what follows the last whole TLV
}

// IsSubmit says whether c asks the SMSC to deliver a message, and so gets its
// message_id. An SMSC may send a data_sm too: then it is something else.
func IsSubmit(c data.CommandIDType) bool {
	switch c {
	case data.SUBMIT_SM, data.SUBMIT_MULTI, data.DATA_SM:
		return true
	}
	return false
}

// ParseSubmit walks a submission. It asks only what it needs to find the
// fields: none is too long, sm_length alone says how long short_message is,
// and what follows the last whole TLV is left as a tail. ErrBody: the body is
// shorter than its fields, or has a dest_flag that nobody knows, so that what
// follows cannot be found.
func ParseSubmit(f Frame) (Submit, error) {
	switch f.Command() {
	case data.SUBMIT_SM, data.SUBMIT_MULTI:
		return walkMessage(f)
	case data.DATA_SM:
		return walkData(f)
	}
	return Submit{}, ErrCommand
}

// walkMessage walks the body that submit_sm, submit_multi and deliver_sm share
// (4.4.1, 4.5.1, 4.6.1).
func walkMessage(f Frame) (Submit, error) {
	s := Submit{frame: f}
	c := cursor{frame: f, at: HeaderSize}
	s.ServiceType = c.cstring()
	s.Source = c.address()
	if f.Command() == data.SUBMIT_MULTI {
		s.walkDestinations(&c)
	} else {
		s.Destination = c.address()
	}
	s.ESMClass = c.octet()
	s.ProtocolID = c.octet()
	s.Priority = c.octet()
	s.Schedule = c.cstring()
	s.Validity = c.cstring()
	s.RegisteredDelivery = c.octet()
	s.ReplaceIfPresent = c.octet()
	s.DataCoding = c.octet()
	s.DefaultMsgID = c.octet()
	length := c.octet()
	s.shortAt = c.at
	s.ShortMessage = c.octets(int(length))
	return s.walkTLVs(&c)
}

// walkDestinations walks number_of_dests and the addresses and distribution
// lists behind it (4.5.1.1, 4.5.1.2).
func (s *Submit) walkDestinations(c *cursor) {
	n := c.octet()
	from := c.at
	for i := range n {
		var d Address
		switch c.octet() {
		case data.SM_DEST_SME_ADDRESS:
			d = c.address()
		case data.SM_DEST_DL_NAME:
			d.Number = c.cstring()
		default:
			c.cut()
		}
		if i == 0 {
			s.Destination = d
		}
	}
	s.destinations = c.frame[from:c.at:c.at]
}

// walkData walks the body of a data_sm (4.7.1), whose text can only be a
// message_payload.
func walkData(f Frame) (Submit, error) {
	s := Submit{frame: f}
	c := cursor{frame: f, at: HeaderSize}
	s.ServiceType = c.cstring()
	s.Source = c.address()
	s.Destination = c.address()
	s.ESMClass = c.octet()
	s.RegisteredDelivery = c.octet()
	s.DataCoding = c.octet()
	return s.walkTLVs(&c)
}

func (s Submit) walkTLVs(c *cursor) (Submit, error) {
	if c.short {
		return Submit{}, ErrBody
	}
	s.tlvAt = c.at
	s.tailAt = c.at + tlvLength(c.frame[c.at:])
	return s, nil
}

// TLV gives the value of the first TLV with this tag.
func (s *Submit) TLV(tag uint16) ([]byte, bool) { return findTLV(s.tlvs(), tag) }

// UserReference is the user_message_reference (5.3.2.17), 0 where there is none.
func (s *Submit) UserReference() uint16 {
	value, _ := s.TLV(tagUserMessageRef)
	if len(value) != 2 {
		return 0
	}
	return binary.BigEndian.Uint16(value)
}

// ReceiptRequested says whether the SMSC is to send a delivery receipt for the
// final state, for any outcome or for some (section 5.2.17).
func (s *Submit) ReceiptRequested() bool {
	return s.RegisteredDelivery&data.SM_SMSC_RECEIPT_MASK != 0
}

func (s *Submit) tlvs() []byte { return s.frame[s.tlvAt:s.tailAt] }
func (s *Submit) tail() []byte { return s.frame[s.tailAt:] }

// AppendAddresses appends where the message comes from and goes to, in a form in
// which nothing else can be equal.
func (s *Submit) AppendAddresses(dst []byte) []byte {
	return s.AppendDestination(appendAddress(dst, s.Source))
}

// AppendDestination appends where it goes to, all of a list, in such a form.
func (s *Submit) AppendDestination(dst []byte) []byte {
	if s.frame.Command() == data.SUBMIT_MULTI {
		return appendSized(dst, s.destinations)
	}
	return appendAddress(dst, s.Destination)
}

// body is the user data, UDH included: short_message, or where that is empty
// the first message_payload. payload says that it is the latter.
func (s *Submit) body() (body []byte, payload bool) {
	if len(s.ShortMessage) > 0 {
		return s.ShortMessage, false
	}
	return s.TLV(tagMessagePayload)
}

// textAt is the user data without its UDH, and where in the frame it begins.
func (s *Submit) textAt() (text []byte, at int) {
	text, at = s.bodyAt()
	if s.ESMClass&data.SM_UDH_GSM != 0 {
		if _, ok := udh(text); ok {
			header := 1 + int(text[0])
			return text[header:], at + header
		}
	}
	return text, at
}

// bodyAt is the body, and where in the frame it begins.
func (s *Submit) bodyAt() (body []byte, at int) {
	body, payload := s.body()
	if payload {
		return body, s.payloadAt()
	}
	return body, s.shortAt
}

// payloadAt is where in the frame the value of the first message_payload begins.
func (s *Submit) payloadAt() int {
	for area := s.tlvs(); ; {
		tag, value, rest, ok := nextTLV(area)
		if !ok {
			return s.tailAt
		}
		if tag == tagMessagePayload {
			return s.tailAt - len(rest) - len(value)
		}
		area = rest
	}
}
