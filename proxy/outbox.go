package proxy

import (
	"encoding/binary"

	"smpponce/ledger"
	"smpponce/pdu"
)

// mark says that somebody waits to hear how far a frame in an outbox got.
type mark struct {
	start, end int // of the frame in the buffer
	claim      *claim
	attempt    ledger.Number  // on an SMSC leg: what it is an attempt of
	until      ledger.Time    // on an SMSC leg: not to be sent after this
	seq        uint32         // on an SMSC leg: its number there
	again      bool           // on an SMSC leg: taken out, to be decided anew
	ticket     *ledger.Ticket // on an ESME leg: the answer; may be nil
}

// outbox is what waits for the socket of one leg: frames one behind the other, and marks for some of them. Whoever
// fills it copies a frame once; the writer takes all of it with one swap. The session's mutex guards it.
type outbox struct {
	buf   []byte
	marks []mark
}

func (o *outbox) empty() bool { return len(o.buf) == 0 }

// add appends f under the number seq. f itself is left as it is.
func (o *outbox) add(f pdu.Frame, seq uint32) {
	at := len(o.buf)
	o.buf = append(o.buf, f...)
	pdu.Frame(o.buf[at:]).SetSequence(seq)
}

// addMarked is add for a frame that somebody waits for.
func (o *outbox) addMarked(f pdu.Frame, seq uint32, m mark) {
	m.start = len(o.buf)
	o.add(f, seq)
	m.end = len(o.buf)
	o.marks = append(o.marks, m)
}

// addResponse appends a response that has not been a frame yet.
func (o *outbox) addResponse(command, status, seq uint32, body []byte, m *mark) {
	at := len(o.buf)
	o.buf = binary.BigEndian.AppendUint32(o.buf, uint32(pdu.HeaderSize+len(body)))
	o.buf = binary.BigEndian.AppendUint32(o.buf, command)
	o.buf = binary.BigEndian.AppendUint32(o.buf, status)
	o.buf = binary.BigEndian.AppendUint32(o.buf, seq)
	o.buf = append(o.buf, body...)
	if m != nil {
		m.start, m.end = at, len(o.buf)
		o.marks = append(o.marks, *m)
	}
}

// clear empties it and lets go of a buffer that a burst has blown up.
func (o *outbox) clear() {
	const kept = 256 << 10
	if cap(o.buf) > kept {
		o.buf = nil
	}
	o.buf = o.buf[:0]
	clear(o.marks)
	o.marks = o.marks[:0]
}

// withdraw cuts the marked frames that drop approves out of the buffer and gives their marks.
func (o *outbox) withdraw(drop func(*mark) bool) (dropped []mark) {
	first := 0
	for first < len(o.marks) && !drop(&o.marks[first]) {
		first++
	}
	if first == len(o.marks) {
		return nil
	}
	buf, marks := o.buf[:o.marks[first].start], o.marks[:first]
	copied := o.marks[first].start
	for _, m := range o.marks[first:] {
		buf = append(buf, o.buf[copied:m.start]...)
		copied = m.end
		if drop(&m) {
			dropped = append(dropped, m)
			continue
		}
		size := m.end - m.start
		buf = append(buf, o.buf[m.start:m.end]...)
		m.start, m.end = len(buf)-size, len(buf)
		marks = append(marks, m)
	}
	o.buf = append(buf, o.buf[copied:]...)
	o.marks = marks
	return dropped
}

// keepUnwritten keeps the marks of those frames of which not every octet is among the first n. The peer cannot have
// read any of these.
func (o *outbox) keepUnwritten(n int) {
	first := 0
	for first < len(o.marks) && o.marks[first].end <= n {
		first++
	}
	o.marks = o.marks[first:]
}
