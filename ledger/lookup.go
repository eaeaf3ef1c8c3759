package ledger

import (
	"slices"
	"time"

	"go.uber.org/zap"
)

// A lookup asks which message a receipt is about. It may wait for the message's own answer.
type lookup struct {
	account *account
	receipt *Receipt
	found   func(Found)
	key     [16]byte // hash of the receipt's id
	wait    time.Duration
	last    Time    // it waits no longer than until then, whatever happens
	until   Time    // parked until then; 0: not parked
	record  *Record // what it is about; parked since the ESME has not been told
	done    bool

	// What the store is asked for, beside the id.
	reference [16]byte   // its user_message_reference; zero: none
	forms     [][16]byte // its id in other forms, in the second reading
	readings  int        // that have come back
	numbers   []Number   // records that carried its reference: two at most
}

// A reading is what the store knew.
type reading struct {
	record  *Record  // of the receipt's id
	numbers []Number // of records that carried its reference: two at most
	other   bool     // its id in another form is a known message to the same destination
	err     error
}

// mayBeOf says whether the receipt may be of r, as far as addresses tell. Short ids are often another message's in another form, but seldom of one to
// the same destination.
func (q *lookup) mayBeOf(r *Record) bool {
	return r.Several || r.Destination == q.receipt.Destination
}

// ask is called by the goroutine that reads.
func (q *lookup) ask(s reader) (a reading) {
	if q.forms != nil {
		for _, key := range q.forms {
			r, err := s.message(key)
			if a.other = r != nil && q.mayBeOf(r); a.other || err != nil {
				a.err = err
				return a
			}
		}
		return a
	}
	if a.record, a.err = s.message(q.key); a.record == nil && a.err == nil && q.reference != [16]byte{} {
		a.numbers, a.err = s.carried(q.reference)
	}
	return a
}

func (b *book) lookup(a *account, r *Receipt, wait time.Duration, found func(Found), now Time) *lookup {
	q := &lookup{account: a, receipt: r, found: found, key: a.hasher.messageID(r.ID), wait: wait, last: now.Add(b.responseTimeout)}
	if r.Reference != 0 && a.policy.Adopt != AdoptOff {
		q.reference = a.hasher.reference(r.Destination, r.Reference)
	}
	return q
}

// look begins a look-up. It is answered from memory, or the store is asked, and then looked takes over. Where submissions to its
// destination are outstanding, it is parked as well: an answer may tell its id.
func (b *book) look(q *lookup, now Time) {
	if e := b.ids[q.key]; e != nil {
		b.known(q, &e.Record, e.situation(), now)
		return
	}
	if q.wait > 0 && b.outstanding[q.receipt.Destination] > 0 {
		b.park(q, now.Add(q.wait))
	}
	b.lookups[q.key] = append(b.lookups[q.key], q) // also while the store is asked: its message may be accepted meanwhile
	b.reads.add(q)
}

// looked takes what the store knew.
func (b *book) looked(q *lookup, a reading, now Time) {
	if q.done || q.record != nil {
		return
	}
	q.readings++
	switch {
	case a.err != nil:
		b.m.errors("read").Inc()
		b.log.Error("cannot look a message id up", zap.Error(a.err))
		b.unknown(q)
	case a.record != nil:
		b.take(q)
		b.known(q, a.record, Situation{}, now)
	case a.other:
		b.unknown(q)
	case q.forms == nil:
		q.numbers = a.numbers
		fallthrough
	default:
		if q.until == 0 {
			b.conclude(q, now)
		}
	}
}

// known has found the record that q is about. Where the ESME has not been told its id, the answer that tells it is waited for.
func (b *book) known(q *lookup, r *Record, w Situation, now Time) {
	until := q.last
	if q.account.submitters > 0 {
		until = min(until, now.Add(q.wait))
	}
	if q.wait > 0 && until > now && q.account.untold(r, w, now) && b.park(q, until) {
		q.record = r
		b.lookups[q.key] = append(b.lookups[q.key], q)
		return
	}
	b.report(q, r, now)
}

