package ledger

import (
	"fmt"
	"testing"
	"time"
)

// CASES 8.
func TestAReceiptOfAnUntoldMessageFollowsTheAnswerThatTellsIt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	s.end(Closed)
	r.at(0.5)
	m.accept("77")
	r.at(1)
	q := r.ask(m.receipt("77"), 3*time.Second).waits()
	r.at(10)
	s = r.bind("acme")
	r.at(10.1)
	q.waits()
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
	if q.isKnownAs("77"); q.answers != 1 {
		t.Errorf("told after %d answers, want 1", q.answers)
	}
	r.ask(m.receipt("77"), 3*time.Second).isKnownAs("77")
}

func TestAReceiptOfAnUntoldMessageWaitsNoLongerThanItMay(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*rig)
		until   float64
		before  bool // it can submit already
	}{
		"race_wait where the account could submit before":       {func(r *rig) {}, 4, true},
		"race_wait where the account can submit":                {func(r *rig) { r.bind("acme") }, 4, false},
		"race_wait from when it can submit again":               {func(r *rig) { r.at(20); r.bind("acme") }, 23, false},
		"a receiver does not count":                             {func(r *rig) { r.at(20); r.bindAs("acme", false) }, 61, false},
		"response_timeout where it cannot":                      {func(*rig) {}, 61, false},
		"response_timeout though it can submit a moment before": {func(r *rig) { r.at(60.5); r.bind("acme") }, 61, false},
		"nor does another account":                              {func(r *rig) { r.bind("other") }, 61, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			m := s.submit("A")
			s.end(Closed)
			m.accept("77")
			if c.before {
				r.bind("acme")
			}
			r.at(1)
			q := r.ask(m.receipt("77"), 3*time.Second).waits()
			c.happens(r)
			r.at(c.until - 0.001)
			q.waits()
			r.at(c.until)
			q.isKnownAs("77")
			if b := r.l.book; b.parked != 0 || len(b.lookups) != 0 {
				t.Errorf("%d parked, %d look-ups", b.parked, len(b.lookups))
			}
		})
	}
}

func TestWhichReceiptsWaitForAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		policy  func(*Policy)
		happens func(*rig, *binding)
		waits   bool
	}{
		"unanswered, and its session ended": {nil, func(_ *rig, s *binding) {
			m := s.submit("A")
			s.end(Closed)
			m.accept("77")
		}, true},
		"a request id's, unanswered, and its session ended": {nil, func(_ *rig, s *binding) {
			m := s.submit("A", withID("a"))
			s.end(Closed)
			m.accept("77")
		}, true},
		"answered": {nil, func(_ *rig, s *binding) { s.submit("A").accept("77") }, false},
		"answered and read": {nil, func(_ *rig, s *binding) {
			m := s.submit("A")
			m.accept("77")
			s.end(Closed, m.read())
		}, false},
		"answered, and not acknowledged": {nil, func(_ *rig, s *binding) {
			m := s.submit("A")
			m.accept("77")
			s.end(Vanished, m.unacked())
		}, true},
		"answered, and not acknowledged, before a restart": {nil, func(r *rig, s *binding) {
			m := s.submit("A")
			m.accept("77")
			s.end(Vanished, m.unacked())
			r.kill(time.Second)
		}, true},
		"answered, and never written": {nil, func(_ *rig, s *binding) {
			m := s.submit("A")
			m.accept("77")
			s.end(Vanished, m.unwritten())
		}, true},
		"answered, and never written, before a restart": {nil, func(r *rig, s *binding) {
			m := s.submit("A")
			m.accept("77")
			s.end(Vanished, m.unwritten())
			r.kill(time.Second)
		}, true},
		"answered as good as never": {nil, func(r *rig, s *binding) {
			m := s.submit("A")
			r.hang = true
			m.accept("77")
			s.end(Closed)
			r.release(nil)
		}, true},
		"answered within 200 ms of a kill": {nil, func(r *rig, s *binding) {
			s.submit("A").accept("77")
			r.kill(0)
		}, true},
		"replayed": {nil, func(r *rig, s *binding) {
			m := s.submit("A")
			m.accept("77")
			s.end(Vanished, m.unwritten())
			r.bind("acme").submit("A").isAnswered("77", Replay)
		}, false},
		"its time is over": {nil, func(r *rig, s *binding) {
			m := s.submit("A")
			s.end(Closed)
			m.accept("77")
			r.bind("acme")
			r.wait(12 * time.Minute)
		}, false},
		"nothing will be repeated": {func(p *Policy) { p.Content = false }, func(_ *rig, s *binding) {
			m := s.submit("A")
			s.end(Closed)
			m.accept("77")
		}, false},
		"observe": {func(p *Policy) { p.Mode = Observe }, func(_ *rig, s *binding) {
			m := s.submit("A")
			s.end(Closed)
			m.accept("77")
		}, false},
		"not delivered": {nil, func(r *rig, s *binding) {
			m := s.submit("A")
			s.end(Closed)
			m.accept("77")
			r.l.Finished("acme", []byte("77"), Failed)
			r.run()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(_ *Options, p *Policy) {
				if c.policy != nil {
					c.policy(p)
				}
			})
			s := r.bind("acme")
			c.happens(r, s)
			m := r.messages[0]
			q := r.ask(m.receipt("77"), 3*time.Second)
			if got := len(q.found) == 0; got != c.waits {
				t.Fatalf("waits: %v, want %v", got, c.waits)
			}
			r.ask(m.receipt("77"), 0).isKnownAs("77") // race_wait: 0s
			r.wait(time.Minute)
			q.isKnownAs("77")
		})
	}
}

