package cases

import (
	"testing"
	"time"

	"smpponce/ledger"
	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

func onInDoubt(p ledger.DoubtPolicy) func(*stage.Settings) {
	return func(set *stage.Settings) { set.Policy.OnInDoubt = p }
}

// doubted leaves message m in doubt: the SMSC has it, and is gone before its answer.
func doubted(s *stage.Stage, m wire.Message) {
	s.T.Helper()
	esme, smsc := s.Bound("acme")
	esme.Submit(m)
	smsc.WantSubmit()
	smsc.Reset()
	esme.WantEnd()
	_ = esme.Close()
}

// CASES 4.
func TestAHoldThatEndedLeavesItsMessageAResubmissionUntilTheDeadline(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, onInDoubt(ledger.Hold), func(s *stage.Stage) {
		start := time.Now()
		doubted(s, stage.Receipted("A"))
		esme, smsc := s.Bound("acme")

		time.Sleep(10*time.Second - time.Since(start))
		esme.WantAnswer(esme.Submit(stage.Receipted("A")), stage.RetryStatus)
		if at := time.Since(start).Round(time.Second); at != 13*time.Second {
			t.Errorf("told to try again at %v, want 13s: hold_timeout after the repeat", at)
		}
		time.Sleep(59*time.Second - time.Since(start))
		esme.WantAnswer(esme.Submit(stage.Receipted("A")), stage.RetryStatus)
		if at := time.Since(start).Round(time.Second); at != 59*time.Second {
			t.Errorf("the second repeat was told to try again at %v, want at once", at)
		}

		time.Sleep(70*time.Second - time.Since(start))
		n := esme.Submit(stage.Receipted("A"))
		smsc.Answer(smsc.WantSubmit(), "2")
		esme.WantAnswer(n, wire.OK)
		s.WantValue(1, "smpponce_in_doubt_resent_total")
		s.WantValue(1, "smpponce_resubmissions_total", "state", "in_doubt", "verdict", "forward")
		s.WantValue(0, "smpponce_in_doubt") // one attempt is accepted now
	})
}

// CASES 4, under refuse.
func TestWhatIsRefusedInDoubtIsRefusedAgainAlsoAfterContentWindow(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, onInDoubt(ledger.RefuseInDoubt), func(s *stage.Stage) {
		doubted(s, stage.Receipted("A"))
		esme, smsc := s.Bound("acme")
		for _, pause := range []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, 50 * time.Minute, 10 * time.Minute} {
			time.Sleep(pause)
			esme.WantAnswer(esme.Submit(stage.Receipted("A")), stage.RetryStatus)
		}
		smsc.WantNothing(time.Second)
		s.WantValue(5, "smpponce_submissions_total", "verdict", "retry")
		s.WantValue(0, "smpponce_in_doubt_resent_total")
		s.WantValue(1, "smpponce_in_doubt")
	})
}

// slowDoubt has joins outlast a client's patience of 148 s: Kannel's.
func slowDoubt(set *stage.Settings) { set.Policy.InDoubtDeadline = 2 * time.Minute }

// CASES 5.
func TestAJoinOfAnAnswerThatNeverComesEnds(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, slowDoubt, func(s *stage.Stage) {
		start := time.Now()
		esme, smsc := s.Bound("acme")
		esme.Submit(stage.Message("A"))
		smsc.WantSubmit()
		time.Sleep(100*time.Second - time.Since(start))
		s.WantValue(1, "smpponce_overdue_submissions")

		time.Sleep(148*time.Second - time.Since(start))
		second := esme.Submit(stage.Message("A"))
		smsc.WantNothing(30 * time.Second)
		s.WantValue(1, "smpponce_resubmissions_total", "state", "in_flight", "verdict", "join")

		// In doubt at 180 s, on a leg that lives: the first waits for hold_timeout, and no other does.
		for _, told := range []struct {
			sequence uint32
			at       time.Duration
		}{{second, 180 * time.Second}, {second - 1, 183 * time.Second}} {
			esme.WantAnswer(told.sequence, stage.RetryStatus)
			if at := time.Since(start).Round(time.Second); at != told.at {
				t.Errorf("%d was told to try again at %v, want %v", told.sequence, at, told.at)
			}
		}
		s.WantValue(1, "smpponce_in_doubt")

		time.Sleep(296*time.Second - time.Since(start))
		esme.WantAnswer(esme.Submit(stage.Message("A")), stage.RetryStatus)
		smsc.WantNothing(time.Second)

		// response_timeout and ten times the deadline after the attempt.
		time.Sleep(1261*time.Second - time.Since(start))
		last := esme.Submit(stage.Message("A"))
		smsc.Answer(smsc.WantSubmit(), "2")
		esme.WantAnswer(last, wire.OK)
		s.WantValue(1, "smpponce_in_doubt_resent_total")
	})
}

