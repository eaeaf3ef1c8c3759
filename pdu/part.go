package pdu

import (
	"encoding/binary"

	"github.com/linxGnu/gosmpp/data"
)

// Part says which part of a long message a frame is.
type Part struct {
	Ref           uint16
	Total, Number byte // 1 <= Number <= Total
	// Form is where the reference stands. 0: it cannot be told, for a message may
	// say twice which part it is, and then it says different things here.
	Form PartForm
}

// PartForm is the set of places in which a frame says which part it is. Parts of
// one long message have the same.
type PartForm uint8

// The places.
const (
	InUDH8  PartForm = 1 << iota // 3GPP TS 23.040, 9.2.3.24.1: references up to 255
	InUDH16                      // 9.2.3.24.8
	InSAR                        // sar_msg_ref_num (5.3.2.22 to 24)
)

// maxPlaces is in how many places a reference can be changed. More than a UDH and
// the TLVs have once each is nothing that a client means.
const maxPlaces = 4

// Part looks for the concatenation element of the UDH and, where there is none,
// for the sar_* TLVs. Values that make no sense count as absent, as they do for
// a handset. Of several elements the last one counts.
func (s *Submit) Part() (Part, bool) {
	c := s.concatenation()
	return c.Part, c.Total > 0
}

// SetReference overwrites the concatenation reference of a submission in place,
// wherever it says the same, and nothing else. False: f is no part of a long
// message, has no one reference, or has no room for this one; it is as it was.
func (f Frame) SetReference(ref uint16) bool {
	s, err := ParseSubmit(f)
	if err != nil {
		return false
	}
	c := s.concatenation()
	if c.Form == 0 || c.Form&InUDH8 != 0 && ref > 0xFF {
		return false
	}
	for _, p := range c.places[:c.n] {
		if p.size == 1 {
			f[p.at] = byte(ref)
		} else {
			binary.BigEndian.PutUint16(f[p.at:], ref)
		}
	}
	return true
}

// concatenation is all that a message says about which part it is.
type concatenation struct {
	Part
	places [maxPlaces]place // of the reference; none where Form is 0
	n      int
	differ bool
}

// place is a run of octets of the frame.
type place struct{ at, size int }

func (s *Submit) concatenation() (c concatenation) {
	if s.ESMClass&data.SM_UDH_GSM != 0 {
		c.readUDH(s.bodyAt())
	}
	c.readSAR(s)
	if c.differ {
		c.Form, c.n = 0, 0
	}
	return c
}

// readUDH reads the elements of the header at the front of body, which stands at
// at in the frame.
func (c *concatenation) readUDH(body []byte, at int) {
	elements, ok := udh(body)
	at++ // behind the header's length
	for ok && len(elements) > 0 {
		id, value := elements[0], elements[2:2+int(elements[1])]
		switch {
		case id == data.UDH_CONCAT_MSG_8_BIT_REF && len(value) == 3:
			c.add(Part{uint16(value[0]), value[1], value[2], InUDH8}, place{at + 2, 1}, true)
		case id == data.UDH_CONCAT_MSG_16_BIT_REF && len(value) == 4:
			c.add(Part{binary.BigEndian.Uint16(value), value[2], value[3], InUDH16}, place{at + 2, 2}, true)
		}
		elements = elements[2+len(value):]
		at += 2 + len(value)
	}
}

// readSAR reads the TLVs, of total and number the first ones. A reference that is
// there more than once, or of another size, must not be guessed at.
func (c *concatenation) readSAR(s *Submit) {
	total, _ := s.TLV(tagSarTotalSegments)
	number, _ := s.TLV(tagSarSegmentSeqnum)
	if len(total) != 1 || len(number) != 1 {
		return
	}
	for area := s.tlvs(); ; {
		tag, value, rest, ok := nextTLV(area)
		switch {
		case !ok:
			return
		case tag == tagSarMsgRefNum && len(value) == 2:
			c.add(Part{binary.BigEndian.Uint16(value), total[0], number[0], InSAR}, place{s.tailAt - len(rest) - 2, 2}, false)
		case tag == tagSarMsgRefNum:
			c.differ = true
		}
		area = rest
	}
}

// add notes one place that says which part it is, unless it makes no sense. What
// it says counts where nothing was said before, or overrides that.
func (c *concatenation) add(p Part, at place, overrides bool) {
	if p.Number == 0 || p.Number > p.Total {
		return
	}
	if c.Total > 0 {
		c.differ = c.differ || p.Ref != c.Ref || p.Total != c.Total || p.Number != c.Number
	}
	p.Form |= c.Form
	if c.Total == 0 || overrides {
		c.Part = p
	}
	c.Form = p.Form
	if c.n == maxPlaces {
		c.differ = true
		return
	}
	c.places[c.n] = at
	c.n++
}

// blank puts zeros where octets, which are a copy of those at at in the frame,
// hold the reference.
func (c *concatenation) blank(octets []byte, at int) {
	for _, p := range c.places[:c.n] {
		if from := p.at - at; from >= 0 && from+p.size <= len(octets) {
			clear(octets[from : from+p.size])
		}
	}
}

// udh gives the elements of the user data header that body begins with. It is
// not ok unless whole elements fill the header exactly, for some set the
// indicator without a header behind it.
func udh(body []byte) (elements []byte, ok bool) {
	if len(body) == 0 || len(body) <= int(body[0]) {
		return nil, false
	}
	elements = body[1 : 1+int(body[0])]
	for rest := elements; len(rest) > 0; {
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return nil, false
		}
		rest = rest[2+int(rest[1]):]
	}
	return elements, true
}
