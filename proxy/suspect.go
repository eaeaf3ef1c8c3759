package proxy

import (
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/ledger"
)

// ackMargin is how long an acknowledgement may have been under way before its sender died.
const ackMargin = 200 * time.Millisecond

// lookEvery is how often TCP is asked about a suspected ESME.
const lookEvery = 10 * time.Millisecond

// suspicion is that an ESME's host has vanished without a FIN. It was sent a probe; its kernel's acknowledgement says that it lives: a busy client
// answers late, but its kernel does not, and what it sends acknowledges as well. Input as such says nothing: it may have come before.
type suspicion struct {
	since time.Duration
	told  bool          // the ledger knows of it
	acked uint64        // octets that its TCP has acknowledged
	moved time.Duration // when these became more
	over  chan struct{} // closed when it is proved or disproved
	alive bool          // disproved; set before over is closed
}

// suspectOthers suspects the other sessions of the account which have something at stake: a client that has moved repeats that in
// this session. The ledger hears of it before it hears of any submission of s. Caller holds no lock.
func (s *session) suspectOthers() {
	if !s.canSubmit() {
		return
	}
	var others []*session
	s.p.mu.Lock()
	for o := range s.p.sessions {
		if o != s && o.systemID == s.systemID && o.protected() {
			others = append(others, o)
		}
	}
	s.p.mu.Unlock()
	for _, o := range others {
		o.suspectIt(false)
	}
}

// suspectIt begins a suspicion, if the ESME leg lives and something is at stake, or in any case. nil: it has not begun.
func (s *session) suspectIt(anyway bool) *suspicion {
	s.mu.Lock()
	if s.phase != bound || s.esme.over != going || s.told || s.esmeParted {
		s.mu.Unlock()
		return nil
	}
	if s.suspect != nil {
		defer s.mu.Unlock()
		return s.suspect
	}
	unread := s.unread()
	if s.open == 0 && s.untold == 0 && len(unread) == 0 && !anyway {
		s.mu.Unlock()
		return nil
	}
	q := &suspicion{since: s.now(), over: make(chan struct{})}
	q.acked, _ = s.esme.socket.acked()
	s.suspect = q
	s.probe(s.esme, q.since)
	s.esme.rouse()
	id := s.id
	s.mu.Unlock()
	if id != 0 {
		s.p.o.Ledger.Suspect(id, unread)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.told = true
	s.poke()
	return q
}

// Question is the ledger's: c equals what another session waits for. A pool's client repeats what one session has lost in its others at
// once, which may be before the end of that one is read, or known at all. One that has unbound repeats nothing, and neither does one
// that has its connection still and is about to hear of its end.
func (c *claim) Question(other ledger.SessionID) {
	o := c.s.p.sessionOf(other)
	if o == nil || o.suspectIt(true) != nil {
		return // the ledger has been told of its end, or will be told what comes out
	}
	o.mu.Lock()
	ending, parted := o.told || o.esme.over != going && !o.esmeParted, o.esmeParted
	o.mu.Unlock()
	if !ending && (parted || !o.esme.peerEnded()) {
		o.p.o.Ledger.Trust(other)
	}
}

// sessionOf finds a session by the ledger's name for it; nil: it is over.
func (p *Proxy) sessionOf(id ledger.SessionID) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		s.mu.Lock()
		found := s.id == id
		s.mu.Unlock()
		if found {
			return s
		}
	}
	return nil
}

// unread gives the answers that the ESME's TCP has not acknowledged, written or not. Caller holds the mutex.
func (s *session) unread() (tickets []*ledger.Ticket) {
	l := s.esme
	acked, _ := l.socket.acked()
	for _, a := range l.answers {
		if a.at == 0 || a.offset > acked {
			tickets = append(tickets, a.ticket)
		}
	}
	marks := l.out.marks
	if l.sending > 0 {
		marks = append(append([]mark(nil), l.batch.marks...), marks...)
	}
	for _, m := range marks {
		if m.ticket != nil {
			tickets = append(tickets, m.ticket)
		}
	}
	return tickets
}

// judge looks whether a suspicion is disproved (trusted: the ledger is to hear of it) or proved, which ends the ESME leg, and else when to look again. Caller
// holds the mutex.
func (s *session) judge(now time.Duration) (trusted bool, next time.Duration) {
	q, l := s.suspect, s.esme
	switch {
	case q == nil || s.told:
		return false, never
	case !q.told:
		return false, now + lookEvery
	case s.esmeParted: // it repeats nothing, and may wait long for its answers
		q.alive = true
		s.endSuspicion()
		return s.id != 0, now
	case l.over != going:
		return false, never
	}
	if acked, _ := l.socket.acked(); acked > q.acked {
		q.acked, q.moved = acked, now
	}
	unacked, known := l.unacknowledged()
	written := l.sending == 0 && l.out.empty() // the probe too
	switch {
	case l.peerEnded() && now-q.since < suspectTime:
		return false, now + lookEvery // its end is on its way to the reader
	case l.peerEnded():
		l.abort(silent)
		return false, never
	case !known, written && unacked == 0 && now-q.since >= lookEvery:
		q.alive = true
	case now-q.since < suspectTime:
		return false, now + lookEvery
	case unacked == 0:
		q.alive = true // it takes nothing now, so nothing was sent that could be acknowledged
	case q.moved > q.since+ackMargin:
		q.alive = true // slow, and not dead
	default:
		l.abort(silent)
		return false, never
	}
	s.endSuspicion()
	return s.id != 0, now
}

// endSuspicion lets those know who wait for it. Caller holds the mutex.
func (s *session) endSuspicion() {
	if s.suspect != nil {
		close(s.suspect.over)
		s.suspect = nil
	}
}

// isDead says whether the session's ESME has ended, or does not prove within suspectTime that it lives.
func (s *session) isDead() bool {
	q := s.suspectIt(true)
	if q == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.done && s.phase != opening && s.phase != contested && s.phase != refused
	}
	select {
	case <-q.over:
		return !q.alive
	case <-s.p.life.Done():
		return false
	}
}

// probe queues an enquire_link for l. Caller holds the mutex.
func (s *session) probe(l *leg, now time.Duration) {
	seq := l.requests.add(request{kind: probe, at: now, command: indexOf(data.ENQUIRE_LINK)})
	l.out.add(enquireLink, seq)
	s.t.out[l.side][indexOf(data.ENQUIRE_LINK)]++
	l.asked = seq
	if s.protected() {
		l.askedAt = s.p.o.Ledger.At(time.Now())
	}
}
