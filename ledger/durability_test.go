package ledger

import (
	"fmt"
	"testing"
	"time"
)

func withSync(m SyncMode) func(*Options, *Policy) { return func(o *Options, _ *Policy) { o.Sync = m } }

func TestNothingIsForwardedBeforeItsIntentIsDurable(t *testing.T) {
	for mode, afterWrite := range map[SyncMode]int{SyncIntents: 0, SyncAll: 0, SyncNone: 1} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			r := newRig(t, withSync(mode))
			s := r.bind("acme")
			r.hang = true
			m := s.submit("A").isForwarded(0)
			r.hang, r.slow = false, true
			r.run()
			m.isForwarded(afterWrite)
			r.release(nil)
			m.isForwarded(1)
			if n := m.last; r.disk.synced[string(recordKey(n))] == nil && mode != SyncNone {
				t.Error("forwarded, and its intent is not synced")
			}
		})
	}
}

func TestNoAnswerIsGivenBeforeItsOutcomeIsWritten(t *testing.T) {
	for mode, afterWrite := range map[SyncMode]bool{SyncIntents: true, SyncAll: false, SyncNone: true} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			r := newRig(t, withSync(mode))
			s := r.bind("acme")
			m := s.submit("A", withID("a"))
			r.hang = true
			m.accept("77")
			m.waits()
			joined := s.submit("A", withID("a")).waits()
			r.hang, r.slow = false, true
			r.run()
			if got := len(m.answers) == 1; got != afterWrite {
				t.Errorf("answered once it is written: %v, want %v", got, afterWrite)
			}
			r.release(nil)
			m.isAnswered("77", Forward)
			joined.isAnswered("77", Replay)
		})
	}
}

func TestAnswersDoNotWaitForTheSyncOfIntentsBesideThem(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.slow = true
	other := s.queue("B")
	m.accept("77")
	m.isAnswered("77", Forward)
	other.isForwarded(0)
	r.release(nil)
	other.isForwarded(1)
}

func TestAPowerCutLeavesUnsyncedOutcomesInDoubt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m, read := s.submit("A"), s.submit("E", withID("e"))
	m.accept("77")
	m.isAnswered("77", Forward)
	read.accept("78")
	r.cutPower(time.Second)
	s = r.bind("acme")
	s.submit("A").isForwarded(0).waits()
	s.submit("E", withID("e")).isForwarded(0).waits()
	if got := r.metric("smpponce_in_doubt"); got != 2 {
		t.Errorf("in doubt %v, want 2", got)
	}
	r.wait(time.Minute)
	s.submit("A").isForwarded(1)
	s.submit("E", withID("e")).isForwarded(1)
}

func TestTheNextIntentMakesOutcomesDurable(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A", withID("a"))
	m.accept("77")
	s.submit("B").isForwarded(1)
	r.cutPower(time.Second)
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
}

func TestWithSyncAllAPowerCutForgetsNothing(t *testing.T) {
	r := newRig(t, withSync(SyncAll))
	s := r.bind("acme")
	m := s.submit("A", withID("a"))
	m.accept("77")
	m.isAnswered("77", Forward)
	r.cutPower(time.Second)
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
}

func TestAnOrdinaryMessageTakesTwoEntriesAndNoRead(t *testing.T) {
	for entries, id := range map[int]string{2: "", 3: "explicit"} {
		t.Run(fmt.Sprint(entries, " entries ", id), func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			before, reads := r.puts, r.disk.reads
			for i := range 10 {
				var m *message
				if id == "" {
					m = s.submit(fmt.Sprint(i))
				} else {
					m = s.submit(fmt.Sprint(i), withID(fmt.Sprint(i)))
				}
				m.accept(fmt.Sprint(i))
				m.isAnswered(fmt.Sprint(i), Forward)
			}
			if got := r.puts - before; got != 10*entries {
				t.Errorf("%d entries for 10 messages, want %d each", got, entries)
			}
			if got, most := r.disk.reads-reads, 10*(entries-2); got > most {
				t.Errorf("%d reads for 10 messages, want at most %d", got, most)
			}
		})
	}
}

func TestADisconnectWritesNothingPerMessage(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var answered, unanswered []*message
	for i := range 200 {
		m := s.submit(fmt.Sprint(i))
		if i%2 == 0 {
			m.accept(fmt.Sprint(i))
			answered = append(answered, m)
		} else {
			unanswered = append(unanswered, m)
		}
	}
	puts, commits := r.puts, r.commits
	s.end(Reset, unackedAll(answered)...)
	s.endLeg()
	if r.puts != puts || r.commits > commits+2 {
		t.Errorf("%d entries and %d commits, want none and one for each end", r.puts-puts, r.commits-commits)
	}
	r.kill(time.Second) // and yet all is known
	s = r.bind("acme")
	for _, m := range answered {
		s.submit(m.text).isForwarded(0).isAnswered(m.text, Replay)
	}
	for _, m := range unanswered {
		s.submit(m.text).isForwarded(0).waits()
	}
}

func TestManyRestartsKeepWhatIsInDoubt(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = RefuseInDoubt })
	s := r.bind("acme")
	s.submit("A")
	s.submit("E", withID("e"))
	for range 10 {
		r.kill(time.Minute)
	}
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isSentBack()
	s.submit("E", withID("e")).isForwarded(0).isSentBack()
	if n := len(r.l.image.Live); n != 2 {
		t.Errorf("%d live records in the image, want 2", n)
	}
}

func TestARestartDoesNotMoveTheDeadlineOfWhatIsInDoubt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A")
	s.endBoth()
	r.at(30)
	r.kill(0)
	r.at(40)
	r.kill(0)
	s = r.bind("acme")
	r.at(59.9)
	s.submit("A").isForwarded(0)
	r.at(60)
	s.submit("A").isForwarded(1)
}

