package pdu

import (
	"encoding/binary"

	"github.com/linxGnu/gosmpp/data"
)

// Part says which part of a long message a frame is.
type Part struct {
	Ref           uint16
	Total, Number byte // 1 <= Number <= Total
}

// Part looks for the concatenation element of the UDH (3GPP TS 23.040,
// 9.2.3.24.1 and .8) and, where there is none, for the sar_* TLVs (5.3.2.22 to
// 24). Values that make no sense count as absent, as they do for a handset.
func (s *Submit) Part() (Part, bool) {
	if s.ESMClass&data.SM_UDH_GSM != 0 {
		body, _ := s.body()
		if p, ok := partOfUDH(body); ok {
			return p, true
		}
	}
	return s.partOfSAR()
}

func (s *Submit) partOfSAR() (Part, bool) {
	ref, _ := s.TLV(tagSarMsgRefNum)
	total, _ := s.TLV(tagSarTotalSegments)
	number, _ := s.TLV(tagSarSegmentSeqnum)
	if len(ref) != 2 || len(total) != 1 || len(number) != 1 {
		return Part{}, false
	}
	return validPart(binary.BigEndian.Uint16(ref), total[0], number[0])
}

// partOfUDH takes the last such element: a later one replaces an earlier one.
func partOfUDH(body []byte) (part Part, found bool) {
	elements, ok := udh(body)
	for ok && len(elements) > 0 {
		var p Part
		valid := false
		id, value := elements[0], elements[2:2+int(elements[1])]
		switch {
		case id == data.UDH_CONCAT_MSG_8_BIT_REF && len(value) == 3:
			p, valid = validPart(uint16(value[0]), value[1], value[2])
		case id == data.UDH_CONCAT_MSG_16_BIT_REF && len(value) == 4:
			p, valid = validPart(binary.BigEndian.Uint16(value), value[2], value[3])
		}
		if valid {
			part, found = p, true
		}
		elements = elements[2+len(value):]
	}
	return part, found
}

func validPart(ref uint16, total, number byte) (Part, bool) {
	if number == 0 || number > total {
		return Part{}, false
	}
	return Part{Ref: ref, Total: total, Number: number}, true
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
