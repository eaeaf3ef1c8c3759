package ledger

import (
	"slices"
	"time"

	"go.uber.org/zap"
)

// A lookup asks which message an SMSC message id belongs to. It may wait for the message's own answer.
type lookup struct {
	account  *account
	receipt  *Receipt
	key      [16]byte
	until    Time // parked until then; 0: not parked
	found    func(Found)
	answered bool
}

// look begins a look-up. It is answered from memory, or read tells that the store must be asked (readStore, and then
// looked). Where submissions to its destination are outstanding, it is parked first: their answers may overtake the read.
func (b *book) look(q *lookup, wait time.Duration, now Time) (read bool) {
	q.key = q.account.hasher.messageID(q.receipt.ID)
	if e := b.ids[q.key]; e != nil {
		b.report(q, &e.Record)
		return false
	}
	if wait > 0 && b.outstanding[q.receipt.Destination] > 0 && b.parkedCount < maxParked {
		q.until = now.Add(wait)
		b.parked[q.key] = append(b.parked[q.key], q)
		b.parkedCount++
		b.due = min(b.due, q.until)
	}
	return true
}

// looked takes what the store had; nil: nothing.
func (b *book) looked(q *lookup, r *Record, err error) {
	if err != nil {
		b.m.errors("read").Inc()
		b.log.Error("cannot look a message id up", zap.Error(err))
	}
	if q.answered {
		return
	}
	if r != nil {
		b.unpark(q)
		b.report(q, r)
	} else if q.until == 0 {
		b.say(q, Found{})
	}
}

// arrived ends the waiting of receipts for a message that was accepted just now: they go out after its answer.
func (b *book) arrived(key [16]byte, e *entry) {
	for _, q := range b.parked[key] {
		b.parkedCount--
		b.report(q, &e.Record)
	}
	delete(b.parked, key)
}

// endParked lets go of receipts that have waited for race_wait.
func (b *book) endParked(now Time) Time {
	next := never
	for _, list := range b.parked {
		for _, q := range slices.Clone(list) {
			if q.until > now {
				next = min(next, q.until)
				continue
			}
			b.unpark(q)
			b.say(q, Found{})
		}
	}
	return next
}

func (b *book) unpark(q *lookup) {
	if q.until == 0 {
		return
	}
	list := slices.DeleteFunc(b.parked[q.key], func(p *lookup) bool { return p == q })
	if b.parked[q.key] = list; len(list) == 0 {
		delete(b.parked, q.key)
	}
	b.parkedCount--
}

// report says what r tells of the id: an id that the ESME was never told goes under the one that it was.
func (b *book) report(q *lookup, r *Record) {
	f := Found{Known: true, ESMEID: q.receipt.ID}
	told := false
	for i := range r.Attempts {
		told = told || r.Attempts[i].Told && string(r.Attempts[i].ID) == string(q.receipt.ID)
	}
	if !told && r.Answer != nil && len(r.Answer.MessageID) > 0 {
		f.ESMEID = r.Answer.MessageID
	}
	b.say(q, f)
}

func (b *book) say(q *lookup, f Found) {
	q.answered = true
	b.tell(effect{lookup: q, found: f})
}

// finish notes that an accepted message was not delivered after all: a resubmission of it is meant.
func (b *book) finish(a *account, id []byte, f Final, now Time) {
	key := a.hasher.messageID(id)
	e := b.ids[key]
	if e == nil {
		r, err := b.store.message(key)
		if err != nil || r == nil {
			if err != nil {
				b.m.errors("read").Inc()
				b.log.Error("cannot note how a message ended", zap.Error(err))
			}
			return
		}
		e = b.load(r, a)
		b.finishes++
	}
	for i := range e.Attempts {
		if at := &e.Attempts[i]; at.State == Accepted && at.key == key {
			at.State, at.Final, at.Ended = Undelivered, f, now
		}
	}
	if e.State() != Accepted {
		e.Answer = nil
	}
	b.recount(e)
	b.save(e)
}

// load makes an entry of a record from the store. It is not live.
func (b *book) load(r *Record, a *account) *entry {
	e := &entry{Record: *r, account: a, closed: true}
	for i := range e.Attempts {
		if t := &e.Attempts[i]; len(t.ID) > 0 {
			t.key = a.hasher.messageID(t.ID)
		}
	}
	return e
}

// explicit finds the record of an explicit key, live or stored.
func (b *book) explicit(k Key, a *account) (*entry, error) {
	if e := b.index[k]; e != nil {
		return e, nil
	}
	r, err := b.store.explicit(k.Hash)
	if err != nil || r == nil {
		return nil, err
	}
	return b.load(r, a), nil
}

// void notes that a request id is none: it was seen with two contents. From now on content rules decide for it, also
// for what is live under it.
func (b *book) void(k Key, a *account, now Time) {
	b.m.mismatches.Inc()
	if b.voided[k.Value] != 0 {
		return
	}
	b.log.Warn("a request id was seen with two different contents: it is no reference, content rules apply to it from now on",
		zap.String("account", logName(a.name)), zap.String("request_key", k.String()))
	if len(b.voided) >= maxVoided {
		return
	}
	until := now.Add(a.policy.Window)
	b.voided[k.Value] = until
	b.batch.Voided = append(b.batch.Voided, voidedValue{k.Value, until})
	var under []*entry
	for key, e := range b.index {
		if key.Explicit && key.Value == k.Value {
			for ; e != nil; e = e.next {
				under = append(under, e)
			}
		}
	}
	for _, e := range under {
		b.leave(e)
		e.Key = contentKey(e.Fingerprint)
		b.enter(e)
	}
}