// untold tells that the ESME has not heard of r's acceptance, and may submit r again any moment.
func (a *account) untold(r *Record, w Situation, now Time) bool {
	p := &a.policy
	if p.Mode != Enforce || r.Answer == nil || r.State() != Accepted {
		return false
	}
	if r.Standing.Lost == 0 && slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return a.Told }) {
		return false
	}
	if r.Key.Explicit {
		return now <= r.Claimed.Add(p.Window)
	}
	rule, until := abandoned(r, w, p, now)
	return p.Content && rule != NotAbandoned && now <= until
}

// arrived has the record of an id that was not known, or not told, when its receipts came: they go out after its answer.
func (b *book) arrived(key [16]byte, e *entry, now Time) {
	list := b.lookups[key]
	delete(b.lookups, key)
	for _, q := range list {
		b.unpark(q)
		b.known(q, &e.Record, e.situation(), now)
	}
}

// told releases the receipts that waited for an answer of e.
func (b *book) told(e *entry, now Time) {
	if len(b.lookups) == 0 {
		return
	}
	for i := range e.Attempts {
		if a := &e.Attempts[i]; len(a.ID) > 0 {
			b.arrived(a.key, e, now)
		}
	}
}

// hurry says that an account can submit again: what was not told will be asked for soon, or never.
func (b *book) hurry(a *account, now Time) {
	if b.parked == 0 {
		return
	}
	for _, list := range b.lookups {
		for _, q := range list {
			if q.account == a && q.record != nil && q.until > now.Add(q.wait) {
				q.until = now.Add(q.wait)
				b.due = min(b.due, q.until)
			}
		}
	}
}

// endParked lets go of receipts that have waited long enough.
func (b *book) endParked(now Time) Time {
	if b.parked == 0 {
		return never
	}
	next := never
	var ended []*lookup
	for _, list := range b.lookups {
		for _, q := range list {
			switch {
			case q.until == 0:
			case q.until > now:
				next = min(next, q.until)
			default:
				ended = append(ended, q)
			}
		}
	}
	for _, q := range ended {
		if q.until == 0 || q.until > now {
			continue // what another one proved has ended its waiting, or it waits for the answer by now
		}
		b.unpark(q)
		switch {
		case q.record != nil:
			b.take(q)
			b.report(q, q.record, now)
		case q.readings == 0:
			b.unknown(q) // the store takes long
		default:
			b.conclude(q, now)
		}
	}
	return next
}

// park lets q wait until then, unless too many do.
func (b *book) park(q *lookup, until Time) bool {
	if b.parked >= maxParked {
		return false
	}
	q.until = until
	b.parked++
	b.due = min(b.due, until)
	return true
}

func (b *book) unpark(q *lookup) {
	if q.until != 0 {
		q.until = 0
		b.parked--
	}
}

// take takes q off the look-ups that are under way.
func (b *book) take(q *lookup) {
	b.unpark(q)
	list := slices.DeleteFunc(b.lookups[q.key], func(p *lookup) bool { return p == q })
	if b.lookups[q.key] = list; len(list) == 0 {
		delete(b.lookups, q.key)
	}
}

// report says what r tells of the id: an id that the ESME was never told goes under the one that it was.
func (b *book) report(q *lookup, r *Record, now Time) {
	f := Found{Known: true, ESMEID: q.receipt.ID}
	told := false
	for i := range r.Attempts {
		told = told || r.Attempts[i].Told && string(r.Attempts[i].ID) == string(q.receipt.ID)
	}
	if !told && r.Answer != nil && len(r.Answer.MessageID) > 0 {
		f.ESMEID = r.Answer.MessageID
	}
	b.observe(q, now)
	b.say(q, f)
}

// unknown ends a look-up that has found nothing.
func (b *book) unknown(q *lookup) {
	b.take(q)
	b.say(q, Found{})
}

func (b *book) say(q *lookup, f Found) {
	q.done = true
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
