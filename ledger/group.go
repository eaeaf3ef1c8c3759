package ledger

import (
	"math/bits"
	"slices"
)

// maxGroups bounds the long messages of which a part is still to come. Parts of more are matched with records of their own
// reference only.
const maxGroups = 100_000

// manyGroups is from how many of them on those that have been idle for client_timeout are given up, instead of content_window.
const manyGroups = 10_000

// A group is one sending of a long message (DESIGN 4.6): the parts that an ESME sends under one reference, from the first to come,
// whatever its number, until all have come or one comes again. The first decides for it: where it is absorbed by a record, the
// group stands for the message of that record, and all its parts carry that one's reference, so that the SMSC never has parts
// of two. It then takes over the records of that message, so that these belong to the sending that was the last to repeat them.
type group struct {
	account  *account
	key      groupKey
	total    byte
	begun    bool      // its first part has decided
	as       uint16    // the reference that its parts carry at the SMSC
	came     [4]uint64 // the numbers that have come, and that need not come again
	over     bool      // a part of it came again, or none for too long: the next one begins another
	sent     bool      // a part of it was forwarded
	swaps    bool      // it may take from another sending what that one is about to repeat
	session  *session  // of the newest part that came; nil after a restart
	last     Time      // when its newest part came
	answered Time      // when a part of it was last answered
	whole    Time      // until when its parts wait for the rest of them; 0: they don't
	parts    []*entry  // whose standing submission is of this sending, or of one that it repeats (entry.older)
	// What it repeats counts as abandoned since loss and until then, for its own parts.
	loss, until Time
}

// A groupKey finds a group by its own reference, or by the request id that its parts share.
type groupKey struct {
	group     [8]byte
	reference uint16
	value     [16]byte
}

// long tells whether p is one of several parts.
func (p *Part) long() bool { return p.Total > 1 && p.Number >= 1 && p.Number <= p.Total }

func (g *group) has(number byte) bool { return g.came[number>>6]&(1<<(number&63)) != 0 }

// full tells that all parts have come.
func (g *group) full() bool {
	n := 0
	for _, w := range g.came {
		n += bits.OnesCount64(w)
	}
	return n == int(g.total)
}

// joined finds or begins the group that c is a part of; nil where c is no part.
func (b *book) joined(c *Claim, now Time) *group {
	if !c.Part.long() {
		return nil
	}
	key := groupKey{group: c.Part.Group, reference: c.reference}
	g := b.groups[key]
	if g != nil && (g.has(c.Part.Number) || b.idle(g, now)) {
		b.endGroup(g)
		g = nil
	}
	if g == nil {
		g = &group{account: c.session.account, key: key, total: c.Part.Total, as: c.reference}
		if len(b.groups) < maxGroups {
			b.groups[key] = g
		} else {
			g.begun, g.over = true, true
		}
	}
	g.last, g.session = now, c.session
	return g
}

// idle tells that no part of g has come for so long that none is expected any more. An account that cannot submit is waited for, as in
// rule (a).
func (b *book) idle(g *group, now Time) bool {
	p := &g.account.policy
	patience := p.ContentWindow
	if len(b.groups) > manyGroups {
		patience = min(patience, p.ClientTimeout)
	}
	return now > g.last.Add(p.ContentLimit) || g.account.submitters > 0 && now > max(g.last, g.account.since).Add(patience)
}

// endGroup says that no part of g is to come any more.
func (b *book) endGroup(g *group) {
	g.over = true
	b.unlistGroup(g)
	b.settleGroup(g)
}

func (b *book) unlistGroup(g *group) {
	if b.groups[g.key] == g {
		delete(b.groups, g.key)
	}
	for _, e := range g.parts {
		if k := e.kinKey(); e.Key.Explicit && b.groups[k] == g {
			delete(b.groups, k)
		}
	}
}

func (e *entry) kinKey() groupKey { return groupKey{group: e.Part.Group, value: e.Key.Value} }

// sweepGroups gives up those that have been idle for too long.
func (b *book) sweepGroups(now Time) {
	for k, g := range b.groups {
		if b.idle(g, now) {
			b.endGroup(g)
			delete(b.groups, k) // its request id may have proved to be none
		}
	}
}

// fits tells whether c may be absorbed by e: once its group stands for a message, its parts are that message's; and what another
// sending is about to repeat is not for it.
func (c *Claim) fits(e *entry, now Time) bool {
	g := c.group
	switch {
	case g == nil, c.Key.Explicit, e.group == g:
		return true
	case e.older && e.group.repeats(now) && !g.swaps:
		return false
	}
	return !g.begun || e.Part.Reference == g.as
}

// repeats tells that an ESME is about to send the parts of g. One that has lost an answer to it begins anew.
func (g *group) repeats(now Time) bool {
	return !g.over && g.session.bound() && now <= g.last.Add(g.account.policy.ClientTimeout) &&
		!slices.ContainsFunc(g.parts, func(e *entry) bool { return !e.older && e.lost(now) })
}

// lost tells that e is abandoned by itself.
func (e *entry) lost(now Time) bool {
	rule, until := abandoned(&e.Record, e.situation(), &e.account.policy, now)
	return rule != NotAbandoned && now <= until
}

