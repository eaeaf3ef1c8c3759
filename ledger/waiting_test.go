package ledger

import (
	"testing"
	"time"
)

func TestWhenAJoinedAttemptEndsUnsentOneWaiterBecomesTheForward(t *testing.T) {
	r := newRig(t)
	one, two, three := r.bind("acme"), r.bind("acme"), r.bind("acme")
	first := one.submit("A", withID("a"))
	second := two.submit("A", withID("a")).isForwarded(0)
	third := three.submit("A", withID("a")).isForwarded(0)
	r.l.Unsent(first.last, false)
	r.run()
	one.endBoth()
	second.isForwarded(1).waits()
	third.isForwarded(0).waits()
	second.accept("77")
	second.isAnswered("77", Forward)
	third.isAnswered("77", Replay)
	first.waits() // its session has ended
}

func TestWhenAJoinedAttemptIsRejectedOneWaiterBecomesTheForward(t *testing.T) {
	r := newRig(t)
	one, two, three := r.bind("acme"), r.bind("acme"), r.bind("acme")
	first := one.submit("A", withID("a"))
	second := two.submit("A", withID("a"))
	third := three.submit("A", withID("a"))
	first.reject(0x58)
	first.isRefused(0x58, Forward)
	second.isForwarded(1).waits()
	third.isForwarded(0).waits()
	second.reject(0x14)
	second.isRefused(0x14, Forward)
	third.isForwarded(1)
	third.accept("77")
	third.isAnswered("77", Forward)
}

func TestAWaiterWhoseOwnLegIsGoneIsNotTheOneForwarded(t *testing.T) {
	for _, gone := range []string{"session", "leg"} {
		t.Run(gone, func(t *testing.T) {
			r := newRig(t)
			one, two, three := r.bind("acme"), r.bind("acme"), r.bind("acme")
			first := one.submit("A", withID("a"))
			second := two.submit("A", withID("a"))
			third := three.submit("A", withID("a"))
			if gone == "session" {
				two.end(Reset)
			} else {
				two.endLeg()
			}
			first.reject(0x58)
			second.isForwarded(0)
			third.isForwarded(1)
			third.accept("77")
			third.isAnswered("77", Forward)
			if gone == "leg" {
				second.isAnswered("77", Replay) // its session may still give it to the ESME
			}
		})
	}
}

func TestASubmissionWhoseLegIsGoneBeforeItsCommitWasNeverSent(t *testing.T) {
	for name, before := range map[string]func(*rig, *binding){
		"the leg ends before the claim is decided": func(r *rig, s *binding) { s.endLeg(); s.queue("A"); r.run() },
		"the leg ends while the commit is under way": func(r *rig, s *binding) {
			r.hang = true
			s.submit("A").isForwarded(0)
			s.endLeg()
			r.release(nil)
		},
		"the proxy finds it gone": func(r *rig, s *binding) {
			s.noLeg = true
			s.submit("A").isForwarded(0)
			s.endLeg()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			before(r, s)
			s.end(ByProxy)
			s = r.bind("acme")
			s.submit("A").isForwarded(1)
			if got := r.metric("smpponce_in_doubt"); got != 0 {
				t.Errorf("in doubt %v, want none", got)
			}
			if got := r.metric(`smpponce_resubmissions_total{key="content",state="never_sent",verdict="forward"}`); got != 1 {
				t.Errorf("repeats of what was never sent %v, want 1", got)
			}
		})
	}
}

func TestWhatWasNeverSentIsKnownAfterARestart(t *testing.T) {
	r := newRig(t)
	one, two := r.bind("acme"), r.bind("acme")
	first := one.submit("A", withID("a"))
	two.submit("A", withID("a"))
	two.endLeg() // nobody is there to be forwarded instead
	r.l.Unsent(first.last, false)
	r.run()
	one.endBoth()
	two.end(ByProxy)
	r.kill(0)
	r.bind("acme").submit("A", withID("a")).isForwarded(1)
	if got := r.metric(`smpponce_resubmissions_total{key="explicit",state="never_sent",verdict="forward"}`); got != 1 {
		t.Errorf("repeats of what was never sent %v, want 1", got)
	}
}

func TestTheWaitersOfARecordAreBounded(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	first := s.submit("A", withID("a"))
	var waiters []*message
	for range maxWaiters + 10 {
		waiters = append(waiters, s.queue("A", withID("a")))
	}
	r.run()
	for i, m := range waiters {
		if m.isForwarded(0); i < maxWaiters-1 { // the first stands among them
			m.waits()
		} else {
			m.isSentBack()
		}
	}
	first.accept("77")
	for _, m := range waiters[:maxWaiters-1] {
		m.isAnswered("77", Replay)
	}
	if n := len(r.l.book.sessions[s.session].claims); n != 0 {
		t.Errorf("%d claims left", n)
	}
}

