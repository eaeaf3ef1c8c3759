package ledger

import (
	"bytes"
	"cmp"
	"slices"
)

// awakenGroup makes live again what was let go of with e, one answer of which proved to be unread.
func (b *book) awakenGroup(e *entry) {
	g := e.group
	if g == nil {
		return
	}
	for _, o := range slices.Clone(g.parts) {
		if o == e || !o.closed && !o.spent || o.Key.Explicit {
			continue
		}
		o = b.current(o)
		b.revive(o)
		if o.volatile {
			b.unsaved[o] = struct{}{}
		}
	}
}

// replace puts e in the place of old, an older copy of it, in its group.
func (e *entry) replace(old *entry) {
	e.session, e.group = old.session, old.group
	if e.group == nil {
		return
	}
	for i, o := range e.group.parts {
		if o == old {
			e.group.parts[i] = e
		}
	}
	old.group = nil
}

// regroup rebuilds the groups of live records after a restart, by the rule that began them: one reference, until a number comes again that is
// not expected again, as one is that was rejected.
func (b *book) regroup(now Time) {
	var parts []*entry
	for _, e := range b.index {
		for ; e != nil; e = e.next {
			if e.Part.long() {
				parts = append(parts, e)
			}
		}
	}
	slices.SortFunc(parts, func(e, o *entry) int {
		return cmp.Or(bytes.Compare(e.Part.Group[:], o.Part.Group[:]), cmp.Compare(e.Part.Reference, o.Part.Reference),
			cmp.Compare(e.Standing.At, o.Standing.At), cmp.Compare(e.Standing.Session, o.Standing.Session), cmp.Compare(e.Number, o.Number))
	})
	var g *group
	for _, e := range parts {
		if g == nil || g.key.group != e.Part.Group || g.as != e.Part.Reference ||
			slices.ContainsFunc(g.parts, func(o *entry) bool { return o.Part.Number == e.Part.Number && o.mayBeThere() }) {
			b.listGroup(g)
			g = &group{account: e.account, key: groupKey{group: e.Part.Group}, total: e.Part.Total, begun: true, as: e.Part.Reference, last: now}
		}
		e.group = g
		g.parts = append(g.parts, e)
	}
	b.listGroup(g)
}

// listGroup completes a group whose parts are there, the newest last, and expects the others.
func (b *book) listGroup(g *group) {
	if g == nil {
		return
	}
	g.key.reference = g.parts[len(g.parts)-1].Standing.Reference
	for _, e := range g.parts {
		g.answered = max(g.answered, e.Standing.Answered)
		if e.Standing.Reference == g.key.reference && e.mayBeThere() {
			g.came[e.Part.Number>>6] |= 1 << (e.Part.Number & 63)
			if g.until == 0 {
				g.loss, g.until = e.Loss, e.Until
			}
		}
	}
	if g.full() {
		return
	}
	if old := b.groups[g.key]; old != nil {
		old.over = true
		b.unlistGroup(old)
	}
	if len(b.groups) >= maxGroups {
		g.over = true
		return
	}
	b.groups[g.key] = g
	for _, e := range g.parts {
		if e.Key.Explicit {
			b.groups[e.kinKey()] = g
		}
	}
}
