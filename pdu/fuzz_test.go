package pdu

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/test/corpus"
)

// seed adds every frame of the corpus that is not huge.
func seed(f *testing.F, add func(frame Frame)) {
	for _, e := range corpus.All() {
		if len(e.Frame) < 4096 {
			add(Frame(e.Frame))
		}
	}
}

// A relay through a Reader is identity: what it gives are the octets that went
// in, up to the first illegal length, and the same however they are chunked.
func FuzzAReaderGivesWhatWentIn(f *testing.F) {
	seed(f, func(frame Frame) { f.Add([]byte(frame)) })
	f.Add([]byte("\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0F"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1024
		read := func(r *Reader) (out []byte, err error) {
			for {
				next, err := r.Next()
				if err != nil {
					return out, err
				}
				if n := binary.BigEndian.Uint32(next); int(n) != len(next) || n < HeaderSize || n > limit {
					t.Fatalf("a frame of %d octets says %d", len(next), n)
				}
				out = append(out, next...)
			}
		}
		whole, err := read(NewReader(bytes.NewReader(in), limit))
		pieces, perr := read(NewReader(iotest.OneByteReader(bytes.NewReader(in)), limit))
		if !bytes.Equal(whole, pieces) || !bytes.HasPrefix(in, whole) {
			t.Fatalf("got % X whole, % X in pieces, of % X", whole, pieces, in)
		}
		rest := in[len(whole):]
		for _, err := range []error{err, perr} {
			_, illegal := err.(*LengthError)
			switch {
			case len(rest) == 0 && err == io.EOF:
			case len(rest) > 0 && err == io.ErrUnexpectedEOF:
			case len(rest) >= 4 && illegal:
			default:
				t.Fatalf("%v with % X left", err, rest)
			}
		}
	})
}

func FuzzSettingTheSequenceNumberChangesFourOctets(f *testing.F) {
	seed(f, func(frame Frame) { f.Add([]byte(frame.Body()), uint32(frame.Command()), uint32(7)) })
	f.Fuzz(func(t *testing.T, body []byte, command, seq uint32) {
		frame := Response(data.CommandIDType(command), 0x58, 0x01020304, body)
		before := bytes.Clone(frame)
		frame.SetSequence(seq)
		if frame.Sequence() != seq || !bytes.Equal(frame[:12], before[:12]) || !bytes.Equal(frame[16:], before[16:]) {
			t.Fatalf("got  % X\nfrom % X", frame, before)
		}
		if uint32(frame.Command()) != command || frame.Status() != 0x58 || !bytes.Equal(frame.Body(), body) {
			t.Fatalf("got command %x status %x body % X", uint32(frame.Command()), frame.Status(), frame.Body())
		}
	})
}

// A submit_sm is put together again from its view, octet for octet; where
// gosmpp can parse it too, it sees the same.
func FuzzTheViewOfASubmitIsTheSubmit(f *testing.F) {
	seed(f, func(frame Frame) {
		if frame.Command() == data.SUBMIT_SM {
			f.Add([]byte(frame.Body()))
		}
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		frame := Response(data.SUBMIT_SM, 0, 1, body)
		s, err := ParseSubmit(frame)
		if err != nil {
			if got := AppendContent(nil, frame, nil, nil); !bytes.HasSuffix(got, body) {
				t.Fatalf("got content % X of % X", got, body)
			}
			return
		}
		again := message{
			service: string(s.ServiceType), source: string(s.Source.Number), destination: string(s.Destination.Number),
			schedule: string(s.Schedule), validity: string(s.Validity),
			sourceTON: s.Source.TON, sourceNPI: s.Source.NPI, destTON: s.Destination.TON, destNPI: s.Destination.NPI,
			esmClass: s.ESMClass, protocol: s.ProtocolID, priority: s.Priority, registered: s.RegisteredDelivery,
			replace: s.ReplaceIfPresent, coding: s.DataCoding, canned: s.DefaultMsgID, text: string(s.ShortMessage),
			tail: string(s.tlvs()) + string(s.tail()),
		}
		if got := again.frame(data.SUBMIT_SM).Body(); !bytes.Equal(got, body) {
			t.Fatalf("got  % X\nwant % X", got, body)
		}
		again.schedule, again.validity, again.priority, again.registered = "x", "y", ^again.priority, ^again.registered
		if got, want := content(t, again.frame(data.SUBMIT_SM)), content(t, frame); got != want {
			t.Fatalf("content % X of % X, % X without what does not count", want, body, got)
		}
		again.destination += "0"
		if content(t, again.frame(data.SUBMIT_SM)) == content(t, frame) {
			t.Fatal("another destination has the same content")
		}
		agrees(t, "fuzz", frame)
	})
}