func TestReceiptsOfAnUntoldMessageKeepTheirOrder(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	var told []string
	ask := func(state string) {
		q := m.receipt("77", func(q *Receipt) { q.State = state })
		r.l.Lookup("acme", q, 3*time.Second, func(Found) { told = append(told, state) })
		r.run()
	}
	ask("enroute") // before its answer
	s.end(Closed)
	m.accept("77")
	ask("accepted")
	ask("delivered")
	r.bind("acme").submit("A").isAnswered("77", Replay)
	if fmt.Sprint(told) != "[enroute accepted delivered]" {
		t.Errorf("told %v", told)
	}
}

func TestReceiptsThatWaitForAnAnswerAreBounded(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	s.end(Closed)
	m.accept("77")
	told := 0
	for range maxParked + 5 {
		r.l.Lookup("acme", m.receipt("77"), time.Second, func(Found) { told++ })
	}
	r.run()
	if told != 5 {
		t.Errorf("%d told at once, want the 5 beyond the bound", told)
	}
	r.bind("acme").submit("A").isAnswered("77", Replay)
	if told != maxParked+5 {
		t.Errorf("%d told", told)
	}
}

func TestAReceiptThatWaitedForAnAnswerNobodyGetsGoesOutWithIt(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Content = false })
	s := r.bind("acme")
	m := s.submit("A")
	q := r.ask(m.receipt("77"), 3*time.Second).waits()
	s.end(Closed)
	m.accept("77")
	q.isKnownAs("77")
}

// CASES 17, and the same where a receipt tells the first id.
func TestTheReceiptOfAnAttemptThatWasSettledLateGoesUnderTheToldID(t *testing.T) {
	for name, restart := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			first := r.lose("A", referring(5))
			r.at(61)
			second := r.bind("acme").submit("A", referring(6)).isForwarded(1)
			r.ask(first.receipt("1"), 0).isUnknown() // it may be the second's
			second.accept("2")
			second.isAnswered("2", Forward)
			if restart {
				r.wait(time.Second)
				r.kill(time.Second)
			}
			r.ask(first.receipt("1"), 0).isKnownAs("2")
			r.ask(second.receipt("2"), 0).isKnownAs("2")
			if restart {
				r.kill(time.Second)
			}
			r.ask(first.receipt("1"), 0).isKnownAs("2")
		})
	}
}
