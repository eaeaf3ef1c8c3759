package ledger

import "slices"

// give answers c with r, which is an acceptance or the answer to its own attempt, and writes down that it did.
func (b *book) give(c *Claim, r *Response, v Verdict, now Time) {
	e := c.e
	for i := range e.Attempts {
		if a := &e.Attempts[i]; a.State == Accepted && string(a.ID) == string(r.MessageID) {
			a.Told = true
		}
	}
	if e.standsFor(c) {
		e.Standing.Answered, e.Standing.Status = now, r.Status
	} else {
		for i := range e.beneath {
			if s := &e.beneath[i]; s.Session == c.Session && s.Sequence == c.Sequence && s.At == c.At {
				s.Answered, s.Status = now, r.Status
			}
		}
	}
	if e.group != nil {
		e.group.answered = now
	}
	if !r.accepted() {
		b.missed(c)
	}
	a := &Answer{Nack: r.Nack, Status: r.Status, Body: r.Body, Verdict: v}
	if r.accepted() && !e.Key.Explicit {
		a.Ticket = &Ticket{e: e, session: c.Session, sequence: c.Sequence, at: c.At, answered: now}
		if e.account.submitters > 1 {
			e.account.recent.add(e.Key, c.session, now)
		}
	}
	if f := b.flights[c.attempt]; f != nil {
		f.claim = nil
	}
	e.drop(c)
	b.reply(c, a)
	b.told(e, now)
}

// reply says the answer after the next commit. Until then the claim stays with its session, whose end would take the answer back.
func (b *book) reply(c *Claim, a *Answer) {
	c.session.mayMiss(a.Ticket)
	c.attempt, c.until, c.answer = 0, 0, a
	b.tell(effect{claim: c, answer: a})
}

// retry sends a submission back, or refuses it: it absorbs nothing, and the record stays as it is.
func (b *book) retry(c *Claim, e *entry, d *Decision, now Time) {
	status := e.account.policy.RetryStatus
	if d.Verdict == Refuse {
		status = statusInvalidExpiry
	}
	s := c.stand(d.Verdict, d.Reason)
	s.Answered, s.Status = now, status
	e.sendBack(c, s)
	b.missed(c)
	e.drop(c)
	b.reply(c, &Answer{Status: status, Verdict: d.Verdict})
	b.save(e)
}

// redecide decides anew for each submission that waits for e without an attempt of its own, oldest first. The first that is
// forwarded makes the rest joins. Those whose session has ended are off the list already; those whose own SMSC leg is gone
// cannot be forwarded.
func (b *book) redecide(e *entry, now Time) {
	p := &e.account.policy
	if p.Mode == Observe {
		for _, c := range slices.Clone(e.waiting) {
			if c.attempt == 0 && b.legs[c.Leg] != nil {
				b.attempt(e, c, now) // its verdict was too old
			}
		}
		return
	}
	for _, c := range slices.Clone(e.waiting) {
		w := e.situation()
		w.Waiting, w.HeldUntil = true, c.until
		d := Decide(&e.Record, &c.Submission, w, p, now)
		if c.attempt != 0 && d.Verdict != Replay {
			continue
		}
		switch {
		case d.Verdict == Forward && b.refuses(e.account):
			d.Verdict, d.Reason, d.Resent = Retry, ReasonUnwritable, false
		case d.Resent && c.tried:
			d.Verdict, d.Reason, d.Resent = Retry, ReasonDoubt, false // only a client sends again what may have been accepted
		}
		switch d.Verdict {
		case Forward:
			if b.legs[c.Leg] == nil {
				continue
			}
			b.announce(c, e, &d)
			if d.Resent {
				b.m.resent.Inc()
			}
			b.attempt(e, c, now)
		case Join:
			c.until = 0
		case Wait:
			if c.until == 0 {
				b.hold(c, d.Until)
			}
		case Replay:
			b.give(c, e.Answer, Replay, now)
		case Retry, Refuse:
			b.announce(c, e, &d)
			b.retry(c, e, &d, now)
		}
	}
}

// hold lets c wait for evidence until then.
func (b *book) hold(c *Claim, until Time) {
	c.e.Held = true
	c.until = until
	b.holds = append(b.holds, c)
	b.due = min(b.due, until)
	b.countHeld()
}
