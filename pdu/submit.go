package pdu

import "github.com/linxGnu/gosmpp/data"

// Submit is a view of a submit_sm (section 4.4.1). It takes no memory of its
// own: the slices point into the frame.
type Submit struct {
	ServiceType                    []byte
	Source, Destination            Address
	ESMClass, ProtocolID, Priority byte
	Schedule, Validity             []byte
	RegisteredDelivery             byte
	ReplaceIfPresent               byte
	DataCoding, DefaultMsgID       byte
	ShortMessage                   []byte // sm_length octets, whatever they are

	frame   Frame
	shortAt int // of short_message in the frame; sm_length is the octet before; 0 in a data_sm
	tlvAt   int // of the first TLV
	tailAt  int // of what follows the last whole TLV
}

// ParseSubmit walks a submit_sm. It asks only what it needs to find the
// fields: none is too long, sm_length alone says how long short_message is,
// and what follows the last whole TLV is left as a tail. ErrBody: the body is
// shorter than its fields.
func ParseSubmit(f Frame) (Submit, error) {
	if f.Command() != data.SUBMIT_SM {
		return Submit{}, ErrCommand
	}
	return walkMessage(f)
}

// walkMessage walks the body that submit_sm and deliver_sm share (4.4.1, 4.6.1).
func walkMessage(f Frame) (Submit, error) {
	s := Submit{frame: f}
	c := cursor{frame: f, at: HeaderSize}
	s.ServiceType = c.cstring()
	s.Source = c.address()
	s.Destination = c.address()
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

// ReceiptRequested says whether the SMSC is to send a delivery receipt for the
// final state, for any outcome or for some (section 5.2.17).
func (s *Submit) ReceiptRequested() bool {
	return s.RegisteredDelivery&data.SM_SMSC_RECEIPT_MASK != 0
}

func (s *Submit) tlvs() []byte { return s.frame[s.tlvAt:s.tailAt] }
func (s *Submit) tail() []byte { return s.frame[s.tailAt:] }

// body is the user data, UDH included: short_message, or where that is empty
// the first message_payload. payload says that it is the latter.
func (s *Submit) body() (body []byte, payload bool) {
	if len(s.ShortMessage) > 0 {
		return s.ShortMessage, false
	}
	return s.TLV(tagMessagePayload)
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