// A list of destinations is what lies between the source and the fields behind it, and each octet of it counts.
func FuzzTheListOfASubmitMultiIsWhatLiesBetween(f *testing.F) {
	seed(f, func(frame Frame) {
		if frame.Command() == data.SUBMIT_MULTI {
			f.Add([]byte(frame.Body()), 9)
		}
	})
	f.Fuzz(func(t *testing.T, body []byte, at int) {
		frame := Response(data.SUBMIT_MULTI, 0, 1, body)
		s, err := ParseSubmit(frame)
		if err != nil {
			return
		}
		from := HeaderSize + len(s.ServiceType) + 1 + 2 + len(s.Source.Number) + 1 + 1
		if !bytes.Equal(s.destinations, frame[from:from+len(s.destinations)]) {
			t.Fatalf("got % X, which does not stand behind the source of % X", s.destinations, frame)
		}
		if len(s.destinations) > 0 {
			other := Frame(bytes.Clone(frame))
			other[from+int(uint(at)%uint(len(s.destinations)))]++
			if content(t, other) == content(t, frame) {
				t.Fatalf("% X and % X have one content", other, frame)
			}
		}
		agrees(t, "fuzz", frame)
	})
}

// A reference that is set can be set back; it changes its own octets only, and none of the content.
func FuzzSettingTheReferenceChangesOnlyThat(f *testing.F) {
	seed(f, func(frame Frame) {
		if IsSubmit(frame.Command()) {
			f.Add(uint32(frame.Command()), []byte(frame.Body()), uint16(0x1F))
		}
	})
	f.Fuzz(func(t *testing.T, command uint32, body []byte, ref uint16) {
		frame := Response(data.CommandIDType(command), 0, 1, body)
		before := Frame(bytes.Clone(frame))
		old, part := Part{}, false
		if s, err := ParseSubmit(frame); err == nil {
			if old, part = s.Part(); part && (old.Number == 0 || old.Number > old.Total) {
				t.Fatalf("got part %+v", old)
			}
		}
		if !frame.SetReference(ref) {
			if !bytes.Equal(frame, before) {
				t.Fatalf("got  % X\nfrom % X", frame, before)
			}
			if part && old.Form != 0 && (old.Form&InUDH8 == 0 || ref < 0x100) {
				t.Fatalf("%+v does not take reference %x", old, ref)
			}
			return
		}
		s, err := ParseSubmit(frame)
		want := old
		want.Ref = ref
		if got, _ := s.Part(); err != nil || got != want {
			t.Fatalf("got part %+v, %v; want %+v", got, err, want)
		}
		if content(t, frame) != content(t, before) {
			t.Fatal("the content is another")
		}
		changed := 0
		for i := range frame {
			if frame[i] != before[i] {
				changed++
			}
		}
		if changed > 2*maxPlaces {
			t.Fatalf("%d octets are changed: % X from % X", changed, frame, before)
		}
		if !frame.SetReference(old.Ref) || !bytes.Equal(frame, before) {
			t.Fatalf("set back to % X, it was % X", frame, before)
		}
	})
}