func TestAnExplicitKeyIsOneRecordWhateverBecomesOfItsAttempts(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("E", withID("e"))
	m.reject(0x58)
	s.submit("E", withID("e")).isForwarded(1)
	s.endBoth()
	s = r.bind("acme")
	r.at(60)
	s.submit("E", withID("e")).isForwarded(1)
	r.kill(0)
	s = r.bind("acme")
	s.submit("E", withID("e")).isForwarded(0).waits()
	r.at(120)
	m = s.submit("E", withID("e")).isForwarded(1)
	m.accept("77")
	m.isAnswered("77", Forward)
	r.kill(time.Hour)
	s = r.bind("acme")
	again := s.submit("E", withID("e")).isForwarded(0).isAnswered("77", Replay)
	if e, err := r.l.book.explicit(m.Key, r.l.book.account("acme")); err != nil || len(e.Attempts) != 4 {
		t.Errorf("record %+v, error %v; want one with 4 attempts", e, err)
	}
	s.end(Unbound, again.read())
}

func TestARestartBringsTheMomentOfBeingAbleToSubmitAgain(t *testing.T) {
	r := newRig(t)
	one, two := r.bind("acme"), r.bind("acme")
	m := one.submit("A")
	one.end(Reset) // another can submit: the window runs
	m.accept("77")
	r.at(300)
	r.kill(0)
	r.at(3000)
	r.bind("acme").submit("A").isForwarded(1)
	two.endBoth()
}

func TestWhatTheProcessLeftBoundWaitsForTheAccountToReturn(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	m.accept("77")
	m.isAnswered("77", Forward)
	unanswered := s.submit("B")
	r.kill(0)
	r.at(3000)
	s = r.bind("acme")
	r.at(3599)
	s.submit("B").isForwarded(1) // in doubt, past its deadline
	s.submit("A").isForwarded(1) // (d) runs from the loss
	unanswered.waits()
}

func TestAReplayIsDurableThoughAnOlderAttemptIsOpen(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A")
	r.at(660) // in doubt on a leg that lives
	again := s.submit("A").isForwarded(1)
	s.end(Reset)
	again.accept("77")
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
	r.wait(time.Second)
	r.kill(time.Second)
	r.bind("acme").submit("A").isForwarded(1) // it was read
}

func TestWhatWasNeverSentIsDurableThoughAnOlderAttemptIsInDoubt(t *testing.T) {
	for name, spoil := range map[string]func(*rig, *binding, *message){
		"withdrawn":                  func(r *rig, _ *binding, m *message) { r.l.Unsent(m.last, false); r.run() },
		"the leg ended before it":    func(r *rig, s *binding, _ *message) { s.endLeg(); r.release(nil) },
		"its intent was not written": func(r *rig, _ *binding, _ *message) { r.release(errDisk); r.wait(retryEvery) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			s.submit("A")
			s.endBoth()
			r.at(60)
			s = r.bind("acme")
			r.hang = name != "withdrawn"
			m := s.submit("A")
			spoil(r, s, m)
			r.kill(time.Second)
			r.bind("acme").submit("A").isForwarded(1) // only the first attempt is in doubt, and past its deadline
		})
	}
}

func TestTheEndOfALegDecidesTheDeadlineAlsoOfWhatWasOverdueOnIt(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		r.at(130)
		m.isSentBack() // overdue, in doubt, and written down so
		r.at(300)
		s.endBoth()
		if restart {
			r.kill(0)
		}
		s = r.bind("acme")
		r.at(359)
		s.submit("A").isForwarded(0)
		r.at(360)
		s.submit("A").isForwarded(1)
	}
}

func TestSessionsThatEndWithTheProcessDoNotSubmitForEachOther(t *testing.T) {
	r := newRig(t)
	for range 5 {
		r.bind("acme").submit("A")
	}
	r.kill(0)
	r.wait(time.Minute)
	r.kill(0) // nobody was there in between
	for id, s := range r.l.image.Sessions {
		if s.Again != 0 {
			t.Errorf("session %v: the account could submit again at %v, but nobody came back", id, s.Again.Sub(r.started))
		}
	}
}

func TestTheAnswerToASecondAttemptIsKnownAtOnceThoughTheFirstIsOpen(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A", withID("a"))
	r.at(660) // in doubt on a leg that lives
	again := s.submit("A", withID("a")).isForwarded(1)
	again.accept("77")
	again.isAnswered("77", Forward)
	r.look("acme", "77", again.Destination, 0)
	if got := r.found["77"]; len(got) != 1 || !got[0].Known {
		t.Errorf("its receipt finds %v", got)
	}
	r.kill(time.Second)
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
}

func TestAfterARestartTheWindowRunsFromTheReturnOfTheAccount(t *testing.T) {
	for _, c := range []struct {
		after    time.Duration // of the return
		absorbed bool
	}{{10 * time.Minute, true}, {10*time.Minute + 1, false}} {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		s.end(Reset)
		m.accept("77")
		r.kill(time.Second)
		r.at(1000)
		s = r.bind("acme")
		r.wait(c.after)
		again := s.submit("A")
		if c.absorbed {
			again.isForwarded(0).isAnswered("77", Replay)
		} else {
			again.isForwarded(1)
		}
	}
}

func TestARecordThatWasLetGoOfTwiceComesBackOnce(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	m.accept("77") // let go of
	s.end(Reset, m.unacked())
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isAnswered("77", Replay) // and again
	r.kill(0)
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
	s.submit("A").isForwarded(1)
}
