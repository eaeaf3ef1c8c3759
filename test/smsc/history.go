package smsc

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"smpponce/test/wire"
)

// Submission is one submit_sm as the server received it.
type Submission struct {
	N          int // place in the order of arrival, from 1, over all connections
	At         time.Time
	Connection int // number of the connection, from 1
	Account    string
	Copy       int // 1 for the first accepted submission of this content, 2 for its first duplicate
	Frame      wire.Frame
	Message    wire.Message // zero where the body cannot be walked

	// Not yet known when a Script is asked.
	Accepted bool
	ID       string // the message id that it was given; "" where nothing was accepted
	Answered bool   // the answer was written, or was about to be, to a connection that still stood
	Receipt  bool   // its receipt was acknowledged with ESME_ROK
}

// Counts of what happened, since the start.
type Counts struct {
	Connections, Binds, RefusedBinds int
	Received                         int // submissions read and looked at
	Accepted, Rejected               int
	Untaken                          int // connection dropped before the submission was taken
	Answered                         int
	Duplicates                       int // accepted submissions whose content had been accepted before
	Drops                            int // connections ended by a script
	Receipts, Acknowledged           int // receipts shown, and acknowledged with ESME_ROK
	Bound                            int // binds that stand now
}

// content is the identity of a message to the person who gets it: sender, recipient and text,
// wherever in the PDU the text stands.
func content(account string, m *wire.Message) [sha256.Size]byte {
	var b []byte
	for _, s := range []string{account, m.Source.Number, m.Destination.Number, string(m.Payload())} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// Received is what came in so far, in the order of arrival: accepted, rejected and unanswered.
func (s *Server) Received() []Submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Submission, len(s.history))
	for i, r := range s.history {
		all[i] = *r
	}
	return all
}

// Duplicates is the number of accepted submissions whose content had been accepted before.
func (s *Server) Duplicates() int { return s.Counts().Duplicates }

// Counts is what happened so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	fast := int(s.fast.Load())
	c.Received, c.Accepted, c.Answered = c.Received+fast, c.Accepted+fast, c.Answered+fast
	for _, a := range s.accounts {
		c.Bound += len(a.bound)
	}
	return c
}

// Wait returns when cond holds; it is asked again after each event. The error is ctx's, with the
// counts of that moment. Submissions of a server that keeps nothing are not events.
func (s *Server) Wait(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the SMSC, %+v: %w", s.Counts(), ctx.Err())
		}
	}
}

// event wakes those who wait. Called with mu held.
func (s *Server) event() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// taken enters an arrival that the script lets in, and gives it its id. Called with mu held.
func (s *Server) taken(r *Submission, p *Plan) {
	s.counts.Received++
	if p.Status != wire.OK || p.Nack {
		s.counts.Rejected++
	} else {
		s.counts.Accepted++
		s.ids++
		r.Accepted, r.ID = true, string(s.o.IDs(nil, s.ids))
		if s.o.Keep != KeepNothing {
			s.contents[content(r.Account, &r.Message)]++
		}
		if r.Copy > 1 {
			s.counts.Duplicates++
		}
	}
	if s.o.Keep == KeepAll {
		s.history = append(s.history, r)
	}
	s.event()
}