// Whatever is taken for a receipt is not changed by being given its own id, and
// by another id only in the ways that there are; what it says stays.
func FuzzARewriteChangesTheIDAndTheLengthsOnly(f *testing.F) {
	seed(f, func(frame Frame) {
		if c := frame.Command(); c == data.DELIVER_SM || c == data.DATA_SM {
			f.Add(c == data.DATA_SM, []byte(frame.Body()), []byte("87654321"))
		}
	})
	f.Fuzz(func(t *testing.T, isData bool, body, id []byte) {
		command := data.DELIVER_SM
		if isData {
			command = data.DATA_SM
		}
		frame := Response(command, 0, 1, body)
		before, ok := ParseReceipt(frame)
		if !ok || len(id) == 0 || len(id) > 65 || bytes.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > 'z' || r == ':' }) {
			return
		}
		once := Frame(before.Rewrite(nil, id))
		if int(binary.BigEndian.Uint32(once)) != len(once) || !bytes.Equal(once[4:HeaderSize], frame[4:HeaderSize]) {
			t.Fatalf("got header % X from % X", once[:HeaderSize], frame[:HeaderSize])
		}
		after, ok := ParseReceipt(once)
		if !ok {
			t.Fatalf("no receipt any more: % X from % X", once, frame)
		}
		if !bytes.Equal(after.Rewrite(nil, id), once) {
			t.Fatalf("changed again: % X from % X", after.Rewrite(nil, id), once)
		}
		if bytes.Equal(once, frame) {
			return
		}
		if before.ID() == nil || !bytes.Equal(after.ID(), id) {
			t.Fatalf("got id %q, want %q; it was %q", after.ID(), id, before.ID())
		}
		if after.State != before.State || !bytes.Equal(after.RawStatus, before.RawStatus) {
			t.Fatalf("got %v %q, want %v %q", after.State, after.RawStatus, before.State, before.RawStatus)
		}
		// With every id and length cut out no octet differs, but that the end
		// of a short_message may be missing, which then is as long as may be.
		got, gotRest := skeleton(&after)
		want, wantRest := skeleton(&before)
		if !bytes.Equal(gotRest, wantRest) || !bytes.HasPrefix(want, got) {
			t.Fatalf("got  % X | % X\nwant % X | % X", got, gotRest, want, wantRest)
		}
		if n := len(after.msg.ShortMessage); len(got) != len(want) && (n < maxShortMessage-3 || n > maxShortMessage) {
			t.Fatalf("shortened to %d octets:\ngot  % X\nwant % X", n, got, want)
		}
	})
}

// skeleton is the body of a receipt without its ids and the lengths around
// them, in two pieces: to the end of its text, and what follows.
func skeleton(r *Receipt) (head, rest []byte) {
	s := &r.msg
	var out []byte
	text := func() {
		unit := r.text.size()
		if r.TextID == nil {
			out = append(out, r.text.octets...)
		} else {
			out = append(out, r.text.octets[:r.marks.id.from*unit]...)
			out = append(out, r.text.octets[r.marks.id.to*unit:]...)
		}
		head, out = out, nil
	}
	_, payload := s.body()
	switch {
	case s.shortAt == 0:
		out = append(out, s.frame[HeaderSize:s.tlvAt]...)
	case payload:
		out = append(out, s.frame[HeaderSize:s.shortAt-1]...)
	default:
		out = append(out, s.frame[HeaderSize:s.shortAt-1]...)
		out = append(out, s.frame[s.shortAt:r.textAt]...)
		text()
	}
	for area := s.tlvs(); ; {
		tag, value, behind, ok := nextTLV(area)
		if !ok {
			break
		}
		area = behind
		out = binary.BigEndian.AppendUint16(out, tag)
		switch {
		case tag == tagReceiptedMessageID:
			out = append(out, value[len(untilNUL(value)):]...)
		case tag == tagMessagePayload && payload:
			payload = false
			out = append(out, value[:len(value)-len(r.text.octets)]...)
			text()
		default:
			out = append(out, value...)
		}
	}
	return head, append(out, s.tail()...)
}
