package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestNUnansweredCopiesAbsorbExactlyN(t *testing.T) {
	for name, during := range map[string]func(*rig, *binding, []*message){
		"accepted before the break":  func(_ *rig, s *binding, all []*message) { acceptAll(all); s.end(Reset, unackedAll(all)...) },
		"accepted after the break":   func(_ *rig, s *binding, all []*message) { s.end(Reset); acceptAll(all) },
		"accepted, and the leg died": func(_ *rig, s *binding, all []*message) { s.end(Reset); acceptAll(all); s.endLeg() },
		"accepted, then killed":      func(r *rig, s *binding, all []*message) { s.end(Reset); acceptAll(all); r.kill(0) },
		"accepted and answered into a dead leg, then killed": func(r *rig, s *binding, all []*message) {
			acceptAll(all)
			s.end(Reset, unackedAll(all)...)
			r.kill(0)
		},
		"accepted within 200 ms of a kill": func(r *rig, _ *binding, all []*message) { acceptAll(all); r.kill(0) },
		"answers never written":            func(_ *rig, s *binding, all []*message) { acceptAll(all); s.end(Vanished, unwrittenAll(all)...) },
		"answers never written, then killed": func(r *rig, s *binding, all []*message) {
			acceptAll(all)
			s.end(Vanished, unwrittenAll(all)...)
			r.kill(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= 5; n++ {
				r := newRig(t)
				s := r.bind("acme")
				var all []*message
				for range n {
					all = append(all, s.submit("code 1234").isForwarded(1))
				}
				during(r, s, all)
				s = r.bind("acme")
				var ids []string
				for range n {
					m := s.submit("code 1234").isForwarded(0)
					ids = append(ids, string(m.answer().Body))
				}
				slices.Sort(ids)
				if len(slices.Compact(ids)) != n {
					t.Errorf("%d copies were answered with %q, want each id once", n, ids)
				}
				s.submit("code 1234").isForwarded(1)
				s.submit("code 1234").isForwarded(1)
			}
		})
	}
}

func acceptAll(all []*message) {
	for i, m := range all {
		m.accept(fmt.Sprint(100 + i))
	}
}

func unackedAll(all []*message) (list []Answered) {
	for _, m := range all {
		list = append(list, m.unacked())
	}
	return list
}

func unwrittenAll(all []*message) (list []Answered) {
	for _, m := range all {
		list = append(list, m.unwritten())
	}
	return list
}

func TestCopiesInFlightAreJoinedOneByOne(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	one, two := s.submit("A"), s.submit("A")
	s.end(Reset)
	s = r.bind("acme")
	again := []*message{s.submit("A").isForwarded(0), s.submit("A").isForwarded(0)}
	s.submit("A").isForwarded(1)
	two.accept("2")
	one.accept("1")
	again[0].isAnswered("1", Replay)
	again[1].isAnswered("2", Replay)
}

func TestAReplayThatIsLostAbsorbsOnceMore(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	s.end(Reset)
	m.accept("77")
	for range 5 {
		s = r.bind("acme")
		again := s.submit("A").isForwarded(0).isAnswered("77", Replay)
		s.end(Reset, again.unacked())
		r.wait(time.Minute)
	}
	r.at(599)
	s = r.bind("acme")
	m = s.submit("A").isForwarded(0).isAnswered("77", Replay)
	s.end(Reset, m.unacked())
	r.at(601) // the time runs from the first loss
	r.bind("acme").submit("A").isForwarded(1)
}

func TestTheTimeFromTheFirstLossOutlivesARestart(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	s.end(Reset)
	m.accept("77")
	s = r.bind("acme")
	r.at(500)
	again := s.submit("A").isForwarded(0).isAnswered("77", Replay)
	s.end(Reset, again.unacked())
	r.kill(time.Second)
	s = r.bind("acme")
	r.at(590)
	again = s.submit("A").isForwarded(0).isAnswered("77", Replay)
	s.end(Reset, again.unacked())
	r.kill(time.Second)
	r.at(661)
	r.bind("acme").submit("A").isForwarded(1)
}

func TestThatAReplayWasReadOutlivesARestart(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	s.end(Reset)
	m.accept("77")
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
	r.wait(time.Second)
	r.kill(0)
	r.bind("acme").submit("A").isForwarded(1)
}

func TestAnAnswerThatTheProxyCouldNotQueueIsThereForTheRepeat(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		m.accept("77")
		s.end(Reset)
		r.l.Undelivered(m.ticket())
		r.run()
		if restart {
			r.kill(time.Second)
		}
		s = r.bind("acme")
		again := s.submit("A").isForwarded(0).isAnswered("77", Replay)
		s.submit("A").isForwarded(1)
		r.l.Undelivered(m.ticket()) // its place is taken
		r.run()
		s.submit("A").isForwarded(1)
		s.end(Closed, again.read())
	}
}

func TestARejectionIsNeverReplayed(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A", withID("a"))
	m.reject(0x450)
	m.isRefused(0x450, Forward)
	for range 20 {
		m = s.submit("A", withID("a")).isForwarded(1)
		m.reject(0xFE)
		m.isRefused(0xFE, Forward)
	}
	m = s.submit("A", withID("a")).isForwarded(1)
	m.settle(Response{Nack: true, Status: 0x03, Body: []byte{}})
	if a := m.answer(); !a.Nack || a.Status != 0x03 {
		t.Errorf("answer %+v, want generic_nack with status 3", a)
	}
	m = s.submit("A", withID("a")).isForwarded(1)
	m.accept("77")
	m.isAnswered("77", Forward)
	s.submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
}

