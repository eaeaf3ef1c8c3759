package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// Address is an SME address: type of number, numbering plan and the number itself.
type Address struct {
	TON, NPI byte
	Number   string
}

// TLV is an optional parameter.
type TLV struct {
	Tag   uint16
	Value []byte
}

// Message is what submit_sm, deliver_sm and data_sm carry (SMPP 3.4 sections 4.4.1, 4.6.1 and
// 4.7.1); fields that data_sm lacks are left alone there.
type Message struct {
	ServiceType         string
	Source, Destination Address
	ESMClass            byte
	ProtocolID          byte
	Priority            byte
	Schedule, Validity  string
	RegisteredDelivery  byte
	Replace             byte
	DataCoding          byte
	DefaultID           byte
	Text                []byte // short_message, at most 255 octets, a UDH included
	TLVs                []TLV
}

// Body is the body of a submit_sm or deliver_sm.
func (m *Message) Body() []byte {
	b := make([]byte, 0, 64+len(m.Text))
	b = m.appendHead(b)
	b = append(b, m.ESMClass, m.ProtocolID, m.Priority)
	b = appendCString(b, m.Schedule)
	b = appendCString(b, m.Validity)
	b = append(b, m.RegisteredDelivery, m.Replace, m.DataCoding, m.DefaultID)
	b = append(b, byte(len(m.Text)))
	b = append(b, m.Text...)
	return appendTLVs(b, m.TLVs)
}

// DataBody is the body of a data_sm; the text travels as message_payload.
func (m *Message) DataBody() []byte {
	b := m.appendHead(make([]byte, 0, 64+len(m.Text)))
	b = append(b, m.ESMClass, m.RegisteredDelivery, m.DataCoding)
	if len(m.Text) > 0 {
		b = appendTLVs(b, []TLV{{TagPayload, m.Text}})
	}
	return appendTLVs(b, m.TLVs)
}

func (m *Message) appendHead(b []byte) []byte {
	b = appendCString(b, m.ServiceType)
	for _, a := range []Address{m.Source, m.Destination} {
		b = append(b, a.TON, a.NPI)
		b = appendCString(b, a.Number)
	}
	return b
}

// Submit makes the frame of a submit_sm.
func (m *Message) Submit(sequence uint32) Frame { return New(SubmitSM, 0, sequence, m.Body()) }

// Payload is the text, wherever it stands: message_payload or short_message.
func (m *Message) Payload() []byte {
	if p, ok := m.TLV(TagPayload); ok {
		return p
	}
	return m.Text
}

// TLV is the value of the first optional parameter with that tag.
func (m *Message) TLV(tag uint16) ([]byte, bool) {
	for _, t := range m.TLVs {
		if t.Tag == tag {
			return t.Value, true
		}
	}
	return nil, false
}

// ReceiptID is the message id that a receipt is about: receipted_message_id, or else the text's
// `id:` token; "" where there is neither.
func (m *Message) ReceiptID() string {
	if v, ok := m.TLV(TagReceiptedID); ok {
		return string(bytes.TrimSuffix(v, []byte{0}))
	}
	_, after, ok := strings.Cut(string(m.Payload()), "id:")
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(after, " ")
	return id
}

var errShort = errors.New("the body ends inside a field")

// ParseMessage walks the body of a submit_sm or deliver_sm. Slices are views of the body.
func ParseMessage(body []byte) (Message, error) {
	var m Message
	w := walker{rest: body}
	m.head(&w)
	m.ESMClass, m.ProtocolID, m.Priority = w.octet(), w.octet(), w.octet()
	m.Schedule, m.Validity = w.cstring(), w.cstring()
	m.RegisteredDelivery, m.Replace = w.octet(), w.octet()
	m.DataCoding, m.DefaultID = w.octet(), w.octet()
	m.Text = w.take(int(w.octet()))
	m.TLVs = w.tlvs()
	return m, w.err
}

// ParseData walks the body of a data_sm.
func ParseData(body []byte) (Message, error) {
	var m Message
	w := walker{rest: body}
	m.head(&w)
	m.ESMClass, m.RegisteredDelivery, m.DataCoding = w.octet(), w.octet(), w.octet()
	m.TLVs = w.tlvs()
	return m, w.err
}

func (m *Message) head(w *walker) {
	m.ServiceType = w.cstring()
	m.Source = Address{w.octet(), w.octet(), w.cstring()}
	m.Destination = Address{w.octet(), w.octet(), w.cstring()}
}

// walker takes fields off a body; after the first error everything is zero.
type walker struct {
	rest []byte
	err  error
}

func (w *walker) take(n int) []byte {
	if len(w.rest) < n {
		w.err, w.rest = errShort, nil
		return nil
	}
	v := w.rest[:n]
	w.rest = w.rest[n:]
	return v
}

func (w *walker) octet() byte {
	if v := w.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (w *walker) cstring() string {
	s, rest, ok := cstring(w.rest)
	if !ok {
		w.err = errShort
	}
	w.rest = rest
	return s
}

func (w *walker) tlvs() []TLV {
	var all []TLV
	for len(w.rest) > 0 && w.err == nil {
		h := w.take(4)
		if h == nil {
			break
		}
		v := w.take(int(binary.BigEndian.Uint16(h[2:])))
		if w.err == nil {
			all = append(all, TLV{binary.BigEndian.Uint16(h), v})
		}
	}
	return all
}

// cstring cuts a C string off b; false where its NUL is missing, and then it is all of b.
func cstring(b []byte) (s string, rest []byte, ok bool) {
	head, rest, ok := bytes.Cut(b, []byte{0})
	return string(head), rest, ok
}

func appendCString(b []byte, s string) []byte { return append(append(b, s...), 0) }

func appendTLVs(b []byte, all []TLV) []byte {
	for _, t := range all {
		b = binary.BigEndian.AppendUint16(b, t.Tag)
		b = binary.BigEndian.AppendUint16(b, uint16(len(t.Value)))
		b = append(b, t.Value...)
	}
	return b
}
