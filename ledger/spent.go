package ledger

import "slices"

// A receipt with an unknown id proves something only if every attempt is known that it could belong to. So a record with a nameless attempt
// stays live for as long as receipts of it can come, though nothing can repeat it any more: it is spent.

// letGo is for what is settled and will not be repeated, but by its request id: in the store that would lead to a copy.
func (b *book) letGo(e *entry) {
	if e.indexed && !e.closed && e.Key.Explicit && e.nameless() > 0 {
		b.keep(e)
	} else {
		b.retire(e)
	}
}

// retire ends the life of e as something that can be repeated.
func (b *book) retire(e *entry) {
	if e.closed {
		return
	}
	if e.volatile || e.nameless() == 0 || !e.indexed && !e.spent {
		b.close(e)
		return
	}
	if !e.spent {
		b.leave(e)
		b.shelve(e)
	}
	b.keep(e)
}

// shelve makes e spent; unshelve is the inverse.
func (b *book) shelve(e *entry) {
	e.spent = true
	b.spent[e] = struct{}{}
	b.live++
}

func (b *book) unshelve(e *entry) {
	if e.spent {
		e.spent = false
		delete(b.spent, e)
		b.live--
	}
}

// sweepSpent lets go of what no receipt can belong to any more.
func (b *book) sweepSpent(now Time) {
	for e := range b.spent {
		awaited := func(a Attempt) bool { return a.nameless() && now < a.At.Add(b.retention) }
		if e.flights == 0 && !slices.ContainsFunc(e.Attempts, awaited) {
			b.close(e)
		}
	}
}

// list keeps the lists of what a receipt may belong to.
func (b *book) list(e *entry) {
	if e.Several {
		if open := !e.closed && (e.flights > 0 || e.nameless() > 0); !open {
			delete(e.account.several, e)
		} else if e.account.several == nil {
			e.account.several = map[*entry]struct{}{e: {}}
		} else {
			e.account.several[e] = struct{}{}
		}
	}
	nameless := !e.closed && e.nameless() > 0
	if nameless == e.listed {
		return
	}
	e.listed = nameless
	list := b.nameless[e.Destination]
	if nameless {
		list = append(list, e)
	} else {
		i := slices.Index(list, e)
		list = slices.Delete(list, i, i+1)
	}
	if b.nameless[e.Destination] = list; len(list) == 0 {
		delete(b.nameless, e.Destination)
	}
}
