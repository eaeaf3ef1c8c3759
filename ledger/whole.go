package ledger

import (
	"cmp"
	"slices"
	"time"
)

// Long messages often begin alike, so that the first part to come may be absorbed by a record of another message than its own. Its answer
// waits a moment for the rest of its message: what waits can be taken back.

// wholeWait is how long the replay of a part under another reference waits for the rest of its message.
const wholeWait = time.Second

// waitsForWhole tells whether the replay of c is to wait for the rest of its message.
func (c *Claim) waitsForWhole(now Time) bool {
	g := c.group
	return g != nil && now < g.whole && !g.over && !g.full()
}

// wholeCame gives what waited for the rest of its message, all of which has come.
func (b *book) wholeCame(g *group, now Time) {
	if g == nil || g.whole == 0 || !g.full() {
		return
	}
	g.whole = 0
	for _, e := range slices.Clone(g.parts) {
		if slices.ContainsFunc(e.waiting, func(c *Claim) bool { return c.group == g && c.until != 0 }) {
			b.redecide(e, now)
			b.note(e)
			b.rest(e)
		}
	}
}

// mayDiffer tells that c, about which d was decided, may show that its group is another message than the one that it stands for.
func (c *Claim) mayDiffer(d *Decision) bool {
	g := c.group
	return g != nil && g.begun && g.as != c.reference && d.Verdict == Forward && !d.Resubmission && !c.Key.Explicit
}

// rejoin is for a part that the message which its group stands for does not have. If it is another one's, or this one has other words
// under its number, the group is another message: c decides for it anew. Those parts of it that wait for answers are taken back,
// to be decided after c.
func (b *book) rejoin(c *Claim, e *entry, d Decision, now Time) (*entry, Decision, []*Claim) {
	g := c.group
	other := g.differs(&c.Part, c.Fingerprint)
	if g.sent && !other {
		return e, d, nil
	}
	g.begun, g.swaps = false, other
	e2, d2 := b.match(c, &g.account.policy, now)
	g.begun, g.swaps = true, false
	if d2.Resubmission && !slices.ContainsFunc(g.parts, func(o *entry) bool { return !o.older && e2.group.differs(&o.Part, o.Fingerprint) }) {
		e, d, other = e2, d2, true
	}
	if !other {
		return e, d, nil
	}
	back := b.dissolve(g)
	if d.Resubmission && e.older {
		back = append(back, b.dissolve(e.group)...)
	}
	return e, d, back
}

// differs tells that the message of g has other words under the number of p.
func (g *group) differs(p *Part, words Fingerprint) bool {
	return g != nil && slices.ContainsFunc(g.parts, func(e *entry) bool { return e.Part.Number == p.Number && e.Fingerprint != words })
}

// dissolve takes back what of a group waits for answers, and leaves the message that it repeated to itself.
func (b *book) dissolve(g *group) (back []*Claim) {
	rest := &group{account: g.account, key: g.key, total: g.total, begun: true, as: g.as, over: true, last: g.last, answered: g.answered}
	for _, e := range slices.Clone(g.parts) {
		for _, w := range slices.Clone(e.waiting) {
			if w.group == g && w.attempt == 0 {
				e.giveUp(w)
				e.drop(w)
				w.until = 0
				b.missed(w)
				back = append(back, w)
				e.older = true
			}
		}
		if e.older {
			e.moveTo(rest)
		}
	}
	g.begun, g.as, g.whole, g.loss, g.until = false, g.key.reference, 0, 0, 0
	slices.SortStableFunc(back, func(v, w *Claim) int { return cmp.Compare(v.At, w.At) })
	return back
}
