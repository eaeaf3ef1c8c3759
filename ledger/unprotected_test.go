package ledger

import (
	"testing"
	"time"
)

func TestBypassForwardsUnprotectedUntilTheDiskIsBack(t *testing.T) {
	r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
	s := r.bind("acme")
	r.broken = errDisk
	m := s.submit("A", withID("a")).isForwarded(1)
	if r.l.Writable() == nil {
		t.Error("writable")
	}
	during := s.submit("B", withID("b")).isForwarded(1)
	done := s.submit("C").isForwarded(1)
	done.accept("3")
	done.isAnswered("3", Forward)
	s.submit("B", withID("b")).isForwarded(1) // a verdict to join is not carried out
	if got := r.metric(`smpponce_unprotected_submissions_total{reason="bypass"}`); got != 3 {
		t.Errorf("unprotected %v, want 3", got)
	}
	r.wait(time.Minute)
	r.broken = nil
	r.wait(retryEvery)
	if err := r.l.Writable(); err != nil {
		t.Fatalf("does not resume: %v", err)
	}
	m.accept("1")
	m.isAnswered("1", Forward)
	during.accept("2")
	during.isAnswered("2", Forward)
	r.kill(time.Second)
	s = r.bind("acme")
	s.submit("A", withID("a")).isForwarded(0).isAnswered("1", Replay)
	s.submit("B", withID("b")).isForwarded(0).isAnswered("2", Replay)
}

func TestWhatIsInFlightWhenBypassEndsIsProtectedFromThenOn(t *testing.T) {
	r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
	s := r.bind("acme")
	r.broken = errDisk
	s.submit("first").isForwarded(1)
	m := s.submit("A").isForwarded(1)
	r.broken = nil
	r.wait(retryEvery)
	r.kill(time.Second)
	s = r.bind("acme")
	s.submit("A").isForwarded(0).waits()
	m.waits()
}

func TestObserveForwardsEverythingAndCountsWhatItWouldHaveDone(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode, p.OnMismatch = Observe, MismatchRefuse })
	s := r.bind("acme")
	a := s.submit("A", withID("a")).isForwarded(1)
	joined := s.submit("A", withID("a")).isForwarded(1)
	a.accept("1")
	a.isAnswered("1", Forward)
	joined.reject(0x58)
	joined.isRefused(0x58, Forward)
	replayed := s.submit("A", withID("a")).isForwarded(1)
	replayed.accept("2")
	replayed.isAnswered("2", Forward)
	s.submit("other text", withID("a")).isForwarded(1)
	doubt := s.submit("D")
	s.endBoth()
	s = r.bind("acme")
	held := s.submit("D").isForwarded(1)
	held.accept("3")
	held.isAnswered("3", Forward)
	for name, want := range map[string]float64{
		`smpponce_submissions_total{verdict="forward"}`:                                  2,
		`smpponce_submissions_total{verdict="join"}`:                                     1,
		`smpponce_submissions_total{verdict="replay"}`:                                   1,
		`smpponce_submissions_total{verdict="refuse"}`:                                   1,
		`smpponce_submissions_total{verdict="hold"}`:                                     1,
		`smpponce_resubmissions_total{key="explicit",state="accepted",verdict="replay"}`: 1,
		`smpponce_held_submissions`:                                                      0,
	} {
		if got := r.metric(name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	doubt.waits()
}

func TestObserveForwardsAnewWhatWasTooOldToBeSent(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
	s := r.bind("acme")
	m := s.submit("A")
	r.l.Unsent(m.last, true)
	r.run()
	m.isForwarded(2).accept("77")
	m.isAnswered("77", Forward)
}

func TestObserveHoldsNobodyWhenAnAttemptFallsInDoubt(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
	s := r.bind("acme")
	m := s.submit("A")
	r.wait(10 * time.Minute)
	m.waits().accept("77")
	m.isAnswered("77", Forward)
}

func TestAnAnswerThatIsLostDuringBypassIsWrittenDownAfterIt(t *testing.T) {
	r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
	s := r.bind("acme")
	r.broken = errDisk
	s.submit("first").isForwarded(1)
	m := s.submit("A").isForwarded(1)
	m.accept("77")
	s.end(Reset, m.unacked())
	r.broken = nil
	r.wait(retryEvery)
	r.kill(time.Second)
	r.bind("acme").submit("A").isForwarded(0).isAnswered("77", Replay)
}

func TestALateAnswerDuringBypassLeavesNoMarkBehind(t *testing.T) {
	r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
	s := r.bind("acme")
	r.broken = errDisk
	s.submit("first")
	m := s.submit("A")
	r.wait(time.Minute)
	m.accept("77") // late: a repeat may come
	r.wait(time.Hour)
	r.broken = nil
	r.wait(retryEvery)
	if _, live := r.l.image.Live[m.last]; live {
		t.Error("the image tells of a record that was never written")
	}
}

func TestObserveForwardsThoughTheLedgerCannotCommit(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
	s := r.bind("acme")
	r.broken = errDisk
	in, after := s.submit("A").isForwarded(1), s.submit("B").isForwarded(1)
	in.accept("1")
	after.accept("2")
	in.isAnswered("1", Forward)
	after.isAnswered("2", Forward)
}
