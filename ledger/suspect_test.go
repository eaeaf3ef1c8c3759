package ledger

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"
)

// suspect says that the ESME of b may be dead, and has perhaps not read the answers to some messages.
func (b *binding) suspect(unread ...*message) {
	b.r.Helper()
	var tickets []*Ticket
	for _, m := range unread {
		tickets = append(tickets, m.ticket())
	}
	b.r.l.Suspect(b.session, tickets)
	b.r.run()
}

func (b *binding) trust() {
	b.r.Helper()
	b.r.l.Trust(b.session)
	b.r.run()
}

func (r *rig) holds(want float64) {
	r.Helper()
	if got := r.metric("smpponce_held_submissions"); got != want {
		r.Errorf("%v submissions are held, want %v", got, want)
	}
}

func TestTheWindowOfAVanishedHostIsRepeatedAndNotSentAgain(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var window []*message
	for i := range 10 {
		window = append(window, s.submit(fmt.Sprint("text ", i)))
	}
	window[3].accept("3")
	moved := r.bind("acme")
	s.suspect(window[3])
	var again []*message
	for i := range 10 {
		again = append(again, moved.submit(fmt.Sprint("text ", i)).isForwarded(0).waits())
	}
	moved.submit("another text").isForwarded(1)
	r.holds(10)
	r.wait(2 * time.Second)
	s.end(Vanished, window[3].unacked())
	r.holds(0)
	for i, m := range window {
		if i != 3 {
			m.accept(fmt.Sprint(i))
		}
	}
	for i, m := range again {
		m.isForwarded(0).isAnswered(fmt.Sprint(i), Replay)
	}
}

func TestABusyClientsColleagueSendsTheSameTextOnPurpose(t *testing.T) {
	for _, answered := range []bool{false, true} {
		r := newRig(t)
		busy, colleague := r.bind("acme"), r.bind("acme")
		m := busy.submit("alarm")
		if answered {
			m.accept("1")
			busy.suspect(m)
		} else {
			busy.suspect()
		}
		second := colleague.submit("alarm").isForwarded(0).waits()
		third := colleague.submit("alarm").isForwarded(0).waits()
		r.wait(time.Second)
		busy.trust()
		second.isForwarded(1).accept("2")
		third.isForwarded(1).accept("3")
		second.isAnswered("2", Forward)
		third.isAnswered("3", Forward)
		colleague.submit("alarm").isForwarded(1)
		r.holds(0)
	}
}

func TestAnAnswerIntoADeadLegIsReplayed(t *testing.T) {
	for name, answer := range map[string]func(*rig, *binding, *message){
		"before the suspicion": func(r *rig, s *binding, m *message) {
			m.accept("77")
			r.at(26.3)
			s.suspect(m)
		},
		"after it": func(_ *rig, s *binding, m *message) {
			s.suspect()
			m.accept("77")
		},
		"decided before it, and written after it": func(r *rig, s *binding, m *message) {
			r.hang = true
			m.accept("77")
			s.suspect()
			r.release(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			r.at(22.1)
			m := s.submit("A")
			r.at(23.2)
			answer(r, s, m)
			m.isAnswered("77", Forward)
			moved := r.bind("acme")
			again := moved.submit("A").isForwarded(0).waits()
			r.at(28.3)
			s.end(Vanished, m.unacked())
			again.isForwarded(0).isAnswered("77", Replay)
			moved.submit("A").isForwarded(1)
		})
	}
}

func TestWhatIsStalledIsDecidedInOrder(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	one, two := s.submit("A"), s.submit("A")
	moved := r.bind("acme")
	s.suspect()
	var again []*message
	for range 3 {
		again = append(again, moved.submit("A").waits())
		r.wait(time.Millisecond)
	}
	s.end(Vanished)
	one.accept("1")
	two.accept("2")
	again[0].isForwarded(0).isAnswered("1", Replay)
	again[1].isForwarded(0).isAnswered("2", Replay)
	again[2].isForwarded(1)
}

