package pdu

import "encoding/binary"

// The TLV tags that mean something here (section 5.3.2).
const (
	tagQosTimeToLive      = 0x0017
	tagReceiptedMessageID = 0x001E
	tagUserMessageRef     = 0x0204
	tagSarMsgRefNum       = 0x020C
	tagSarTotalSegments   = 0x020E
	tagSarSegmentSeqnum   = 0x020F
	tagMessagePayload     = 0x0424
	tagMessageState       = 0x0427
)

// tlvHeaderSize is the length of a TLV's tag and length.
const tlvHeaderSize = 4

// nextTLV takes the TLV off the front of b. It is not ok where b does not
// begin with a whole TLV: b is empty, or the rest is no TLVs.
func nextTLV(b []byte) (tag uint16, value, rest []byte, ok bool) {
	if len(b) < tlvHeaderSize {
		return 0, nil, b, false
	}
	end := tlvHeaderSize + int(binary.BigEndian.Uint16(b[2:]))
	if len(b) < end {
		return 0, nil, b, false
	}
	return binary.BigEndian.Uint16(b), b[tlvHeaderSize:end:end], b[end:], true
}

// findTLV gives the value of the first TLV with this tag.
func findTLV(area []byte, want uint16) ([]byte, bool) {
	for {
		tag, value, rest, ok := nextTLV(area)
		if !ok {
			return nil, false
		}
		if tag == want {
			return value, true
		}
		area = rest
	}
}

// tlvLength is how many octets at the front of b are whole TLVs.
func tlvLength(b []byte) int {
	for rest := b; ; {
		var ok bool
		if _, _, rest, ok = nextTLV(rest); !ok {
			return len(b) - len(rest)
		}
	}
}
