package cases

import (
	"fmt"
	"testing"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// CASES 25.
func TestAConstantRequestIDSuppressesNothing(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, requestIDs, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		const n = 1000
		var all []wire.Frame
		for i := range n {
			all = append(all, stage.Numbered(uint32(10+i), identified(fmt.Sprint("order ", i), "1201159000000000001")))
		}
		esme.Send(all...)
		texts := map[string]bool{}
		for range n {
			f := smsc.WantSubmit()
			m, err := wire.ParseMessage(f.Body())
			if err != nil {
				t.Fatal(err)
			}
			texts[string(m.Text)] = true
			smsc.Answer(f, "id")
		}
		for i := range n {
			esme.WantAnswer(uint32(10+i), wire.OK)
		}
		if len(texts) != n {
			t.Errorf("%d different messages reached the SMSC, want %d", len(texts), n)
		}
		s.WantValue(n, "smpponce_submissions_total", "verdict", "forward")
		if s.Value("smpponce_key_mismatches_total") == 0 {
			t.Error("no key mismatch was counted")
		}
		if warned := s.Logs.FilterMessageSnippet("request id").Len(); warned != 1 {
			t.Errorf("%d warnings, want one: %v", warned, s.Logs.All())
		}
	})
}

// FIELD: parts 3, 1, 2 of a long message; part 2 again after a reconnect.
func TestThePartsOfALongMessageReachTheSMSCOnceInAnyOrder(t *testing.T) {
	t.Parallel()
	part := func(n byte) wire.Message {
		m := stage.Message("")
		m.ESMClass = 0x40
		m.Text = append([]byte{5, 0, 3, 77, 3, n}, "the same text"...)
		return m
	}
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		wantForwarded(s, esme, smsc, part(3), "3")
		wantForwarded(s, esme, smsc, part(1), "1")
		accepted(s, esme, smsc, part(2), "2")
		again, smsc := s.Bound("acme")
		wantSuppressed(s, again, smsc, part(2), "2")
	})
}

// FIELD: unknown TLVs, trailing junk: deduplication falls back to what can be read.
func TestWhatCannotBeReadIsKnownAgainByItsBytes(t *testing.T) {
	t.Parallel()
	good := stage.Message("hello")
	body := good.Body()
	odd := func(tail string) wire.Frame {
		return wire.New(wire.SubmitSM, 0, 5, append(append([]byte(nil), body...), tail...))
	}
	for name, c := range map[string]struct{ first, again, other wire.Frame }{
		"a TLV over the end": {odd("\x14\x02\x00\x50x"), odd("\x14\x02\x00\x50x"), odd("\x14\x02\x00\x50y")},
		"junk":               {odd("\x01"), odd("\x01"), odd("\x02")},
		"an unknown TLV":     {odd("\x15\x00\x00\x01\x01"), odd("\x15\x00\x00\x01\x01"), odd("\x15\x00\x00\x01\x02")},
		"a body cut short":   {wire.New(wire.SubmitSM, 0, 5, body[:9]), wire.New(wire.SubmitSM, 0, 5, body[:9]), wire.New(wire.SubmitSM, 0, 5, body[:8])},
		"no body":            {wire.New(wire.SubmitSM, 0, 5, nil), wire.New(wire.SubmitSM, 0, 5, nil), wire.New(wire.SubmitSM, 0, 5, []byte{0})},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) { repeats(s, c.first, c.again, c.other) })
		})
	}
}

// FIELD: 0x00 inside short_message.
func TestBodiesThatDifferAfterANULAreDifferent(t *testing.T) {
	t.Parallel()
	frame := func(text string) wire.Frame { return stage.Numbered(5, stage.Message(text)) }
	stage.InBubble(t, nil, func(s *stage.Stage) { repeats(s, frame("a\x00b"), frame("a\x00b"), frame("a\x00c")) })
}

// repeats has first accepted and its answer lost; other is a new message then, and again the same one.
func repeats(s *stage.Stage, first, again, other wire.Frame) {
	s.T.Helper()
	esme, draining := s.Bound("acme")
	esme.Send(first)
	submit := draining.WantSubmit()
	_ = esme.Close()
	draining.Answer(submit, "1")
	draining.Part()

	esme, smsc := s.Bound("acme")
	esme.Send(other)
	smsc.Answer(smsc.WantSubmit(), "2")
	if id := esme.WantAnswer(5, wire.OK); id != "2" {
		s.T.Errorf("another message was answered with id %q, want its own, 2", id)
	}
	esme.Send(again)
	if id := esme.WantAnswer(5, wire.OK); id != "1" {
		s.T.Errorf("the repeat was answered with id %q, want 1", id)
	}
}