func TestWhatNoSuspicionConcernsIsNotStalled(t *testing.T) {
	t.Run("another account", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.submit("A")
		s.suspect()
		r.bind("other").submit("A").isForwarded(1)
	})
	t.Run("the suspected session itself", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.submit("A")
		s.suspect()
		s.submit("A").isForwarded(1)
	})
	t.Run("a request id", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A", withID("a"))
		s.suspect()
		again := r.bind("acme").submit("A", withID("a")).isForwarded(0)
		m.accept("77")
		again.isAnswered("77", Replay)
	})
	t.Run("an answer that was read", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		m.accept("77")
		s.submit("B")
		s.suspect()
		r.bind("acme").submit("A").isForwarded(1)
	})
	t.Run("observe", func(t *testing.T) {
		r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
		s := r.bind("acme")
		s.submit("A")
		s.suspect()
		r.bind("acme").submit("A").isForwarded(1)
	})
	t.Run("content rules are off", func(t *testing.T) {
		r := newRig(t, func(_ *Options, p *Policy) { p.Content = false })
		s := r.bind("acme")
		s.submit("A")
		s.suspect()
		r.bind("acme").submit("A").isForwarded(1)
	})
	t.Run("bypass", func(t *testing.T) {
		r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
		s := r.bind("acme")
		s.submit("A")
		s.suspect()
		r.broken = errDisk
		other := r.bind("acme")
		other.submit("it cannot commit")
		other.submit("A").isForwarded(1)
	})
	t.Run("no suspicion any more", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.submit("A")
		s.suspect()
		s.trust()
		r.bind("acme").submit("A").isForwarded(1)
	})
}

func TestARequestIDThatProvedToBeNoneIsStalled(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A", withID("constant"))
	m := s.submit("B", withID("constant"))
	s.suspect()
	again := r.bind("acme").submit("B", withID("constant")).isForwarded(0).waits()
	s.end(Vanished)
	m.accept("77")
	again.isForwarded(0).isAnswered("77", Replay)
}

func TestTheEndOfItsOwnSessionDropsWhatIsStalled(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	s.suspect()
	moved, other := r.bind("acme"), r.bind("acme")
	gone := moved.submit("A").waits()
	stays := other.submit("A").waits()
	r.holds(2)
	moved.end(Reset)
	r.holds(1)
	s.end(Vanished)
	m.accept("77")
	gone.isForwarded(0).waits()
	stays.isForwarded(0).isAnswered("77", Replay)
}

func TestWhatTwoSuspicionsConcernWaitsForBoth(t *testing.T) {
	r := newRig(t)
	one, two := r.bind("acme"), r.bind("acme")
	a, b := one.submit("A"), two.submit("A")
	one.suspect()
	two.suspect()
	moved := r.bind("acme")
	first, second := moved.submit("A").waits(), moved.submit("A").waits()
	one.trust()
	first.isForwarded(0).waits()
	second.isForwarded(0).waits()
	two.end(Vanished)
	a.accept("1")
	b.accept("2")
	first.isForwarded(0).isAnswered("2", Replay)
	second.isForwarded(1)
}

func TestSuspectedSessionsThatRepeatEachOtherAreBothAnswered(t *testing.T) {
	r := newRig(t)
	one, two := r.bind("acme"), r.bind("acme")
	one.submit("A")
	two.submit("B")
	one.suspect()
	two.suspect()
	b, a := one.submit("B").waits(), two.submit("A").waits()
	one.trust()
	two.trust()
	a.isForwarded(1)
	b.isForwarded(1)
	r.holds(0)
}

