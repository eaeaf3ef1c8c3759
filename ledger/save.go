package ledger

import (
	"time"
)

// ttlSlack is added to the time a record is kept in the store: there the wall clock decides, and it may step.
const ttlSlack = 24 * time.Hour

// enter indexes e by its key; leave is the inverse.
func (b *book) enter(e *entry) {
	head := b.index[e.Key]
	if e.next = head; head != nil {
		head.prev = e
	}
	e.prev = nil
	b.index[e.Key] = e
	e.indexed = true
	b.live++
}

func (b *book) leave(e *entry) {
	if e.prev != nil {
		e.prev.next = e.next
	} else if e.next != nil {
		b.index[e.Key] = e.next
	} else {
		delete(b.index, e.Key)
	}
	if e.next != nil {
		e.next.prev = e.prev
	}
	e.prev, e.next, e.indexed = nil, nil, false
	b.live--
}

// home says where the newest text of e lies in the store.
func (e *entry) home() liveRecord {
	l := liveRecord{Number: e.Number, Spent: e.spent}
	if e.displaced {
		return l
	}
	for i := range e.Attempts {
		if a := &e.Attempts[i]; len(a.ID) > 0 {
			l.Accepted, l.ID = true, a.key
			break
		}
	}
	return l
}

// save puts e into the batch: under each of its message ids, or under its number while it has none; and, once it is not in
// flight, under its explicit key.
func (b *book) save(e *entry) {
	e.Version++
	if e.volatile {
		if !e.closed {
			b.unsaved[e] = struct{}{}
		}
		return
	}
	value := appendRecord(make([]byte, 0, 192), &e.Record)
	ttl := b.ttl(&e.account.policy)
	named := false
	for i := range e.Attempts {
		if a := &e.Attempts[i]; len(a.ID) > 0 && !e.displaced {
			b.displace(a.key, e)
			b.ids[a.key] = e
			b.batch.put(messageKey(a.key), value, ttl)
			named = true
		}
	}
	if !named {
		b.batch.put(recordKey(e.Number), value, ttl)
	}
	if e.Key.Explicit && e.State() != InFlight && !e.spent {
		b.batch.put(explicitKey(e.Key.Hash), value, ttl)
	}
	if e.batch != b.batch.serial {
		e.batch = b.batch.serial
		e.pending++
		b.batch.touched = append(b.batch.touched, e)
	}
}

// ttl is how long a record is kept in the store, in seconds.
func (b *book) ttl(p *Policy) int64 {
	return int64((max(b.retention, p.Window, p.ContentLimit) + ttlSlack).Seconds())
}

// displace moves the live record that has the place under a message id, where the SMSC has given the id once more.
func (b *book) displace(key [16]byte, by *entry) {
	old := b.ids[key]
	if old == nil || old == by || old.displaced || old.closed {
		return
	}
	old.displaced = true
	b.save(old)
	b.keep(old)
}

// rest is called when something of e is settled: it writes e down and lets go of it if it can absorb nothing more.
func (b *book) rest(e *entry) {
	b.recount(e)
	if e.flights > 0 || len(e.waiting) > 0 || e.closed {
		return
	}
	state := e.State()
	if state == Accepted {
		e.settleStands()
	}
	if state == InDoubt {
		if !e.indexed && !e.spent {
			b.close(e) // it began beyond maxLive: nothing finds it
		}
		return // what is lost with a leg is told by the leg's end
	}
	b.save(e)
	if e.indexed && (e.open() || e.group.needed(e, (*entry).open)) {
		b.keep(e)
		return
	}
	b.letGo(e)
	b.settleGroup(e.group)
}

// close lets go of e: it stays findable until its puts are committed.
func (b *book) close(e *entry) {
	if e.closed {
		return
	}
	e.closed = true
	b.unshelve(e)
	b.recount(e)
	if e.volatile {
		delete(b.unsaved, e)
	} else {
		l := e.home()
		l.At = e.Standing.Answered
		if e.group != nil {
			l.At = max(l.At, e.group.answered) // who has not read that sends all parts again
		}
		b.batch.markClosed(l)
	}
	b.release(e)
}

// release forgets a closed entry whose puts are all committed.
func (b *book) release(e *entry) {
	if !e.closed || e.pending > 0 {
		return
	}
	e.released, e.finishes = true, b.finishes
	if e.indexed {
		b.leave(e)
	}
	for i := range e.Attempts {
		if a := &e.Attempts[i]; len(a.ID) > 0 && b.ids[a.key] == e {
			delete(b.ids, a.key)
		}
	}
}

// revive makes e live again: it was found in the store, or let go of a moment ago.
func (b *book) revive(e *entry) {
	e.closed, e.released = false, false
	b.unshelve(e)
	if !e.indexed {
		b.enter(e)
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		if len(a.ID) == 0 || e.displaced {
			continue
		}
		if other := b.ids[a.key]; other != nil && other != e {
			e.displaced = true
			b.save(e)
			break
		}
		b.ids[a.key] = e
	}
	b.recount(e)
	b.keep(e)
}

// keep notes that memory is needed of e. What is not in the store is noted once it is (saveUnsaved).
func (b *book) keep(e *entry) {
	if !e.volatile {
		b.batch.markLive(e.home())
	}
}

// recount keeps the gauge of records in doubt, and the lists of those that a receipt may belong to.
func (b *book) recount(e *entry) {
	b.list(e)
	doubted := !e.closed && e.State() == InDoubt
	if doubted == e.doubted {
		return
	}
	e.doubted = doubted
	if doubted {
		b.m.inDoubt.Inc()
	} else {
		b.m.inDoubt.Dec()
	}
}

func (b *batch) put(key, value []byte, ttl int64) {
	b.puts = append(b.puts, put{key, value, ttl})
	b.size += len(key) + len(value)
}

// begin notes an attempt; again: of an older record.
func (b *batch) begin(n Number, again bool) {
	if b.Opened == 0 {
		b.First = n
	}
	b.Opened++
	if again {
		b.Again = append(b.Again, n)
	}
}

// markLive and markClosed note whether memory must be kept of a record. In a journal Live is read after Closed, so only one
// order needs care.
func (b *batch) markLive(l liveRecord) {
	if b.live == nil {
		b.live = map[Number]liveRecord{}
	}
	b.live[l.Number] = l
}

func (b *batch) markClosed(l liveRecord) {
	delete(b.live, l.Number)
	b.Closed = append(b.Closed, l)
}

// saveUnsaved writes down what began without an intent and is still live, once the ledger can commit again.
func (b *book) saveUnsaved() {
	for e := range b.unsaved {
		delete(b.unsaved, e)
		e.volatile = false
		b.save(e)
		b.batch.markLive(e.home())
	}
}

// references says which ended sessions and legs the live records still need.
func (b *book) references(now Time) (map[SessionID]bool, map[LegID]bool, Time) {
	sessions, legs := map[SessionID]bool{}, map[LegID]bool{}
	for _, e := range b.index {
		for ; e != nil; e = e.next {
			sessions[e.Standing.Session] = true
			for i := range e.Attempts {
				legs[e.Attempts[i].Leg] = true
			}
		}
	}
	return sessions, legs, now
}
