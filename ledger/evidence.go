package ledger

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"go.uber.org/zap"
)

// conclude decides about a receipt whose id belongs to no known message: it proves that a message in doubt was accepted, or nothing. The SMSC may
// write ids in receipts in another form than in answers, so before a message is chosen since no other is left, the store is
// asked for the other forms, in which a message to the same destination may be known.
func (b *book) conclude(q *lookup, now Time) {
	e, by := b.proven(q, now)
	if e == nil {
		b.unknown(q)
		return
	}
	if by == ByElimination && q.forms == nil {
		// What is accepted meanwhile is found in memory or in the store: it is in the store before it leaves memory.
		q.forms = b.otherForms(q)
		if slices.ContainsFunc(q.forms, func(key [16]byte) bool { e := b.ids[key]; return e != nil && q.mayBeOf(&e.Record) }) {
			b.unknown(q)
			return
		}
		b.reads.add(q)
		return
	}
	b.take(q)
	a := &e.Attempts[slices.IndexFunc(e.Attempts, func(a Attempt) bool { return a.State == InDoubt })]
	b.prove(e, a, q.receipt.ID, by, now)
	b.known(q, &e.Record, e.situation(), now)
}

// proven finds the record that was accepted since q's receipt came, and says by which rule.
func (b *book) proven(q *lookup, now Time) (*entry, Evidence) {
	if len(q.receipt.ID) == 0 || q.account.policy.Adopt == AdoptOff || now < q.account.blind {
		return nil, NoEvidence
	}
	if len(q.numbers) > 0 {
		return b.referred(q), ByReference // it is about these, and no others
	}
	if q.account.policy.Adopt != AdoptElimination {
		return nil, NoEvidence
	}
	return b.left(q), ByElimination
}

// referred finds the record that alone carried the reference which q's receipt echoes, if an attempt of it is in doubt and none in
// flight: the id may be that one's, and its answer will tell.
func (b *book) referred(q *lookup) *entry {
	if len(q.numbers) > 1 {
		return nil
	}
	for other := range q.account.several {
		if other.Number != q.numbers[0] && other.Reference == q.receipt.Reference {
			return nil // it was listed for one of its destinations only
		}
	}
	for _, e := range b.nameless[q.receipt.Destination] {
		if e.Number == q.numbers[0] && e.doubtful() && !slices.ContainsFunc(e.Attempts, func(a Attempt) bool { return a.State == InFlight }) {
			return e
		}
	}
	return nil
}

// left finds the record in doubt which alone has attempts without an id to q's destination. Whatever the source of others: the SMSC may
// have replaced it. Of several attempts nobody can tell whose the id is, and nobody need: the message was accepted.
func (b *book) left(q *lookup) *entry {
	r := q.receipt
	list := b.nameless[r.Destination]
	if len(list) != 1 || len(q.account.several) > 0 {
		return nil
	}
	e := list[0]
	if e.State() != InDoubt || b.outstanding[r.Destination] != e.flights {
		return nil
	}
	if !e.ReceiptRequested || e.Source != r.Source || e.Reference != 0 && r.Reference != 0 || disagree(&e.Beginnings, &r.Beginnings) {
		return nil
	}
	return e
}

// disagree compares the longest beginnings of two texts that are both known.
func disagree(a, b *[2]Beginning) bool {
	for i := range a {
		if a[i] != (Beginning{}) && b[i] != (Beginning{}) {
			return a[i] != b[i]
		}
	}
	return false
}

// prove settles an attempt in doubt: the SMSC has accepted it, and gave it this id (none: nobody knows which). Who waits is answered.
func (b *book) prove(e *entry, a *Attempt, id []byte, by Evidence, now Time) {
	doubted := e.State() == InDoubt
	id = bytes.Clone(id)
	a.State, a.Evidence, a.Ended, a.ID, a.key = Accepted, by, now, id, e.account.hasher.messageID(id)
	if e.Answer == nil {
		e.Answer = acceptance(id, e.Several)
	}
	if f := b.flights[a.Number]; f != nil && len(id) > 0 {
		b.named(f)
	}
	b.m.outcomes[Accepted].Inc()
	if doubted {
		b.m.settled(by).Inc()
	}
	b.log.Info("settled", zap.String("account", logName(e.Account)), zap.String("request_key", e.Key.String()), zap.Stringer("evidence", by), zap.Uint64("attempt", uint64(a.Number)),
		zap.Bool("in_doubt", doubted), zap.ByteString("smsc_message_id", id), zap.Int("waiting", len(e.waiting)), zap.String("destination", e.Masked))
	b.redecide(e, now)
	b.note(e)
	b.rest(e)
	if len(id) > 0 {
		b.arrived(e.attempt(a.Number).key, e, now)
	}
}

// acceptance is the answer that the SMSC's was, as far as anybody can know: an id, and for several destinations no_unsuccess, 0.
func acceptance(id []byte, several bool) *Response {
	r := &Response{MessageID: id, Body: append(bytes.Clone(id), 0)}
	if several {
		r.Body = append(r.Body, 0)
	}
	return r
}

// confirm takes the SMSC's answer to what was found to be accepted without it. It may tell an id that nobody knew, and somebody may wait
// for this very answer.
func (b *book) confirm(f *flight, a *Attempt, r *Response, now Time) {
	e, c := f.e, f.claim
	b.m.late.Inc()
	b.land(f)
	named := len(a.ID) == 0 && r.accepted() && len(r.MessageID) > 0
	if named {
		a.ID, a.key = r.MessageID, e.account.hasher.messageID(r.MessageID)
	}
	if c != nil {
		b.give(c, r, Forward, now)
	}
	b.redecide(e, now)
	b.note(e)
	b.rest(e)
	if named {
		b.arrived(e.attempt(f.number).key, e, now)
	}
}

// noteReference lists the record of c's attempt under the reference that it carries.
func (b *book) noteReference(e *entry, c *Claim) {
	if c.Reference == 0 || e.volatile {
		return
	}
	key := referenceKey(e.account.hasher.reference(e.Destination, c.Reference), e.Number)
	b.batch.put(key, binary.AppendUvarint(nil, uint64(e.Number)), b.ttl(&e.account.policy))
}

// blind says that the account has an attempt that may be forgotten, or whose id is not known though it was accepted: for as long as its
// receipts can come, none proves anything. It is noted an hour ahead, so that not each such attempt is noted.
func (b *book) blind(a *account, now Time) {
	if until := now.Add(b.retention); a.blind < until {
		a.blind = until.Add(time.Hour)
		b.batch.Blind = append(b.batch.Blind, blindAccount{a.name, a.blind})
	}
}