func TestASuspectedMessageStallsAllItsParts(t *testing.T) {
	for _, vanished := range []bool{false, true} {
		for _, order := range orders {
			t.Run(fmt.Sprintf("%s, vanished %v", order, vanished), func(t *testing.T) {
				r := newRig(t)
				s := r.bind("acme")
				m := s.long("abc", 7, "123")
				m[1].accept("1")
				m[3].accept("3")
				r.wait(3 * time.Second)
				s.suspect()
				moved := r.bind("acme")
				again := moved.long("abc", 9, order)
				for _, m := range again {
					m.waits()
				}
				if !vanished {
					s.trust()
					r.hasGiven("7:1a,2b,3c 9:1a,2b,3c")
					return
				}
				s.end(Vanished, m[1].read(), m[3].read())
				m[2].accept("2")
				r.wait(time.Second)
				r.hasGiven("7:1a,2b,3c")
				for n, m := range again {
					m.isAnswered(fmt.Sprint(n), Replay)
				}
			})
		}
	}
	t.Run("which are at rest", func(t *testing.T) {
		for _, order := range orders {
			r := newRig(t)
			s := r.bind("acme")
			m := s.long("abc", 7, "123")
			m[1].accept("1")
			m[3].accept("3")
			r.wait(3 * time.Second)
			m[2].accept("2")
			s.suspect(m[2])
			again := r.bind("acme").long("abc", 9, order)
			s.end(Vanished, m[2].unacked())
			r.hasGiven("7:1a,2b,3c")
			for n, m := range again {
				m.isAnswered(fmt.Sprint(n), Replay)
			}
		}
	})
	t.Run("also those that it never had", func(t *testing.T) {
		r := newRig(t)
		s := r.bind("acme")
		s.long("abc", 7, "12")
		s.suspect()
		moved := r.bind("acme")
		moved.long("abc", 9, "123")
		r.hasGiven("7:1a,2b")
		s.end(Vanished)
		r.hasGiven("7:1a,2b,3c")
	})
}

func TestWhatIsStalledWhileTheDiskFailsIsRefusedAfterwards(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	s.submit("A")
	s.suspect()
	moved := r.bind("acme")
	again := moved.submit("A").waits()
	r.broken = errDisk
	moved.submit("B").isRefused(statusSystemError, Fail)
	moved.submit("A").isRefused(statusSystemError, Fail)
	s.end(Vanished)
	again.isForwarded(0).isRefused(statusSystemError, Fail)
}

func TestASuspicionEndsHoweverTheSessionDoes(t *testing.T) {
	for how := Unbound; how <= Vanished; how++ {
		r := newRig(t)
		s := r.bind("acme")
		m := s.submit("A")
		s.suspect()
		s.suspect()
		again := r.bind("acme").submit("A").waits()
		s.endLeg()
		s.end(how)
		r.wait(time.Hour)
		if len(again.answers) == 0 {
			t.Errorf("after %v nobody answers", how)
		}
		m.waits()
		s.suspect()
		s.trust()
		if a := r.l.book.accounts["acme"]; len(a.suspected)+len(a.stalled)+r.l.book.stalled != 0 {
			t.Errorf("after %v: %d suspected, %d stalled", how, len(a.suspected), len(a.stalled))
		}
	}
}

func TestASubmissionThatEqualsWhatAnotherSessionWaitsForAsksWhetherThatOneLives(t *testing.T) {
	for name, c := range map[string]struct {
		then     func(*binding, *message)
		forwards int
	}{
		"it has ended":      {func(s *binding, _ *message) { s.end(Reset) }, 0},
		"it lives":          {func(s *binding, _ *message) { s.trust() }, 1},
		"it is answered":    {func(s *binding, m *message) { m.accept("1"); s.trust() }, 1},
		"and loses it then": {func(s *binding, m *message) { m.accept("1"); s.end(Reset, m.unacked()) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var questioned []SessionID
			r.questioned = func(id SessionID) { questioned = append(questioned, id) }
			s, other := r.bind("acme"), r.bind("acme")
			m := s.submit("A")
			again := other.submit("A").isForwarded(0).waits()
			other.submit("B").isForwarded(1)
			if len(questioned) != 1 || questioned[0] != s.session {
				t.Errorf("asked about %v, want %v", questioned, s.session)
			}
			r.holds(1)
			c.then(s, m)
			again.isForwarded(c.forwards)
			r.holds(0)
			if len(questioned) != 1 {
				t.Errorf("asked %d times, want once", len(questioned))
			}
		})
	}
}