func TestAnExplicitKeyIsKnownFromTheStoreLongAfterItsAnswer(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A", withID("a"))
	m.accept("77")
	r.wait(time.Hour)
	if len(r.l.book.index) != 0 {
		t.Errorf("%d records live, want none", len(r.l.book.index))
	}
	s.submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
	r.kill(time.Hour)
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
	r.until(m.At.Add(24 * time.Hour))
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("77", Replay)
	r.wait(1)
	r.bind("acme").submit("A", withID("a")).isForwarded(1)
}

func TestAnIDMayBeUsedAgainWithAnotherTextAfterItsWindow(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A", withID("a")).accept("1")
	r.wait(24*time.Hour + 1)
	m := s.submit("B", withID("a")).isForwarded(1)
	m.accept("2")
	s.submit("B", withID("a")).isForwarded(0).isAnswered("2", Replay)
	if got := r.metric("smpponce_key_mismatches_total"); got != 0 {
		t.Errorf("mismatches %v, want none", got)
	}
}

func TestARecordUnderAConstantIDFallsUnderContentRules(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			m := s.submit("A", withID("constant"))
			s.submit("B", withID("constant")).isForwarded(1)
			s.end(Reset)
			m.accept("1")
			if restart {
				r.kill(time.Second)
			}
			s = r.bind("acme")
			s.submit("A", withID("constant")).isForwarded(0).isAnswered("1", Replay)
			s.submit("A", withID("constant")).isForwarded(1)
			s.submit("C", withID("constant")).isForwarded(1)
		})
	}
}

func TestAMismatchIsRefusedWhereThePolicySaysSo(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnMismatch = MismatchRefuse })
	s := r.bind("acme")
	s.submit("A", withID("a")).accept("1")
	s.submit("B", withID("a")).isForwarded(0).isRefused(0xC4, Refuse)
	if got := r.metric(`smpponce_submissions_total{verdict="refuse"}`); got != 1 {
		t.Errorf("refused %v, want 1", got)
	}
}

func TestContentOffForwardsAllButExplicitKeys(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Content = false })
	s := r.bind("acme")
	m, e := s.submit("A"), s.submit("E", withID("e"))
	s.end(Reset)
	m.accept("1")
	e.accept("2")
	s = r.bind("acme")
	s.submit("A").isForwarded(1)
	s.submit("E", withID("e")).isForwarded(0).isAnswered("2", Replay)
}

func TestAccountsDoNotKnowOfEachOther(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m, e := s.submit("A"), s.submit("E", withID("e"))
	s.end(Reset)
	m.accept("1")
	e.accept("2")
	other := r.bind("other")
	other.submit("A").isForwarded(1)
	other.submit("E", withID("e")).isForwarded(1)
	r.look("other", "1", m.Destination, 0)
	if got := r.found["1"]; len(got) != 1 || got[0].Known {
		t.Errorf("another account finds %v", got)
	}
}

func TestTheEqualScheduleIsTakenFirst(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	at := r.now.Std().Unix()
	one, two, three := s.submit("A", scheduled(at+7200)), s.submit("A", scheduled(at+7260)), s.submit("A", scheduled(at+9000))
	s.end(Reset)
	one.accept("1")
	two.accept("2")
	three.accept("3")
	s = r.bind("acme")
	s.submit("A", scheduled(at+9000)).isAnswered("3", Replay)
	s.submit("A", scheduled(at+7260)).isAnswered("2", Replay)
	s.submit("A", scheduled(at+9000)).isForwarded(1)
	s.submit("A", scheduled(at+7800)).isAnswered("1", Replay)
}

func TestASweepForgetsNothingThatTheEndOfItsSessionWouldAbandon(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(123)
	m.isSentBack() // in doubt; it goes on standing for its record
	m.accept("77")
	r.at(780) // content_window after client_timeout is over
	s.end(Reset)
	r.bind("acme").submit("A").isForwarded(0).isAnswered("77", Replay)
}

// A session that ends while the answer it is to get is still being committed was told nothing: a repeat in the next session must be
// found abandoned before the commit is through.
func TestAnAnswerThatIsBeingCommittedWhenItsSessionEndsWasNotGiven(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.hang = true
	m.accept("77")
	s.end(Reset)
	s = r.bind("acme")
	again := s.submit("A")
	r.release(nil)
	again.isForwarded(0).isAnswered("77", Replay)
}

func TestATicketOpensThePlaceOfItsOwnSubmissionOnly(t *testing.T) {
	t.Run("another session stands there", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		m.accept("77")
		s.end(Reset, m.unacked())
		s = r.bind("acme")
		again := s.submit("A").isForwarded(0).isAnswered("77", Replay)
		s.end(Unbound, again.read())
		r.l.Undelivered(m.ticket())
		r.run()
		r.bind("acme").submit("A").isForwarded(1)
	})
	t.Run("one of the same session, answered at the same time", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		r.at(61)
		m.accept("77")
		again := s.submit("A").isForwarded(0).isAnswered("77", Replay)
		s.end(ByProxy, m.unacked(), again.read())
		r.bind("acme").submit("A").isForwarded(1)
	})
}
