package pdu

import (
	"encoding/binary"
	"math"
)

const (
	// maxShortMessage is how long a short_message may be (section 5.2.21).
	maxShortMessage = 254
	// maxTLV is how long the value of a TLV may be.
	maxTLV = math.MaxUint16
)

// Rewrite appends the whole frame to dst with id in place of the receipt's, in
// each receipted_message_id TLV and after the `id:` of the text, where there
// is one. Nothing else changes but the lengths. A short_message that would get
// longer than 254 octets loses the end of what stands after `text:`. Where
// that is not enough the frame is appended as it is: an id in the one place
// and another in the other would be worse.
//
// id must not be empty.
func (r *Receipt) Rewrite(dst, id []byte) []byte {
	s := &r.msg
	body, payload := s.body()
	bodyEnd, fits := r.bodyEnd(body, payload, len(id))
	if !fits || len(id) > maxTLV-1 {
		return append(dst, s.frame...)
	}

	start := len(dst)
	if payload || s.shortAt == 0 {
		dst = append(dst, s.frame[:s.tlvAt]...)
	} else {
		dst = append(dst, s.frame[:s.shortAt]...)
		at := len(dst)
		dst = r.appendBody(dst, s.shortAt, bodyEnd, id)
		dst[at-1] = byte(len(dst) - at)
	}
	dst = r.appendTLVs(dst, payload, bodyEnd, id)
	dst = append(dst, s.tail()...)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

func (r *Receipt) appendTLVs(dst []byte, payload bool, bodyEnd int, id []byte) []byte {
	area := r.msg.tlvs()
	for {
		tag, value, rest, ok := nextTLV(area)
		if !ok {
			return dst
		}
		old := untilNUL(value)
		switch {
		case tag == tagReceiptedMessageID && len(old) > 0:
			dst = appendTLVHeader(dst, tag, len(id)+len(value)-len(old))
			dst = append(dst, id...)
			dst = append(dst, value[len(old):]...)
		case tag == tagMessagePayload && payload:
			payload = false // only the first one is the text
			dst = appendTLVHeader(dst, tag, 0)
			at := len(dst)
			dst = r.appendBody(dst, r.msg.tailAt-len(rest)-len(value), bodyEnd, id)
			binary.BigEndian.PutUint16(dst[at-2:], uint16(len(dst)-at))
		default:
			dst = append(dst, area[:len(area)-len(rest)]...)
		}
		area = rest
	}
}

func appendTLVHeader(dst []byte, tag uint16, length int) []byte {
	dst = binary.BigEndian.AppendUint16(dst, tag)
	return binary.BigEndian.AppendUint16(dst, uint16(length))
}

// appendBody appends frame[from:to], the body, with the id in its text replaced.
func (r *Receipt) appendBody(dst []byte, from, to int, id []byte) []byte {
	frame := r.msg.frame
	if r.TextID == nil {
		return append(dst, frame[from:to]...)
	}
	dst = append(dst, frame[from:r.textAt+r.marks.id.from*r.text.size()]...)
	for _, c := range id {
		if r.text.wide {
			dst = append(dst, 0)
		}
		dst = append(dst, c)
	}
	return append(dst, frame[r.textAt+r.marks.id.to*r.text.size():to]...)
}

// bodyEnd says where in the frame the body is to end so that it fits with an id
// of n octets; it is false where no such place is.
func (r *Receipt) bodyEnd(body []byte, payload bool, n int) (end int, fits bool) {
	t := r.text
	end = r.textAt + len(t.octets)
	if r.TextID == nil {
		return end, true
	}
	limit := maxShortMessage
	if payload {
		limit = maxTLV
	}
	growth := (n - (r.marks.id.to - r.marks.id.from)) * t.size()
	excess := len(body) + growth - limit
	if growth <= 0 || excess <= 0 {
		return end, true
	}
	keep := (len(t.octets) - excess) / t.size()
	if r.marks.text > 0 && keep > r.marks.text && t.splits(keep) {
		keep--
	}
	return r.textAt + keep*t.size(), r.marks.text > 0 && keep >= r.marks.text
}

// splits says whether a cut before unit i would leave half a character: the
// first of a surrogate pair, or the escape of the GSM alphabet.
func (t text) splits(i int) bool {
	last := t.unit(i - 1)
	if t.wide {
		return 0xD800 <= last && last <= 0xDBFF
	}
	return last == 0x1B
}
