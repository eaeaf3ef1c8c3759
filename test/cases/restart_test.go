package cases

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// CASES 18, and the answer of which nobody knows whether it was read.
func TestAfterAKillWhatWasAnsweredIsNewUnlessItWasAnsweredInTheLast200Milliseconds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lived     time.Duration // from the answer to the kill
		forwarded bool
	}{"at once": {0, false}, "after 199 ms": {199 * time.Millisecond, false}, "after 300 ms": {300 * time.Millisecond, true}, "after a minute": {time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				esme, smsc := s.Bound("acme")
				wantForwarded(s, esme, smsc, stage.Message("A"), "1")
				time.Sleep(c.lived)
				synctest.Wait()
				s.Kill()
				time.Sleep(time.Second)
				esme, smsc = s.Bound("acme")
				if c.forwarded {
					wantForwarded(s, esme, smsc, stage.Message("A"), "2")
				} else {
					wantSuppressed(s, esme, smsc, stage.Message("A"), "1")
				}
			})
		})
	}
}

// DESIGN 4.2: after a restart every earlier submission is on an ended leg.
func TestAfterAKillWhatWasInFlightIsInDoubt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy ledger.DoubtPolicy
		sent   bool
	}{"hold": {ledger.Hold, false}, "forward": {ledger.ForwardInDoubt, true}, "refuse": {ledger.RefuseInDoubt, false}} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, onInDoubt(c.policy), func(s *stage.Stage) {
				esme, smsc := s.Bound("acme")
				esme.Submit(stage.Message("A"))
				smsc.WantSubmit()
				synctest.Wait()
				s.Kill()
				esme, smsc = s.Bound("acme")
				s.WantValue(1, "smpponce_in_doubt")
				if c.sent {
					wantForwarded(s, esme, smsc, stage.Message("A"), "2")
					s.WantValue(1, "smpponce_in_doubt_resent_total")
					return
				}
				esme.WantAnswer(esme.Submit(stage.Message("A")), stage.RetryStatus)
				smsc.WantNothing(time.Second)
			})
		})
	}
}

// An orderly end leaves nothing to guess.
func TestAfterARestartAnAnsweredMessageIsNewAndALostAnswerIsReplayed(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		wantForwarded(s, esme, smsc, stage.Message("read"), "1")
		time.Sleep(2 * time.Second) // settle is over
		accepted(s, esme, smsc, stage.Message("lost"), "2")
		s.Restart()
		esme, smsc = s.Bound("acme")
		wantForwarded(s, esme, smsc, stage.Message("read"), "3")
		wantSuppressed(s, esme, smsc, stage.Message("lost"), "2")
	})
}

// CASES 21, with an SMSC that takes nothing for so long; what the paused process makes of it is in process_test.go.
func TestAVerdictThatBecameTooOldInTheQueueIsAskedForAgain(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		smsc.Mem().Stall(10) // so the writer is stuck in the first frame, and the others wait behind it
		const n = 50
		esme.Submit(stage.Message("first"))
		synctest.Wait()
		for range n - 1 {
			esme.Submit(stage.Message("A"))
		}
		synctest.Wait()
		time.Sleep(11 * time.Second) // a verdict is good for ten
		synctest.Wait()
		smsc.Mem().Stall(1 << 20)
		for range n {
			smsc.Answer(smsc.WantSubmit(), "id")
		}
		for i := range n {
			esme.WantAnswer(uint32(2+i), wire.OK)
		}
		smsc.WantNothing(5 * time.Minute)
		if stale := s.Value("smpponce_outcomes_total", "outcome", "never_sent"); stale < n-1 {
			t.Errorf("%v verdicts were too old, want nearly all of %d", stale, n)
		}
	})
}
