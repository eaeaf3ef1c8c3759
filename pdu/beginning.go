package pdu

import "github.com/linxGnu/gosmpp/data"

// How much of a text a receipt quotes is up to the SMSC: appendix B says the first
// 20 characters.
const (
	longBeginning  = 20
	shortBeginning = 8
)

// Beginnings appends to dst what a receipt can be compared by: of the first 20
// and of the first 8 characters of the text those that every alphabet writes
// alike, letters and digits of ASCII. The long one is of all of a text that is
// shorter. A text of less than 8 characters has none, nor has one in another
// coding than one octet a character (data_coding 0, 1 and 3) and UCS-2 within
// ASCII. Blanks at its front do not count, and NULs at its end: SMSCs add both.
func (s *Submit) Beginnings(dst []byte) (long, short []byte) {
	octets, _ := s.textAt()
	switch s.DataCoding {
	case data.GSM7BITCoding, data.ASCIICoding, data.LATIN1Coding:
		return text{octets: octets}.beginnings(dst, 0, shortBeginning)
	case data.UCS2Coding:
		return text{octets: octets, wide: true}.beginnings(dst, 0, shortBeginning)
	}
	return nil, nil
}

// Beginnings gives the same of what the receipt quotes after `text:`, but no long
// one where it quotes less than 20 characters: that may not be all of the message.
func (r *Receipt) Beginnings(dst []byte) (long, short []byte) {
	if r.marks.text == 0 {
		return nil, nil
	}
	return r.text.beginnings(dst, r.marks.text, longBeginning)
}

// beginnings looks at t from a unit on. Less than least units give no long one.
func (t text) beginnings(dst []byte, from, least int) (long, short []byte) {
	to := t.units()
	for from < to && t.unit(to-1) == 0 {
		to--
	}
	for from < to && isBlank(t.unit(from)) {
		from++
	}
	for i := from; t.wide && i < to; i++ {
		if t.unit(i) > 0x7F {
			return nil, nil
		}
	}
	n := to - from
	if n < shortBeginning {
		return nil, nil
	}
	start := len(dst)
	for i := range min(n, longBeginning) {
		if u := t.unit(from + i); isAlphanumeric(u) {
			dst = append(dst, byte(u))
		}
		if i == shortBeginning-1 {
			short = dst[start:len(dst):len(dst)]
		}
	}
	if n >= least {
		long = dst[start:]
	}
	return long, short
}

func isAlphanumeric(u uint16) bool {
	return '0' <= u && u <= '9' || 'A' <= u && u <= 'Z' || 'a' <= u && u <= 'z'
}
