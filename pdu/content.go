package pdu

import (
	"encoding/binary"
	"slices"
)

// contentForm is what a content begins with, so that one of another form never
// equals it. It goes up with each change; 0 and 1 have been.
const contentForm = 0x02

// fewTLVs is how many TLVs are put in order without taking memory.
const fewTLVs = 24

// AppendContent appends to dst what makes two submissions the same message, in
// a form in which nothing else can be equal: fields of any length carry their
// length. The account is not in it.
//
// It counts: the command; service_type, source and destination with ton and npi,
// or the whole list of destinations, esm_class, protocol_id,
// replace_if_present_flag, data_coding, sm_default_msg_id, the body wherever it
// stands, every TLV except the tags in skip, user_message_reference and
// qos_time_to_live, and what follows the TLVs.
//
// It does not count: sequence_number; schedule_delivery_time and
// validity_period, which clients compute anew; registered_delivery;
// priority_flag; the reference of a long message (number and total count, and so
// does the form), where SetReference could change it; and the order of TLVs with
// different tags, for clients that keep them in a map write them differently
// each time. The order of TLVs with the same tag counts: it says which of them
// is heeded.
//
// Where a frame has both a short_message and a message_payload, the latter is
// a TLV like others. s is nil where the body cannot be walked; then all of the
// body counts.
func AppendContent(dst []byte, f Frame, s *Submit, skip []uint16) []byte {
	dst = append(dst, contentForm)
	dst = binary.BigEndian.AppendUint32(dst, uint32(f.Command()))
	if s == nil {
		dst = append(dst, 0)
		return append(dst, f.Body()...)
	}
	dst = append(dst, 1)
	dst = appendSized(dst, s.ServiceType)
	dst = s.AppendAddresses(dst)
	dst = append(dst, s.ESMClass, s.ProtocolID, s.ReplaceIfPresent, s.DataCoding, s.DefaultMsgID)

	long := s.concatenation()
	body, at := s.bodyAt()
	dst = appendSized(dst, body)
	long.blank(dst[len(dst)-len(body):], at)
	dst = s.appendTLVs(dst, skip, &long)
	return append(dst, s.tail()...)
}

// appendTLVs appends how many TLVs count, and these as they stand but for the
// reference, in the order of their tags.
func (s *Submit) appendTLVs(dst []byte, skip []uint16, long *concatenation) []byte {
	area := s.tlvs()
	_, payload := s.body()
	// What is sorted is the tag and then the place: few octets, and stable.
	var few [fewTLVs]uint64
	counted := few[:0]
	for rest := area; ; {
		tag, _, behind, ok := nextTLV(rest)
		if !ok {
			break
		}
		at := len(area) - len(rest)
		rest = behind
		switch {
		case tag == tagMessagePayload && payload:
			payload = false // the first one is the body
		case tag == tagUserMessageRef, tag == tagQosTimeToLive, slices.Contains(skip, tag):
		default:
			counted = append(counted, uint64(tag)<<32|uint64(at))
		}
	}
	slices.Sort(counted)

	dst = binary.BigEndian.AppendUint32(dst, uint32(len(counted)))
	for _, key := range counted {
		at := int(uint32(key))
		_, _, behind, _ := nextTLV(area[at:])
		tlv := area[at : len(area)-len(behind)]
		dst = append(dst, tlv...)
		long.blank(dst[len(dst)-len(tlv):], s.tlvAt+at)
	}
	return dst
}

func appendAddress(dst []byte, a Address) []byte {
	return appendSized(append(dst, a.TON, a.NPI), a.Number)
}

func appendSized(dst, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(b))), b...)
}