// CASES 5, where the answer does come.
func TestALateAnswerReachesAllThatWaitForIt(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Duration{"before the deadline": 170 * time.Second, "while one is held": 181 * time.Second} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, slowDoubt, func(s *stage.Stage) {
				start := time.Now()
				esme, smsc := s.Bound("acme")
				first := esme.Submit(stage.Message("A"))
				submit := smsc.WantSubmit()
				time.Sleep(148 * time.Second)
				second := esme.Submit(stage.Message("A"))
				waiting := []uint32{first, second}
				time.Sleep(at - time.Since(start))
				if at > 180*time.Second { // in doubt: only the first is held
					esme.WantAnswer(second, stage.RetryStatus)
					waiting = waiting[:1]
				}
				smsc.Answer(submit, "77")
				for _, n := range waiting {
					if id := esme.WantAnswer(n, wire.OK); id != "77" {
						t.Errorf("%d was answered with id %q, want 77", n, id)
					}
				}
				esme.WantNothing(5 * time.Minute)
				smsc.WantNothing(time.Second)
				s.WantValue(1, "smpponce_late_responses_total")
			})
		})
	}
}

// CASES 6.
func TestAWaiterOfADyingLegIsDecidedAnewAndAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy ledger.DoubtPolicy
		status uint32 // of the waiter's answer
		sent   bool   // again, on its own leg
	}{
		"hold":    {ledger.Hold, stage.RetryStatus, false},
		"forward": {ledger.ForwardInDoubt, wire.OK, true},
		"refuse":  {ledger.RefuseInDoubt, stage.RetryStatus, false},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, onInDoubt(c.policy), func(s *stage.Stage) {
				first, draining := s.Bound("acme")
				first.Submit(stage.Message("A"))
				draining.WantSubmit()
				_ = first.Close()
				second, own := s.BoundElsewhere("acme")
				n := second.Submit(stage.Message("A"))
				own.WantNothing(10 * time.Second)
				s.WantValue(1, "smpponce_submissions_total", "verdict", "join")

				draining.Reset()
				if c.sent {
					own.Answer(own.WantSubmit(), "2")
				}
				second.WantAnswer(n, c.status)
				second.WantNothing(5 * time.Minute)
				own.WantNothing(time.Second)
			})
		})
	}
}

// CASES 15.
func TestAFailedSecondAttemptDoesNotEraseTheDoubtAboutTheFirst(t *testing.T) {
	t.Parallel()
	for _, policy := range []ledger.DoubtPolicy{ledger.Hold, ledger.ForwardInDoubt} {
		for name, second := range map[string]func(esme, smsc *stage.Peer, n uint32){
			"it is rejected": func(esme, smsc *stage.Peer, n uint32) {
				smsc.Send(stage.Refusal(smsc.WantSubmit(), wire.Throttled))
				esme.WantAnswer(n, wire.Throttled)
				_ = esme.Close()
				smsc.Part()
			},
			"it never leaves": func(esme, smsc *stage.Peer, n uint32) { // the leg broke in the middle of it
				smsc.WantEnd()
				esme.WantEnd()
				_ = esme.Close()
			},
		} {
			t.Run(map[ledger.DoubtPolicy]string{ledger.Hold: "hold", ledger.ForwardInDoubt: "forward"}[policy]+", "+name, func(t *testing.T) {
				stage.InBubble(t, onInDoubt(policy), func(s *stage.Stage) {
					doubted(s, stage.Message("A"))
					time.Sleep(2 * time.Minute) // past the deadline
					esme, smsc := s.Bound("acme")
					if name == "it never leaves" {
						smsc.Mem().CutPeerAfter(20, true)
					}
					second(esme, smsc, esme.Submit(stage.Message("A")))
					s.WantValue(1, "smpponce_in_doubt_resent_total")
					s.WantValue(1, "smpponce_in_doubt")

					time.Sleep(time.Second)
					again, smsc := s.Bound("acme")
					n := again.Submit(stage.Message("A"))
					smsc.Answer(smsc.WantSubmit(), "2")
					again.WantAnswer(n, wire.OK)
					s.WantValue(2, "smpponce_in_doubt_resent_total")
					s.WantValue(2, "smpponce_resubmissions_total", "state", "in_doubt", "verdict", "forward")
					s.WantValue(0, "smpponce_in_doubt")
				})
			})
		}
	}
}