// prefers tells that c repeats e rather than o: what its own message repeats comes first.
func (c *Claim) prefers(e, o *entry) bool {
	if own, other := e.group == c.group, o.group == c.group; c.group != nil && own != other {
		return own
	}
	return better(&e.Record, &o.Record, &c.Submission)
}

// rewrites tells whether parts are given the reference of what they repeat.
func (b *book) rewrites(a *account) bool { return a.policy.Mode == Enforce && !b.unprotected(a) }

// partSituation is what Decide must know of e where c may repeat it: what e's message lost, that c would repeat.
func (e *entry) partSituation(c *Claim, now Time) Situation {
	w := e.situation()
	g := e.group
	if g == nil {
		return w
	}
	if g == c.group && g.until != 0 {
		w.PartLost, w.PartUntil = g.loss, g.until
	}
	p := &e.account.policy
	for _, o := range g.parts {
		if o == e || o.closed || o.spent || (o.older || e.older) && g.repeats(now) {
			continue // it is lost for g alone
		}
		s := o.situation()
		rule, until := abandoned(&o.Record, s, p, now)
		if rule == NotAbandoned || until < now {
			continue
		}
		loss := firstLoss(rule, &o.Record, s, p)
		if w.PartUntil == 0 || loss < w.PartLost {
			w.PartLost = loss
		}
		w.PartUntil = max(w.PartUntil, until)
	}
	return w
}

// decideGroup lets c, the first of its group, decide for it: e is the record that it repeats, if any. A part whose request id
// is known from another part of its message repeats that message, though it was never seen itself.
func (b *book) decideGroup(c *Claim, e *entry, d *Decision) {
	g := c.group
	if g == nil || g.begun {
		return
	}
	g.begun = true
	switch kin := b.groups[groupKey{group: c.Part.Group, value: c.Key.Value}]; {
	case d.Resubmission:
		b.takeOver(g, e)
		if !c.Key.Explicit && b.rewrites(g.account) && !e.mayBeThere() && !slices.ContainsFunc(g.parts, (*entry).mayBeThere) {
			e.Part.Reference = c.reference // the SMSC has nothing of it
			for _, o := range g.parts {
				o.Part.Reference = c.reference
			}
		}
		g.as = e.Part.Reference
	case c.Key.Explicit && kin != nil && kin != g:
		g.as = kin.as
	}
	if g.as != c.reference && !c.Key.Explicit {
		g.whole = g.last.Add(wholeWait)
	}
}

// mayBeThere tells that the SMSC may have e.
func (e *entry) mayBeThere() bool {
	return slices.ContainsFunc(e.Attempts, func(a Attempt) bool { return a.State != Rejected && a.State != NeverSent })
}

// takeOver makes the message of e, which g repeats, its own.
func (b *book) takeOver(g *group, e *entry) {
	old := e.group
	if old == nil || old == g {
		return
	}
	b.unlistGroup(old)
	old.over = true
	for _, o := range slices.Clone(old.parts) {
		o.moveTo(g)
		o.older = true
	}
	g.answered = max(g.answered, old.answered)
}

// moveTo makes e a part of g, and of no other message.
func (e *entry) moveTo(g *group) {
	if old := e.group; old != nil {
		old.parts = slices.DeleteFunc(old.parts, func(o *entry) bool { return o == e })
	}
	e.group, e.older = g, false
	g.parts = append(g.parts, e)
}

// follow notes that c, which stands for e now, is the part of its group with its number.
func (b *book) follow(c *Claim, e *entry) {
	g := c.group
	if g == nil {
		return
	}
	if e.group != g && e.indexed {
		e.moveTo(g)
	}
	e.older = false
	if g.until == 0 {
		g.loss, g.until = e.Loss, e.Until
	}
	if e.Key.Explicit && b.groups[g.key] == g {
		b.groups[e.kinKey()] = g
	}
	if g.came[c.Part.Number>>6] |= 1 << (c.Part.Number & 63); g.full() {
		b.unlistGroup(g)
	}
}

// missed says that c, which was not accepted, will come again.
func (b *book) missed(c *Claim) {
	g := c.group
	if g == nil {
		return
	}
	g.came[c.Part.Number>>6] &^= 1 << (c.Part.Number & 63)
	switch {
	case g.over || b.groups[g.key] == g:
	case b.groups[g.key] == nil && len(b.groups) < maxGroups:
		b.groups[g.key] = g
	default:
		g.over = true // another sending has its reference by now: what comes is that one's
	}
}

// needed tells whether e, a part at rest, is kept for the others of its message: who lost the answer of one sends them all again.
// open tells it of another part.
func (g *group) needed(e *entry, open func(*entry) bool) bool {
	return g != nil && (!g.over && !g.full() || slices.ContainsFunc(g.parts, func(o *entry) bool { return o != e && !o.closed && !o.spent && open(o) }))
}

// open tells that e is unanswered, or may absorb.
func (e *entry) open() bool {
	p, s := &e.account.policy, &e.Standing
	return e.flights > 0 || len(e.waiting) > 0 || e.State() == InDoubt ||
		!e.Key.Explicit && p.Content && (s.Answered == 0 || s.Answered >= s.At.Add(p.ClientTimeout) || s.Lost != 0)
}

// settleGroup lets go of the parts of a message that is at rest as a whole.
func (b *book) settleGroup(g *group) {
	if g == nil || g.needed(nil, (*entry).open) {
		return
	}
	for _, e := range g.parts {
		b.letGo(e)
	}
}
