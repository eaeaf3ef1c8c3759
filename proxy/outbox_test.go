package proxy

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smpponce/ledger"
	"smpponce/pdu"
	"smpponce/test/wire"
)

func TestWithdrawingCutsOutTheFramesAndMovesTheOtherMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o outbox
		var want []byte
		var kept, dropped []uint32
		for i := range uint32(rapid.IntRange(0, 12).Draw(t, "frames")) {
			f := wire.New(wire.SubmitSM, 0, i, make([]byte, rapid.IntRange(0, 9).Draw(t, "size")))
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0: // nobody waits for it
				o.add(pdu.Frame(f), i)
				want = append(want, f...)
			case 1:
				o.addMarked(pdu.Frame(f), i, mark{seq: i})
				want = append(want, f...)
				kept = append(kept, i)
			case 2:
				o.addMarked(pdu.Frame(f), i, mark{seq: i, until: 1})
				dropped = append(dropped, i)
			}
		}
		var got []uint32
		for _, m := range o.withdraw(func(m *mark) bool { return m.until == 1 }) {
			got = append(got, m.seq)
		}
		if !slices.Equal(got, dropped) || !bytes.Equal(o.buf, want) {
			t.Fatalf("dropped %v, left %x; want %v, %x", got, o.buf, dropped, want)
		}
		var left []uint32
		for _, m := range o.marks {
			left = append(left, m.seq)
			if s := wire.Frame(o.buf[m.start:m.end]).Sequence(); s != m.seq || len(o.buf[m.start:m.end]) != int(o.buf[m.start+3]) {
				t.Fatalf("the mark of %d stands at frame %d", m.seq, s)
			}
		}
		if !slices.Equal(left, kept) {
			t.Fatalf("marks %v are left, want %v", left, kept)
		}
	})
}

func TestTheMarksOfWhatWasNotWrittenWholeAreKept(t *testing.T) {
	var o outbox
	for i := range uint32(4) {
		o.addMarked(pdu.Frame(wire.New(wire.SubmitSM, 0, i, nil)), i, mark{seq: i})
	}
	o.keepUnwritten(33) // two frames and one octet
	if len(o.marks) != 2 || o.marks[0].seq != 2 {
		t.Errorf("kept %+v, want the last two", o.marks)
	}
}

func TestAnAnswerEndsWithItsTLSRecord(t *testing.T) {
	s := &session{p: &Proxy{}}
	wire := new(counted)
	wire.sent.Store(20_700)
	l := &leg{socket: &socket{wire: wire, record: tlsWrite}, ends: []writeEnd{{16_384, 17_000}, {20_000, 20_700}}}
	for _, end := range []int{100, 16_384, 16_385, 20_000, 20_001} {
		l.batch.marks = append(l.batch.marks, mark{end: end, claim: new(claim), ticket: new(ledger.Ticket)})
	}
	s.trackAnswers(l, 20_000, time.Second, 5)
	for i, want := range []answered{{at: 5, offset: 17_000}, {at: 5, offset: 17_000}, {at: 5, offset: 20_700}, {at: 5, offset: 20_700}, {}} {
		if got := l.answers[i]; got.at != want.at || got.offset != want.offset {
			t.Errorf("answer %d was written at %d, to offset %d; want %d, %d", i, got.at, got.offset, want.at, want.offset)
		}
	}
}
