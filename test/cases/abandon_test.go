package cases

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// accepted leaves message m accepted and its answer unread: the client is gone before it.
func accepted(s *stage.Stage, esme, smsc *stage.Peer, m wire.Message, id string) {
	s.T.Helper()
	esme.Submit(m)
	submit := smsc.WantSubmit()
	_ = esme.Close()
	synctest.Wait()
	smsc.Answer(submit, id)
	smsc.Part()
}

// wantSuppressed has m sent and answered with the id it got before.
func wantSuppressed(s *stage.Stage, esme, smsc *stage.Peer, m wire.Message, id string) {
	s.T.Helper()
	if got := esme.WantAnswer(esme.Submit(m), wire.OK); got != id {
		s.T.Errorf("answered with id %q, want %q", got, id)
	}
	smsc.WantNothing(time.Second)
}

// wantForwarded has m sent, accepted under id and so answered.
func wantForwarded(s *stage.Stage, esme, smsc *stage.Peer, m wire.Message, id string) {
	s.T.Helper()
	n := esme.Submit(m)
	smsc.Answer(smsc.WantSubmit(), id)
	if got := esme.WantAnswer(n, wire.OK); got != id {
		s.T.Errorf("answered with id %q, want %q", got, id)
	}
}

// CASES 13. Unanswered for client_timeout, it counts as abandoned anew then: the window is over a minute later.
func TestWhatOneBindOfAPoolLeftIsForgottenThoughThatBindNeverComesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause     time.Duration
		forwarded bool
	}{"within content_window": {9 * time.Minute, false}, "after content_window": {12 * time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				one, smscOne := s.Bound("acme")
				two, smscTwo := s.Bound("acme")
				_, smscThree := s.Bound("acme")
				accepted(s, one, smscOne, stage.Message("Pump 3 is hot."), "1")
				time.Sleep(c.pause)
				if c.forwarded {
					wantForwarded(s, two, smscTwo, stage.Message("Pump 3 is hot."), "2")
				} else {
					wantSuppressed(s, two, smscTwo, stage.Message("Pump 3 is hot."), "1")
				}
				smscThree.WantNothing(time.Second)
			})
		})
	}
}

// CASES 14. FIELD: C is gone for two minutes, and then for as long as content_limit allows.
func TestOnlyABindThatCanSubmitStartsTheWindowOfWhatWasLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		away      time.Duration
		forwarded bool
	}{"two minutes": {2 * time.Minute, false}, "1000 seconds": {1000 * time.Second, false}, "longer than content_limit": {61 * time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				receiver, smscReceiver := s.BoundAs(wire.BindReceiver, "acme")
				transmitter, smscTransmitter := s.BoundAs(wire.BindTransmitter, "acme")
				_ = receiver.Close()
				smscReceiver.Part()
				accepted(s, transmitter, smscTransmitter, stage.Message("A"), "1")
				time.Sleep(time.Second)
				_, _ = s.BoundAs(wire.BindReceiver, "acme")
				time.Sleep(c.away - time.Second)
				again, smsc := s.BoundAs(wire.BindTransmitter, "acme")
				if c.forwarded {
					wantForwarded(s, again, smsc, stage.Message("A"), "2")
				} else {
					wantSuppressed(s, again, smsc, stage.Message("A"), "1")
				}
			})
		})
	}
}

// DESIGN 4.2: three unanswered copies absorb three, and the fourth is new.
func TestThreeUnansweredCopiesAbsorbThreeAndNoFourth(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, draining := s.Bound("acme")
		var first []wire.Frame
		for range 3 {
			esme.Submit(stage.Message("A"))
			first = append(first, draining.WantSubmit())
		}
		_ = esme.Close()
		for i, f := range first {
			draining.Answer(f, string(rune('1'+i)))
		}
		draining.Part()
		again, smsc := s.Bound("acme")
		told := map[string]bool{}
		for range 3 {
			told[again.WantAnswer(again.Submit(stage.Message("A")), wire.OK)] = true
		}
		if !told["1"] || !told["2"] || !told["3"] {
			t.Errorf("the repeats were told the ids %v, want 1, 2 and 3", told)
		}
		wantForwarded(s, again, smsc, stage.Message("A"), "4")
	})
}

// CASES 19.
func TestIdenticalAlarmsToASlowSMSCAreAllForwarded(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		const n = 20
		answered := make(chan struct{})
		go func() { // every answer takes 45 s
			defer close(answered)
			for range n {
				f, err := smsc.Within(time.Hour)
				if err != nil {
					return
				}
				due := time.Now().Add(45 * time.Second)
				time.AfterFunc(time.Until(due), func() { _, _ = smsc.Write(stage.Answer(f, "id")) })
			}
		}()
		for range n {
			esme.Submit(stage.Message("Pump 3 is hot."))
			time.Sleep(7 * time.Second)
		}
		for i := range n {
			esme.WantAnswer(uint32(2+i), wire.OK)
		}
		<-answered
		s.WantValue(n, "smpponce_submissions_total", "verdict", "forward")
		// All but the first met one that was unanswered.
		s.WantValue(n-1, "smpponce_identical_in_flight_total")
	})
}

// CASES 20.
func TestAnUnbindWaitsForTenPendingAnswers(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		var pending []wire.Frame
		for range 10 {
			esme.Submit(stage.Message("A"))
			pending = append(pending, smsc.WantSubmit())
		}
		esme.Send(wire.New(wire.Unbind, 0, 99, nil))
		smsc.WantNothing(30 * time.Second)
		for i, f := range pending {
			smsc.Answer(f, "id")
			esme.WantAnswer(uint32(2+i), wire.OK)
		}
		unbind := smsc.Want(wire.Unbind)
		esme.WantNothing(time.Second)
		smsc.Send(wire.New(wire.Unbind|wire.Response, 0, unbind.Sequence(), nil))
		if f := esme.Want(wire.Unbind | wire.Response); f.Sequence() != 99 {
			t.Errorf("unbind_resp %d, want 99", f.Sequence())
		}
		esme.WantEnd()
	})
}

// CASES 24. Each run stands in its predecessor's place, until content_window is over; then one is new. All that was
// suppressed can be seen.
func TestFireAndForgetOfOneTextIsMostlySuppressedAndAMetricTellsIt(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		const runs = 30
		got := 0
		for range runs {
			esme, smsc := s.Bound("acme")
			esme.Submit(stage.Message("Pump 3 is hot."))
			synctest.Wait()
			_ = esme.Close() // its answer, if any, unread
			for f := smsc.Next(); ; f = smsc.Next() {
				if f.Command() == wire.Unbind {
					smsc.Send(stage.Refusal(f, wire.OK))
					smsc.WantEnd()
					break
				}
				got++
				smsc.Answer(f, "id")
			}
			time.Sleep(time.Minute)
		}
		if got < 3 || got > 6 {
			t.Errorf("the SMSC got %d of %d, want about one in each content_window of 10 minutes", got, runs)
		}
		suppressed := s.Value("smpponce_resubmissions_total", "key", "content", "verdict", "replay")
		if int(suppressed)+got != runs {
			t.Errorf("%d forwarded and %v told as replayed, want %d together", got, suppressed, runs)
		}
	})
}