func TestHeldSubmissionsAreAnsweredWhenTheEvidenceComes(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A").isForwarded(1)
	r.at(119) // overdue, and at 120 in doubt on a leg that lives
	joined := s.submit("A").isForwarded(0).waits()
	r.at(121)
	held := 0
	for _, m := range r.messages {
		if len(m.answers) == 0 {
			held++
			continue
		}
		m.isSentBack()
	}
	if held != 1 || r.metric("smpponce_held_submissions") != 1 {
		t.Fatalf("%d wait, metric %v; want one to be held", held, r.metric("smpponce_held_submissions"))
	}
	r.messages[0].accept("77")
	r.messages[0].isAnswered("77", Replay)
	joined.isSentBack()
	r.wait(3 * time.Second)
	if got := r.metric("smpponce_held_submissions"); got != 0 {
		t.Errorf("held %v, want 0", got)
	}
}

func TestAHeldSubmissionWhoseSessionEndsIsForgottenAndItsRecordStaysInDoubt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A")
	s.endBoth()
	s = r.bind("acme")
	r.at(10)
	s.submit("A").waits()
	s.endBoth()
	r.at(20)
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isSentBack()
	r.at(60)
	s.submit("A").isForwarded(1)
	s.submit("A").isForwarded(1)
	if got := r.metric("smpponce_in_doubt_resent_total"); got != 1 {
		t.Errorf("resent %v, want 1", got)
	}
}

func TestARestartWhileOneIsHeldTakesItBack(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A")
	s.endBoth()
	s = r.bind("acme")
	r.at(10)
	s.submit("A").waits()
	r.kill(time.Second)
	s = r.bind("acme")
	m := s.submit("A").isForwarded(0).waits()
	r.wait(3 * time.Second)
	m.isSentBack()
	r.at(59)
	s.submit("A").isForwarded(0).isSentBack()
	r.at(60) // a restart does not move the deadline
	s.submit("A").isForwarded(1)
}

func TestAHoldThatBeginsWhenAnAttemptFallsInDoubtEndsAfterHoldTimeout(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(120)
	m.waits()
	r.at(122.9)
	m.waits()
	r.at(123)
	m.isSentBack()
}

func TestClaimsOfASessionThatHasEndedAreNeitherForwardedNorAnswered(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.end(Reset)
	s.submit("A").isForwarded(0).waits()
	if puts := r.puts; puts != 0 {
		t.Errorf("%d entries written", puts)
	}
	r.l.CloseSession(s.session, End{}, func() {})
	r.l.CloseLeg(s.leg)
	r.l.CloseLeg(s.leg)
	r.l.Settle(12345, accepted("77"))
	r.l.Unsent(12345, true)
	r.run()
}

func TestASessionIsOverWhenItsLastSubmissionHasBeenHandedOver(t *testing.T) {
	for name, prepare := range map[string]func(*rig, func()){
		"its end is in the batch of the intent": func(_ *rig, end func()) { end() },
		"its end comes while the intent is written": func(r *rig, end func()) {
			r.hang = true
			r.run()
			end()
		},
		"its end comes while the intent is synced": func(r *rig, end func()) {
			r.slow = true
			r.run()
			end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			m := s.queue("A")
			over := -1
			prepare(r, func() {
				r.l.CloseSession(s.session, End{At: r.now, How: Closed}, func() { over = len(m.forwards) })
			})
			r.run()
			r.release(nil)
			if over != 1 {
				t.Errorf("over after %d forwards, want 1", over)
			}
			m.isForwarded(1).accept("77")
			m.waits()
			r.bind("acme").submit("A").isForwarded(0).isAnswered("77", Replay)
		})
	}
}

func TestAnAttemptIsSettledOnce(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A", withID("a"))
	m.accept("77")
	m.accept("78")
	m.reject(0x58)
	r.l.Unsent(m.last, true)
	r.run()
	m.isForwarded(1).isAnswered("77", Forward)
	s.submit("A", withID("a")).isAnswered("77", Replay)
	r.look("acme", "78", m.Destination, 0)
	if got := r.found["78"]; len(got) != 1 || got[0].Known {
		t.Errorf("78 is found: %v", got)
	}
}
