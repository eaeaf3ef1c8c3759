package pdu

import (
	"bytes"
	"testing"
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/test/corpus"
)

// endless gives the same frames for ever.
type endless struct {
	frames []byte
	at     int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.frames[e.at:])
		n += c
		e.at = (e.at + c) % len(e.frames)
	}
	return n, nil
}

// ordinary is a submit_sm of usual size, with a UDH and three TLVs.
func ordinary() Frame {
	m := plain("\x05\x00\x03\x2A\x02\x01" + string(bytes.Repeat([]byte("x"), 125)))
	m.esmClass = 0x40
	return m.with(testTLV{0x1402, "a-request-id"}, testTLV{0x0005, "\x01"}, testTLV{0x0204, "\x00\x07"}).frame(data.SUBMIT_SM)
}

func TestTheHotPathTakesNoMemory(t *testing.T) {
	f, r := ordinary(), NewReader(&endless{frames: bytes.Repeat(ordinary(), 10)}, corpus.Max)
	for range 2000 { // until its buffer has grown
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	answer := Response(data.SUBMIT_SM_RESP, 0, 1, []byte("0A1B\x00"))
	handset := plain("id:42 stat:DELIVRD").with(testTLV{0x0381, "x"}).frame(data.DELIVER_SM)
	known := receipt(canonical, testTLV{0x001E, "12345678\x00"}, testTLV{0x0427, "\x02"}).frame(data.DELIVER_SM)
	now, skip, buf, out := time.Now(), []uint16{0x1402}, make([]byte, 0, 1024), make([]byte, 0, 1024)

	for name, run := range map[string]func() bool{
		"Reader.Next":   func() bool { _, err := r.Next(); return err == nil && (r.Buffered() || true) },
		"ParseSubmit":   func() bool { s, err := ParseSubmit(f); _, ok := s.TLV(0x1402); return err == nil && ok },
		"Part":          func() bool { s, _ := ParseSubmit(f); _, ok := s.Part(); return ok },
		"AppendContent": func() bool { s, _ := ParseSubmit(f); return len(AppendContent(buf, f, &s, skip)) > 0 },
		"AppendContent of a body that cannot be walked": func() bool { return len(AppendContent(buf, f, nil, skip)) > 0 },
		"SetReference": func() bool { return f.SetReference(0x2A) },
		"Beginnings": func() bool {
			s, _ := ParseSubmit(f)
			r, _ := ParseReceipt(known)
			long, _ := s.Beginnings(buf)
			_, _ = r.Beginnings(out)
			return len(long) > 0
		},
		"Expiry, UserReference and AppendAddresses": func() bool {
			s, _ := ParseSubmit(f)
			_, lasts := s.Expiry(now)
			return lasts > 0 && s.UserReference() == 7 && len(s.AppendAddresses(buf)) > 0
		},
		"SetSequence":           func() bool { f.SetSequence(f.Sequence() + 1); return true },
		"MessageID":             func() bool { _, ok := MessageID(answer); return ok },
		"ParseReceipt, handset": func() bool { _, ok := ParseReceipt(handset); return !ok },
		"ParseReceipt, receipt": func() bool { r, ok := ParseReceipt(known); return ok && r.ID() != nil },
		"Rewrite":               func() bool { r, ok := ParseReceipt(known); return ok && len(r.Rewrite(out, []byte("7"))) > 0 },
		"ScheduleSeconds":       func() bool { _, ok := ScheduleSeconds([]byte("250607080910000+"), now); return ok },
		"Name and StatusName":   func() bool { return Name(f.Command()) != "" && StatusName(0x450) != "" },
	} {
		if !run() {
			t.Errorf("%s: does not do what is measured", name)
		}
		if got := testing.AllocsPerRun(200, func() { run() }); got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}

func BenchmarkReaderNext(b *testing.B) {
	r := NewReader(&endless{frames: bytes.Repeat(ordinary(), 10)}, corpus.Max)
	b.SetBytes(int64(len(ordinary())))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseSubmit(b *testing.B) {
	f := ordinary()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseSubmit(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseSubmitAppendContentSetSequence(b *testing.B) {
	f, buf, skip := ordinary(), make([]byte, 0, 1024), []uint16{0x1402}
	b.ReportAllocs()
	for b.Loop() {
		s, err := ParseSubmit(f)
		if err != nil {
			b.Fatal(err)
		}
		buf = AppendContent(buf[:0], f, &s, skip)
		f.SetSequence(f.Sequence() + 1)
	}
}

// The worst that a frame of the default maximum can hold.
func BenchmarkAppendContentOf32000TLVs(b *testing.B) {
	m := plain("x")
	var tlvs []byte
	for i := 32000; i > 0; i-- {
		tlvs = append(tlvs, byte(i>>8), byte(i), 0, 0)
	}
	m.tail = string(tlvs)
	f := m.frame(data.SUBMIT_SM)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		s, err := ParseSubmit(f)
		if err != nil {
			b.Fatal(err)
		}
		buf = AppendContent(buf[:0], f, &s, nil)
	}
}

func BenchmarkMessageID(b *testing.B) {
	f := Response(data.SUBMIT_SM_RESP, 0, 1, []byte("0A1B2C3D\x00"))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := MessageID(f); !ok {
			b.Fatal("no id")
		}
	}
}

func BenchmarkParseReceiptOfAHandset(b *testing.B) {
	f := plain("id:42 stat:DELIVRD").frame(data.DELIVER_SM)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := ParseReceipt(f); ok {
			b.Fatal("taken for a receipt")
		}
	}
}

func BenchmarkParseReceiptAndRewrite(b *testing.B) {
	f := receipt(canonical, testTLV{0x001E, "12345678\x00"}, testTLV{0x0427, "\x02"}).frame(data.DELIVER_SM)
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		r, ok := ParseReceipt(f)
		if !ok {
			b.Fatal("no receipt")
		}
		buf = r.Rewrite(buf[:0], []byte("87654321"))
	}
}
