package ledger

import "slices"

// An ESME whose host has vanished still looks bound. While it is asked for a sign of life, nobody knows whether an equal submission of another session of its
// account is new, or repeats what it was not answered: the submission is stalled, outside of every queue, until that is known.

// suspect says that the ESME of a session may be dead, and has perhaps not read some answers.
func (b *book) suspect(id SessionID, unread []*Ticket) {
	s := b.sessions[id]
	if s == nil {
		return
	}
	if s.unread == nil {
		s.unread = map[Key][]*Ticket{}
		s.account.suspected = append(s.account.suspected, s)
	}
	for _, t := range unread {
		s.mayMiss(t)
	}
	for _, c := range s.claims {
		if c.answer != nil {
			s.mayMiss(c.answer.Ticket)
		}
	}
}

// trust says that it lives.
func (b *book) trust(id SessionID, now Time) {
	if s := b.sessions[id]; s != nil {
		b.clear(s, now)
	}
}

// mayMiss notes an answer that a suspected ESME may not read. Who has lost it sends all parts of its message again.
func (s *session) mayMiss(t *Ticket) {
	if t == nil || s == nil || s.unread == nil {
		return
	}
	s.unread[t.e.Key] = append(s.unread[t.e.Key], t)
	if g := t.e.group; g != nil {
		for _, e := range g.parts {
			if e != t.e {
				s.unread[e.Key] = append(s.unread[e.Key], t)
			}
		}
	}
}

// clear ends a suspicion, and decides what it has stalled.
func (b *book) clear(s *session, now Time) {
	if s.unread == nil {
		return
	}
	s.unread = nil
	a := s.account
	a.suspected = slices.DeleteFunc(a.suspected, func(o *session) bool { return o == s })
	stalled := a.stalled
	a.stalled = nil
	b.stalled -= len(stalled)
	for _, c := range stalled {
		b.consider(c, false, now)
	}
	b.countHeld()
}

// question suspects the sessions that were not answered what c equals, or so lately that they may not have read it, and tells whether there
// are any. A client that has several sessions repeats what one has lost in the others at once, which may be before the end of that one is seen.
func (b *book) question(c *Claim) (any bool) {
	a := c.session.account
	if c.asked || a.submitters < 2 || b.trusting(c) {
		return false
	}
	ask := func(s *session) {
		if s == c.session || !s.bound() {
			return
		}
		if any = true; s.unread == nil { // else it is being asked
			b.suspect(s.id, nil)
			c.Waiter.Question(s.id)
		}
	}
	key := contentKey(c.Fingerprint)
	ask(a.recent.of(key))
	for e := b.index[key]; e != nil; e = e.next {
		if e.owedTo(e.session) {
			ask(e.session)
		}
		if e.group == nil {
			continue
		}
		for _, o := range e.group.parts {
			if o != e && o.owedTo(o.session) {
				ask(o.session)
			}
		}
	}
	return any
}

// trusting tells that it does not matter to c who lives.
func (b *book) trusting(c *Claim) bool {
	p := &c.session.account.policy
	return p.Mode == Observe || b.unprotected(c.session.account) || !p.Content || c.Key.Explicit && b.voided[c.Key.Value] == 0
}

// stall lets c wait until no suspected ESME is concerned.
func (b *book) stall(c *Claim) {
	c.asked = true
	a := c.session.account
	a.stalled = append(a.stalled, c)
	b.stalled++
	b.countHeld()
}

// unstall drops those whose own session has ended.
func (b *book) unstall(a *account) {
	b.stalled -= len(a.stalled)
	a.stalled = slices.DeleteFunc(a.stalled, func(c *Claim) bool { return c.session == nil })
	b.stalled += len(a.stalled)
	b.countHeld()
}

// isStalled tells whether c equals what a suspected ESME was not answered, or perhaps has not read; c of a long message also where
// another part of it does.
func (b *book) isStalled(c *Claim) bool {
	a := c.session.account
	if len(a.suspected) == 0 || b.trusting(c) {
		return false
	}
	key := contentKey(c.Fingerprint)
	for _, s := range a.suspected {
		if s == c.session {
			continue
		}
		if slices.ContainsFunc(s.unread[key], func(t *Ticket) bool { return t.standsFor(t.e) }) {
			return true
		}
		for e := b.index[key]; e != nil; e = e.next {
			if e.owedTo(s) || e.group != nil && slices.ContainsFunc(e.group.parts, func(o *entry) bool { return o.owedTo(s) }) {
				return true
			}
		}
	}
	return c.Part.long() && slices.ContainsFunc(a.stalled, func(o *Claim) bool {
		return o.Part.Group == c.Part.Group && o.reference == c.reference
	})
}

// owedTo tells that s waits for the answer to e.
func (e *entry) owedTo(s *session) bool { return e.session == s && e.Standing.Answered == 0 }

// standsFor tells that the submission whose answer t is still stands for its record, which e has.
func (t *Ticket) standsFor(e *entry) bool {
	s := &e.Standing
	return s.Session == t.session && s.Sequence == t.sequence && s.At == t.at && s.Answered == t.answered
}

// countHeld tells how many submissions wait for evidence.
func (b *book) countHeld() { b.m.held.Set(float64(len(b.holds) + b.stalled)) }
