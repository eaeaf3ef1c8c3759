package ledger

import (
	"testing"
	"time"
)

func TestAPausedProcessAsksAgainBeforeItSends(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	r.hang = true
	m := s.submit("A").isForwarded(0)
	r.now = r.now.Add(verdictLife + 1) // SIGSTOP: nothing has run meanwhile
	r.hang = false
	r.finish(nil)
	m.isForwarded(0)
	r.run()
	m.isForwarded(1)
	if until, want := m.until[0], r.now.Add(verdictLife); until != want {
		t.Errorf("may be sent until %v, want %v", until.Sub(r.started), want.Sub(r.started))
	}
	// The proxy finds it too old once more, just before the socket.
	r.l.Unsent(m.last, true)
	r.run()
	m.isForwarded(2)
	if m.forwards[0] == m.forwards[1] {
		t.Errorf("attempts %v: a withdrawn number was used again", m.forwards)
	}
	m.accept("77")
	m.isAnswered("77", Forward)
}

func TestASubmissionThatWasOvertakenWhileThePausedProcessSleptIsNotForwarded(t *testing.T) {
	r := newRig(t)
	one, two := r.bind("acme"), r.bind("acme")
	first := one.submit("A", withID("a"))
	second := two.submit("A", withID("a")).isForwarded(0)
	first.accept("77")
	second.isAnswered("77", Replay)
	r.l.Unsent(first.last, true) // the proxy's word comes too late
	r.run()
	first.isForwarded(1).isAnswered("77", Forward)
}

func TestACommitThatTimesOutMakesNoGhost(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	r.hang = true
	m := s.submit("A", withID("a"))
	r.wait(commitTimeout - 1)
	m.waits()
	r.wait(1)
	m.isForwarded(0).isRefused(0x08, Fail)
	if r.l.Writable() == nil {
		t.Error("the ledger says that it is writable")
	}
	s.submit("B").isForwarded(0).isRefused(0x08, Fail)
	r.release(nil) // the intent lands on the disk all the same
	if err := r.l.Writable(); err != nil {
		t.Errorf("the ledger does not resume: %v", err)
	}
	again := s.submit("A", withID("a")).isForwarded(1)
	again.accept("77")
	again.isAnswered("77", Forward)
	s.submit("B").isForwarded(1)
}

func TestAnAnswerIsGivenThoughItsOutcomeCannotBeCommitted(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A").isForwarded(1)
	waiting := s.submit("B").isForwarded(1)
	r.broken = errDisk
	m.accept("77")
	m.isAnswered("77", Forward)
	waiting.accept("78") // nothing waits for the disk now
	waiting.isAnswered("78", Forward)
	s.submit("C").isForwarded(0).isRefused(0x08, Fail)
	r.wait(time.Minute)
	r.broken = nil
	r.wait(retryEvery)
	if err := r.l.Writable(); err != nil {
		t.Errorf("the ledger does not resume: %v", err)
	}
	s.end(Reset, m.unacked(), waiting.unacked())
	r.kill(0)
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
	s.submit("B").isForwarded(0).isAnswered("78", Replay)
}
