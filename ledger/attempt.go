package ledger

import (
	"slices"

	"go.uber.org/zap"
)

// open begins a record for a submission that repeats nothing, and its first attempt.
func (b *book) open(c *Claim, d *Decision, now Time) {
	e := &entry{account: c.session.account, session: c.session, volatile: b.unprotected(c.session.account)}
	e.Record = Record{
		Claimed:          now,
		Account:          e.account.name,
		Key:              c.Key,
		Fingerprint:      c.Fingerprint,
		Schedule:         c.Schedule,
		ReceiptRequested: c.ReceiptRequested,
		Source:           c.Source,
		Destination:      c.Destination,
		Several:          c.Several,
		Masked:           c.Masked,
		Reference:        c.Reference,
		Beginnings:       c.Beginnings,
		Part:             c.Part,
		Standing:         c.stand(Forward, d.Reason),
	}
	if c.group != nil && b.rewrites(e.account) {
		e.Part.Reference = c.group.as
	}
	if b.live >= maxLive {
		b.m.overflowed.Inc()
		b.blind(e.account, now)
	} else {
		b.enter(e)
	}
	c.e = e
	e.waiting = append(e.waiting, c)
	b.follow(c, e)
	b.attempt(e, c, now)
}

// attempt begins an attempt of e for c: its intent goes into the batch, and after the commit the proxy is told.
func (b *book) attempt(e *entry, c *Claim, now Time) {
	n := b.next
	if b.unprotected(e.account) {
		n = b.unwritten
		b.unwritten++
		b.m.bypassed.Inc()
		b.blind(e.account, now)
	} else {
		b.next++
		b.batch.begin(n, len(e.Attempts) > 0)
		b.batch.intents = true
	}
	if len(e.Attempts) == 0 {
		e.Number = n
	} else if len(e.Attempts) >= maxAttempts {
		e.forget()
	}
	e.Attempts = append(e.Attempts, Attempt{Number: n, Leg: c.Leg, At: now, State: InFlight})
	e.Released = false
	f := &flight{number: n, e: e, claim: c, at: now}
	b.due = min(b.due, now.Add(b.responseTimeout))
	b.launch(f, c.Leg)
	c.attempt, c.until, c.decided = n, 0, now
	if c.Part.Reference = c.reference; b.rewrites(e.account) {
		c.Part.Reference = e.Part.Reference
	}
	if c.group != nil {
		c.group.sent = true
	}
	b.recount(e)
	b.save(e)
	b.noteReference(e, c)
	b.tell(effect{claim: c, forward: n})
}

// launch and land keep what is under way findable: by number, by leg, by time, by destination.
func (b *book) launch(f *flight, id LegID) {
	b.flights[f.number] = f
	l := b.legs[id]
	if l == nil {
		// The leg ended before the claim was decided; the hand-over will fail, and say so.
		l = &leg{id: id}
	}
	f.leg, f.place = l, len(l.flights)
	l.flights = append(l.flights, f)
	if f.prev = b.newest; f.prev != nil {
		f.prev.next = f
	} else {
		b.oldest = f
	}
	b.newest = f
	f.e.flights++
	b.outstanding[f.e.Destination]++
}

func (b *book) land(f *flight) {
	delete(b.flights, f.number)
	last := len(f.leg.flights) - 1
	f.leg.flights[f.place] = f.leg.flights[last]
	f.leg.flights[f.place].place = f.place
	f.leg.flights[last] = nil
	f.leg.flights = f.leg.flights[:last]
	if f.due {
		last := len(b.overdue) - 1
		b.overdue[f.rank] = b.overdue[last]
		b.overdue[f.rank].rank = f.rank
		b.overdue[last] = nil
		b.overdue = b.overdue[:last]
		b.m.overdue.Set(float64(last))
	} else {
		b.unlist(f)
	}
	f.e.flights--
	b.named(f)
	if f.claim != nil {
		f.claim.attempt = 0
	}
}

// named says that the answer to f is not needed any more to know its id.
func (b *book) named(f *flight) {
	if f.named {
		return
	}
	f.named = true
	if n := b.outstanding[f.e.Destination] - 1; n > 0 {
		b.outstanding[f.e.Destination] = n
	} else {
		delete(b.outstanding, f.e.Destination)
	}
}

// unlist takes f off the list by time.
func (b *book) unlist(f *flight) {
	if f.prev != nil {
		f.prev.next = f.next
	} else {
		b.oldest = f.next
	}
	if f.next != nil {
		f.next.prev = f.prev
	} else {
		b.newest = f.prev
	}
	f.prev, f.next = nil, nil
}

// settle takes the SMSC's answer to attempt n.
func (b *book) settle(n Number, r *Response, now Time) {
	f := b.flights[n]
	if f == nil {
		return // answered before, or its leg has ended
	}
	e, a := f.e, f.e.attempt(n)
	if a.State == Accepted || a.State == Undelivered {
		b.confirm(f, a, r, now)
		return
	}
	doubted := e.State() == InDoubt
	a.Ended, a.Status, a.Nack, a.ID, a.Evidence = now, r.Status, r.Nack, r.MessageID, ByResponse
	if now.Sub(a.At) >= b.responseTimeout {
		a.Evidence = ByLate
		b.m.late.Inc()
	}
	a.State = Rejected
	if r.accepted() {
		a.State, a.key = Accepted, e.account.hasher.messageID(r.MessageID)
		if len(r.MessageID) == 0 {
			b.blind(e.account, now) // its receipts have an id that nobody knows
		}
		if e.Answer == nil {
			e.Answer = r
		}
	} else {
		a.ID = nil
	}
	c := f.claim
	b.land(f)
	b.m.outcomes[a.State].Inc()
	if doubted && e.State() != InDoubt {
		b.m.settled(a.Evidence).Inc()
	}
	if c != nil {
		b.respond(c, e, a, r, now)
	}
	b.redecide(e, now)
	b.note(e)
	b.rest(e)
	if a.State == Accepted {
		b.arrived(a.key, e, now)
	}
}

