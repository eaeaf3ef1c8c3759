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

func TestACommitThatFailsRefusesWhatItWasToSend(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	settled := s.submit("A")
	r.hang = true
	m := s.queue("B", withID("b"))
	r.l.Settle(settled.last, accepted("77"))
	r.run()
	joined := s.submit("B", withID("b"))
	open := s.submit("C")
	r.release(errDisk)
	m.isForwarded(0).isRefused(0x08, Fail)
	open.isForwarded(0).isRefused(0x08, Fail)
	if joined.isForwarded(0); joined.answer().Status == 0 {
		t.Errorf("a submission that joined what was never sent got %+v", joined.answer())
	}
	settled.isAnswered("77", Forward)
	if err := r.l.Writable(); err == nil || r.metric("smpponce_ledger_writable") != 0 {
		t.Error("writable")
	}
	r.wait(retryEvery)
	if err := r.l.Writable(); err != nil {
		t.Errorf("does not resume: %v", err)
	}
	for _, text := range []string{"B", "C"} {
		s.submit(text, withID(text)).isForwarded(1)
	}
	if got := r.metric("smpponce_ledger_writable"); got != 1 {
		t.Errorf("metric %v, want 1", got)
	}
}

func TestWhileCommitsFailEveryoneIsAnsweredAndNothingNewIsForwarded(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var before []*message
	for i := range 10 {
		before = append(before, s.submit(string(rune('a'+i)), withID(string(rune('a'+i)))))
	}
	r.broken = errDisk
	for i, m := range before {
		if i < 5 {
			m.accept(m.text)
			m.isAnswered(m.text, Forward)
		} else {
			m.reject(0x58)
			m.isRefused(0x58, Forward)
		}
		r.wait(300 * time.Millisecond)
		s.submit("new").isForwarded(0).isRefused(0x08, Fail)
		r.look("acme", m.text, m.Destination, 0)
		if got := r.found[m.text]; len(got) != 1 || got[0].Known != (i < 5) {
			t.Errorf("%s is found as %v", m.text, got)
		}
	}
	other := r.bind("acme") // sessions come and go
	other.end(Unbound)
	r.broken = nil
	r.wait(retryEvery)
	r.kill(time.Second)
	s = r.bind("acme")
	for i, m := range before {
		again := s.submit(m.text, withID(m.text))
		if i < 5 {
			again.isForwarded(0).isAnswered(m.text, Replay)
		} else {
			again.isForwarded(1)
		}
	}
}

func TestAKillWhileOutcomesAreOwedLeavesThemInDoubt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.broken = errDisk
	m.accept("77")
	m.isAnswered("77", Forward)
	r.wait(time.Second)
	r.kill(time.Second)
	s = r.bind("acme")
	s.submit("A").isForwarded(0).waits()
}

func TestAHangingSyncRefusesWhatItWasToSendAndKeepsWhatWasTold(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	first := s.submit("A")
	r.slow = true
	m := s.queue("B")
	first.accept("77")
	first.isAnswered("77", Forward) // written
	r.wait(commitTimeout)
	m.isForwarded(0).isRefused(0x08, Fail)
	first.isAnswered("77", Forward)
	r.release(nil)
	s.submit("B").isForwarded(1)
	if got := len(m.answers); got != 1 {
		t.Errorf("answered %d times", got)
	}
}

func TestALegThatEndsWhileTheDiskHangsLeavesItsSubmissionsUnsent(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	r.hang = true
	m := s.submit("A")
	s.endBoth()
	r.wait(commitTimeout)
	m.waits().isForwarded(0)
	r.release(nil)
	r.bind("acme").submit("A").isForwarded(1)
	if got := r.metric("smpponce_in_doubt"); got != 0 {
		t.Errorf("in doubt %v", got)
	}
}

func TestAFullVolumeRefusesAndResumes(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A").isForwarded(1)
	r.l.queue.add(event{kind: space, err: errDisk})
	r.run()
	if r.l.Writable() == nil {
		t.Error("writable")
	}
	s.submit("B").isForwarded(0).isRefused(0x08, Fail)
	m.accept("77")
	m.isAnswered("77", Forward)
	r.l.queue.add(event{kind: space})
	r.run()
	s.submit("B").isForwarded(1)
	if got := r.metric(`smpponce_submissions_total{verdict="fail"}`); got != 1 {
		t.Errorf("refused %v, want 1", got)
	}
}

func TestARecordThatCannotBeReadIsNotForwardedOver(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A", withID("a")).accept("77")
	r.wait(time.Second)
	r.disk.broken = errDisk
	s.submit("A", withID("a")).isForwarded(0).isRefused(0x08, Fail)
	s.submit("no id").isForwarded(1)
	r.look("acme", "77", Address{}, 0)
	if got := r.found["77"]; len(got) != 1 || got[0].Known {
		t.Errorf("found %v", got)
	}
	r.disk.broken = nil
	s.submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
}

func TestWhatTheNextBatchHeldOfAFailedIntentDoesNotBringItBack(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	r.hang = true
	s.submit("A", withID("a"))
	s.submit("A", withID("a")) // joins it: the next batch tells of the record, too
	r.wait(commitTimeout)
	r.release(nil)
	r.kill(time.Second)
	r.bind("acme").submit("A", withID("a")).isForwarded(1)
	if got := r.metric("smpponce_in_doubt"); got != 0 {
		t.Errorf("in doubt %v, want none: it was never sent", got)
	}
}
