package pdu

import "github.com/linxGnu/gosmpp/data"

// byteOrderMark may stand before a UCS-2 text, and is no part of it.
const byteOrderMark = 0xFEFF

// text is the text of a receipt, read in units of one octet (GSM, ASCII,
// Latin-1: all alike in what matters here) or of two (UCS-2, big endian).
type text struct {
	octets []byte
	wide   bool
}

// isWide tells UCS-2 by how the text begins as well: SMSCs put the
// data_coding of the message on its receipt and write that in ASCII all the
// same.
func isWide(dataCoding byte, octets []byte) bool {
	if dataCoding != data.UCS2Coding || len(octets) < 2 {
		return false
	}
	return octets[0] == 0 || text{octets, true}.unit(0) == byteOrderMark
}

func (t text) size() int {
	if t.wide {
		return 2
	}
	return 1
}

// units is the length in whole units.
func (t text) units() int { return len(t.octets) / t.size() }

func (t text) unit(i int) uint16 {
	if t.wide {
		return uint16(t.octets[2*i])<<8 | uint16(t.octets[2*i+1])
	}
	return uint16(t.octets[i])
}

// span is a run of units; it is empty where what it is for was not found.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }

// bytes gives a span as single octets, and nil for an empty one or one that
// cannot be given so.
func (t text) bytes(s span) []byte {
	if s.empty() {
		return nil
	}
	if !t.wide {
		return t.octets[s.from:s.to:s.to]
	}
	b := make([]byte, 0, s.to-s.from)
	for i := s.from; i < s.to; i++ {
		if t.unit(i) > 0xFF {
			return nil
		}
		b = append(b, byte(t.unit(i)))
	}
	return b
}

// marks are the places in a receipt's text that matter (appendix B).
type marks struct {
	id, status span
	date       bool // it tells when the message was submitted or done
	text       int  // where the value of `text:` begins, 0 without one
}

// likeReceipt says whether a text reads like a receipt: any two of the id, the
// status and a date.
func (m marks) likeReceipt() bool {
	n := 0
	for _, found := range [...]bool{!m.id.empty(), !m.status.empty(), m.date} {
		if found {
			n++
		}
	}
	return n >= 2
}

// read finds the marks. Words are told apart by blanks and controls, and count
// in upper and lower case, the first of a kind only; `text:` ends them, for
// behind it stands what a person wrote. Where there is no `stat:`, a status
// word after a date is the status.
func (t text) read() (m marks) {
	var bare span
	for i := 0; i < t.units() && m.text == 0; {
		end := t.wordEnd(i)
		switch {
		case t.begins(i, "text:"):
			m.text = i + len("text:")
		case t.begins(i, "id:") && m.id.empty():
			m.id = t.value(i + len("id:"))
		case t.begins(i, "stat:") && m.status.empty():
			m.status = t.value(i + len("stat:"))
		case t.begins(i, "submit date:"), t.begins(i, "submitdate:"),
			t.begins(i, "done date:"), t.begins(i, "donedate:"):
			m.date = true
		case m.date && bare.empty() && t.isStatus(i, end):
			bare = span{i, end}
		}
		for i = end; i < t.units() && isBlank(t.unit(i)); i++ {
		}
	}
	if m.status.empty() {
		m.status = bare
	}
	return m
}

// value is the word at i or after the blanks there, if it is not the next key.
func (t text) value(i int) span {
	for i < t.units() && t.unit(i) == ' ' {
		i++
	}
	for _, key := range [...]string{"sub:", "dlvrd:", "submit date:", "submitdate:", "done date:", "donedate:", "stat:", "err:", "text:"} {
		if t.begins(i, key) {
			return span{}
		}
	}
	return span{i, t.wordEnd(i)}
}

func (t text) wordEnd(i int) int {
	for i < t.units() && !isBlank(t.unit(i)) {
		i++
	}
	return i
}

// begins says whether key, which is lower case, stands at i.
func (t text) begins(i int, key string) bool {
	if t.units()-i < len(key) {
		return false
	}
	for k := range len(key) {
		u := t.unit(i + k)
		if 'A' <= u && u <= 'Z' {
			u += 'a' - 'A'
		}
		if u != uint16(key[k]) {
			return false
		}
	}
	return true
}

func (t text) isStatus(from, to int) bool {
	var word [longestStatus]byte
	if to-from > len(word) {
		return false
	}
	for i := from; i < to; i++ {
		if t.unit(i) > 0x7F {
			return false
		}
		word[i-from] = byte(t.unit(i))
	}
	_, known := stateOfWord(word[:to-from])
	return known
}

// isBlank also takes NUL and other controls, which some SMSCs put in or at the
// end.
func isBlank(u uint16) bool { return u <= ' ' || u == byteOrderMark }