func TestASubmissionThatEqualsWhatAnotherSessionWasJustAnsweredAsksToo(t *testing.T) {
	r := newRig(t)
	asked := 0
	r.questioned = func(SessionID) { asked++ }
	s, other := r.bind("acme"), r.bind("acme")
	m := s.submit("A")
	m.accept("1")
	r.wait(time.Second)
	again := other.submit("A").isForwarded(0).waits()
	s.end(Reset, m.read())
	again.isForwarded(0).isAnswered("1", Replay)
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

func TestManyEqualMessagesAskOnce(t *testing.T) {
	r := newRig(t)
	asked := 0
	r.questioned = func(SessionID) { asked++ }
	s, other := r.bind("acme"), r.bind("acme")
	for range 10 {
		s.submit("A")
	}
	var more []*message
	for range 10 {
		more = append(more, other.submit("A").waits())
	}
	s.trust()
	for _, m := range more {
		m.isForwarded(1)
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

func TestAPartAsksAboutTheSessionThatWaitsForAnotherOfItsMessage(t *testing.T) {
	r := newRig(t)
	r.questioned = func(SessionID) {}
	s, other := r.bind("acme"), r.bind("acme")
	m := s.long("ab", 7, "12")
	m[1].accept("1")
	r.wait(time.Minute / 2)
	again := other.long("ab", 8, "12")
	s.end(Reset, m[1].read())
	m[2].accept("2")
	again[1].isAnswered("1", Replay)
	again[2].isAnswered("2", Replay)
	r.hasGiven("7:1a,2b")
}

func TestWhatIsRememberedOfTheLatestAnswersIsBounded(t *testing.T) {
	var r recent
	s := &session{account: &account{policy: testPolicy()}}
	settle, now := s.account.policy.Settle, rigStart
	key := func(i int) (k Key) { binary.BigEndian.PutUint64(k.Value[:], uint64(i)); return k }
	for i := range maxRecent + 10 {
		r.add(key(i), s, now)
	}
	if n := len(r.young); n != maxRecent || r.of(key(0)) != s || r.of(key(maxRecent)) != nil {
		t.Errorf("%d answers are remembered, want the first %d", n, maxRecent)
	}
	for i, want := range []*session{s, nil} {
		now = now.Add(settle + 1)
		r.add(key(-1), s, now)
		if got := r.of(key(0)); got != want {
			t.Errorf("after %d times settle: %v, want %v", i+1, got, want)
		}
	}
}

func TestNobodyAsksAboutItsOwnSessionOrOneThatWasAnsweredAWhileAgo(t *testing.T) {
	r := newRig(t)
	r.questioned = func(id SessionID) { t.Errorf("asked about %v", id) }
	s, other := r.bind("acme"), r.bind("acme")
	s.submit("A")
	s.submit("A").isForwarded(1)
	s.submit("B").accept("1")
	for range 2 {
		r.wait(2 * time.Second)
		s.submit("D").accept("2")
	}
	other.submit("B").isForwarded(1)
	other.submit("C", withID("x"))
	s.submit("C", withID("x")).isForwarded(0) // joined
	another := r.bind("another account")
	another.submit("A").isForwarded(1)
}

func TestWhoeverAsksAndLeavesIsForgotten(t *testing.T) {
	r := newRig(t)
	r.questioned = func(SessionID) {}
	s, other := r.bind("acme"), r.bind("acme")
	s.submit("A")
	again := other.submit("A").waits()
	other.end(Reset)
	r.holds(0)
	s.trust()
	again.isForwarded(0)
}
