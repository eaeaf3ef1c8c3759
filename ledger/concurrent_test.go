package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// testAgain lets the same options open a second ledger: its metrics need another registry.
func testAgain(o Options) Options {
	o.Metrics = prometheus.NewRegistry()
	return o
}

// TestManyGoroutinesUseALedgerAtOnce has sessions come and go, with answers, withdrawals and look-ups from other goroutines, and
// a restart. No claim hears two answers; the race detector sees the rest.
func TestManyGoroutinesUseALedgerAtOnce(t *testing.T) {
	o := testOptions(t, t.TempDir())
	for round := range 2 {
		seed := rand.Uint64()
		t.Logf("round %d, seed %d", round, seed)
		l, err := Open(context.Background(), testAgain(o))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for w := range 6 {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			all.Go(func() {
				for range 8 {
					client(t, l, random)
				}
			})
		}
		all.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A stray is a claim whose attempts are settled, withdrawn or let be by other goroutines.
type stray struct {
	Claim
	l       *Ledger
	random  *rand.Rand // of the ledger's goroutine, here
	answers atomic.Int32
	t       *testing.T
	later   *sync.WaitGroup
	tickets chan *Ticket
}

func (s *stray) Forward(n Number, _ Time) (uint32, bool) {
	switch fate := s.random.IntN(10); fate {
	case 0:
		return 0, false
	case 1:
	case 2, 3:
		s.later.Go(func() { s.l.Unsent(n, fate == 2) })
	case 4:
		s.later.Go(func() { s.l.Settle(n, Response{Status: 0x58}) })
	default:
		s.later.Go(func() { s.l.Settle(n, accepted(fmt.Sprint(n))); s.l.Settle(n, accepted("again")) })
	}
	return uint32(n), true
}

func (s *stray) Question(other SessionID) { s.l.Trust(other) }

func (s *stray) Answer(a Answer) {
	if s.answers.Add(1) > 1 {
		s.t.Errorf("answered again: %+v", a)
	}
	if a.Ticket != nil {
		select {
		case s.tickets <- a.Ticket:
		default:
		}
	}
}

func client(t *testing.T, l *Ledger, random *rand.Rand) {
	var later sync.WaitGroup
	account := fmt.Sprint("account ", random.IntN(3))
	h := l.Hasher(account)
	session := l.OpenSession(account, true)
	leg := l.OpenLeg()
	tickets := make(chan *Ticket, 100)
	heard := make(chan Found, 100)
	for i := range 40 {
		s := &stray{l: l, t: t, later: &later, tickets: tickets, random: rand.New(rand.NewPCG(random.Uint64(), 0))}
		text := fmt.Sprint("text ", random.IntN(20))
		f := h.Fingerprint([]byte(text))
		s.Submission = Submission{Session: session, Leg: leg, Sequence: uint32(i), At: l.Now(), Key: h.Content(f), Fingerprint: f}
		if random.IntN(2) == 0 {
			s.Key = h.Explicit(0x1402, []byte(text), nil, 0, 0)
		}
		s.Waiter = s
		l.Claim(&s.Claim)
		l.Lookup(account, &Receipt{ID: []byte(fmt.Sprint(random.IntN(100))), Destination: s.Destination}, time.Duration(random.IntN(2))*time.Millisecond, func(f Found) { heard <- f })
	}
	for range 40 {
		<-heard
	}
	end := End{At: l.Now(), How: HowEnded(random.IntN(5))}
	for len(tickets) > 0 {
		end.Answers = append(end.Answers, Answered{Ticket: <-tickets, At: l.Now()})
	}
	over := make(chan bool)
	if random.IntN(2) == 0 {
		l.CloseLeg(leg)
		l.CloseSession(session, end, func() { close(over) })
	} else {
		l.CloseSession(session, end, func() { close(over) })
		l.CloseLeg(leg)
	}
	<-over
	later.Wait()
}