// note writes down what rest leaves to a later change, since other attempts are open or in doubt: an outcome, or that a
// submission was answered. Its answer goes out with this batch.
func (b *book) note(e *entry) {
	switch {
	case e.closed:
		b.save(e)
	case e.flights > 0 || len(e.waiting) > 0 || e.State() == InDoubt:
		b.save(e)
		b.keep(e)
	}
}

// respond gives the claim whose attempt was answered its answer, unless another attempt can still do better.
func (b *book) respond(c *Claim, e *entry, a *Attempt, r *Response, now Time) {
	state := e.State()
	switch {
	case a.State == Accepted, e.account.policy.Mode == Observe:
		b.give(c, r, Forward, now)
	case state == InFlight:
		// Another attempt is under way: the claim waits for that one.
	case state == InDoubt:
		// A rejection says nothing about the attempt in doubt: this submission absorbs nothing.
		s := c.stand(Forward, ReasonRejected)
		s.Answered, s.Status = now, r.Status
		e.sendBack(c, s)
		b.missed(c)
		e.drop(c)
		b.reply(c, &Answer{Nack: r.Nack, Status: r.Status, Body: r.Body})
	default:
		b.give(c, r, Forward, now)
	}
}

// unsent takes back an attempt that never reached the socket. again: its verdict was too old; else its leg is gone.
func (b *book) unsent(n Number, again bool, now Time) {
	f := b.flights[n]
	if f == nil {
		return
	}
	e, a := f.e, f.e.attempt(n)
	a.State, a.Evidence, a.Ended = NeverSent, ByUnsent, now
	c := f.claim
	b.land(f)
	b.m.outcomes[NeverSent].Inc()
	if c != nil {
		c.tried = false
	}
	if c != nil && !again {
		e.drop(c) // its session is about to end, unanswered
	}
	b.redecide(e, now)
	b.note(e)
	b.rest(e)
}

// failIntent takes back an attempt whose intent could not be committed: it was never sent, whatever the disk says.
func (b *book) failIntent(n Number, now Time) {
	f := b.flights[n]
	if f == nil {
		return
	}
	e, a := f.e, f.e.attempt(n)
	a.State, a.Evidence, a.Ended = NeverSent, ByCommit, now
	c := f.claim
	b.land(f)
	b.m.outcomes[NeverSent].Inc()
	if c != nil {
		s := c.stand(Fail, ReasonUnwritable)
		s.Answered, s.Status = now, statusSystemError
		b.missed(c)
		if e.standsFor(c) && len(e.beneath) == 0 {
			e.Standing = s
		} else {
			e.sendBack(c, s)
		}
		e.drop(c)
		b.reply(c, &Answer{Status: statusSystemError, Verdict: Fail})
	}
	b.redecide(e, now)
	b.note(e)
	b.rest(e)
}

// openLeg and closeLeg mark the life of an SMSC leg. Where it ends, what was handed over is in doubt, and what was
// not was never sent.
func (b *book) openLeg(id LegID) { b.legs[id] = &leg{id: id} }

func (b *book) closeLeg(id LegID, now Time) {
	l := b.legs[id]
	if l == nil {
		return
	}
	delete(b.legs, id)
	b.batch.LegsEnded = append(b.batch.LegsEnded, legEnded{id, now})
	flights := slices.Clone(l.flights)
	for _, f := range flights {
		a := f.e.attempt(f.number)
		if was := a.State; was == InFlight || was == InDoubt { // in doubt already: overdue. Else a receipt or an operator settled it
			a.State, a.Evidence, a.Ended = InDoubt, ByLegEnd, now
			if !f.handed {
				a.State, a.Evidence = NeverSent, ByUnsent
			}
			if a.State != was {
				b.m.outcomes[a.State].Inc()
			}
		}
		if f.claim != nil {
			f.e.drop(f.claim)
		}
		b.land(f)
	}
	for _, f := range flights {
		b.redecide(f.e, now)
		if !f.handed {
			b.note(f.e)
		}
		b.rest(f.e)
	}
	if len(flights) > 0 {
		b.log.Warn("SMSC leg ended with unanswered submissions", zap.Stringer("smsc_leg", id), zap.Int("unanswered", len(flights)))
	}
}

// hand hands an attempt to the proxy, after the commit of its intent.
func (b *book) hand(c *Claim, n Number, now Time) {
	f := b.flights[n]
	if f == nil {
		return // its leg has ended meanwhile: never sent
	}
	if now > c.decided.Add(verdictLife) {
		b.unsent(n, true, now)
		return
	}
	sequence, ok := c.Waiter.Forward(n, c.decided.Add(verdictLife))
	if !ok {
		b.unsent(n, false, now)
		return
	}
	f.handed, c.tried = true, true
	f.e.attempt(n).Sequence = sequence
}
