package ledger

import "time"

// sweepEvery is how often records that absorb no more are looked for. Decide does not depend on it.
const sweepEvery = 10 * time.Second

// tick does what time alone brings about: holds that end, attempts that become overdue or in doubt, receipts that have
// waited long enough, records that absorb no more. It returns when it wants to be called next.
func (b *book) tick(now Time) Time {
	b.due = never // what begins in here may be due earlier than what was there before
	next := b.lastSweep.Add(sweepEvery)
	if now >= next {
		b.sweep(now)
		next = now.Add(sweepEvery)
	}
	next = min(next, b.endHolds(now), b.findOverdue(now), b.findDoubtful(now), b.endParked(now))
	return min(next, b.due)
}

// endHolds decides anew for those whose hold is over.
func (b *book) endHolds(now Time) Time {
	next := never
	var due []*Claim
	kept := b.holds[:0]
	for _, c := range b.holds {
		switch {
		case c.e == nil || c.until == 0: // answered, dropped or joined
		case c.until > now:
			kept = append(kept, c)
			next = min(next, c.until)
		default:
			due = append(due, c)
		}
	}
	clear(b.holds[len(kept):])
	b.holds = kept
	for _, c := range due {
		if e := c.e; e != nil {
			b.redecide(e, now)
			if e.State() == Accepted {
				b.note(e)
			}
			b.rest(e)
		}
	}
	b.countHeld()
	return next
}

// findOverdue moves attempts that have had no answer for response_timeout to the overdue ones.
func (b *book) findOverdue(now Time) Time {
	for f := b.oldest; f != nil; f = b.oldest {
		if due := f.at.Add(b.responseTimeout); due > now {
			return due
		}
		b.unlist(f)
		f.due, f.rank = true, len(b.overdue)
		b.overdue = append(b.overdue, f)
		b.m.overdue.Set(float64(len(b.overdue)))
	}
	return never
}

// findDoubtful puts in doubt what has been overdue for in_doubt_deadline though its leg lives. Its answer may still come.
func (b *book) findDoubtful(now Time) Time {
	next := never
	var doubtful []*entry
	for _, f := range b.overdue {
		a := f.e.attempt(f.number)
		if a.State != InFlight {
			continue
		}
		if due := f.at.Add(b.responseTimeout + f.e.account.policy.InDoubtDeadline); due > now {
			next = min(next, due)
			continue
		}
		a.State, a.Evidence, a.Ended = InDoubt, ByDeadline, now
		b.m.outcomes[InDoubt].Inc()
		if f.claim != nil && f.e.account.policy.Mode == Enforce {
			f.claim.attempt, f.claim = 0, nil // decided anew; a late answer reaches it through the record
		}
		doubtful = append(doubtful, f.e)
	}
	for _, e := range doubtful {
		b.redecide(e, now)
		b.rest(e)
	}
	return next
}

// sweep drops what absorbs no more. What is in doubt is kept for the window of explicit keys, so that forwarding it can
// be counted.
func (b *book) sweep(now Time) {
	b.lastSweep = now
	b.sweepGroups(now)
	for _, e := range b.index {
		for next := (*entry)(nil); e != nil; e = next {
			next = e.next
			if e.closed || e.flights > 0 || len(e.waiting) > 0 {
				continue
			}
			if e.absorbs(now) || e.group.needed(e, func(o *entry) bool { return o.absorbs(now) }) {
				continue
			}
			if e.State() != InDoubt && e.doubtful() {
				b.save(e) // in the store such an attempt is in flight, where a restart put it in doubt
			}
			b.retire(e)
		}
	}
	b.sweepSpent(now)
	for v, until := range b.voided {
		if until < now {
			delete(b.voided, v)
		}
	}
}

// absorbs tells whether e is, or may come to be, something that a submission repeats.
func (e *entry) absorbs(now Time) bool {
	p, s := &e.account.policy, &e.Standing
	switch {
	case e.flights > 0 || len(e.waiting) > 0:
		return true
	case (e.State() == InDoubt || e.Key.Explicit && e.nameless() > 0) && now < e.Claimed.Add(p.Window):
		return true
	case e.Key.Explicit:
		return false
	case s.Answered == 0 && e.session.bound() && now < s.At.Add(p.ClientTimeout+p.ContentLimit):
		return true // the end of its session would abandon it
	}
	rule, until := abandoned(&e.Record, e.situation(), p, now)
	return rule != NotAbandoned && now <= until
}
