package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"
)

// What follows is for operators. These calls wait for the ledger's goroutine, unlike those of the proxy.

var (
	ErrUnknown    = errors.New("no live record has this number")
	ErrNotInDoubt = errors.New("the record is not in doubt")
	ErrMessageID  = errors.New("the message id is too long, or has a NUL, or is another message's")
	ErrUnwritable = errors.New("the ledger is not writable")
	ErrClosed     = errors.New("the ledger is closed")
)

// maxDoubts bounds the list of what is in doubt.
const maxDoubts = 10_000

// maxMessageID is the longest message id of a submit_sm_resp (SMPP 3.4, 4.4.2), without its NUL.
const maxMessageID = 64

// A Story is all that is known of one request.
type Story struct {
	Record
	State    State
	Waiting  int           // submissions that wait for it
	Deadline Time          // from when on a repeat of it is forwarded though it is in doubt; 0: it is not, or never
	Spent    bool          // no repeat of it is recognised any more; it is kept for its receipts
	Receipts []Observation // oldest first
}

// An Observation is a receipt that came for a message.
type Observation struct {
	At     Time
	ID     []byte // as the receipt had it
	State  string // normalised
	Status []byte // as the SMSC wrote it
}

// A Resolution is an operator's word about what is in doubt.
type Resolution uint8

const (
	ResolveAccepted Resolution = iota // the SMSC has accepted it
	ResolveRejected                   // it has not: a resubmission is forwarded, and is no duplicate
	ResolveReleased                   // nobody knows: a resubmission is forwarded, and counted as resent in doubt
)

func (r Resolution) String() string { return [...]string{"accepted", "rejected", "released"}[r] }

// Doubts lists what is in doubt, the oldest first, at most maxDoubts. The stories have no receipts.
func (l *Ledger) Doubts(ctx context.Context) ([]Story, error) {
	list := make(chan []Story, 1)
	l.queue.add(event{kind: called, call: func(now Time) { list <- l.book.doubts() }})
	return await(ctx, l, list)
}

// Resolve settles what is in doubt by an operator's word; n is Story.Number. Accepted has the message id that the SMSC gave, if the operator
// knows it. Who waits for it is answered at once. When Resolve returns nil, the word is on the disk as an intent would be. ErrUnknown,
// ErrNotInDoubt, ErrMessageID and ErrUnwritable say that nothing was done; after any other error the word may be lost in a restart.
func (l *Ledger) Resolve(ctx context.Context, n Number, as Resolution, messageID []byte) error {
	done := make(chan error, 1)
	l.queue.add(event{kind: called, call: func(now Time) { l.book.resolve(n, as, messageID, func(err error) { done <- err }, now) }})
	err, failed := await(ctx, l, done)
	return cmp.Or(failed, err)
}

// await waits for the ledger's goroutine.
func await[T any](ctx context.Context, l *Ledger, c <-chan T) (v T, err error) {
	select {
	case v = <-c:
		return v, nil
	case <-ctx.Done():
		return v, context.Cause(ctx)
	case <-l.stopped:
	}
	select {
	case v = <-c:
		return v, nil
	default:
		return v, ErrClosed
	}
}

func (b *book) doubts() []Story {
	var list []*entry
	b.each(func(e *entry) {
		if e.State() == InDoubt {
			list = append(list, e)
		}
	})
	slices.SortFunc(list, func(e, o *entry) int {
		return cmp.Or(cmp.Compare(e.Claimed, o.Claimed), cmp.Compare(e.Number, o.Number))
	})
	stories := make([]Story, 0, min(len(list), maxDoubts))
	for _, e := range list[:min(len(list), maxDoubts)] {
		stories = append(stories, e.story())
	}
	return stories
}

// each goes through what is live.
func (b *book) each(do func(*entry)) {
	for _, e := range b.index {
		for ; e != nil; e = e.next {
			if !e.closed {
				do(e)
			}
		}
	}
	for e := range b.spent {
		do(e)
	}
}

// resolve applies an operator's word, and tells done once it is on the disk.
func (b *book) resolve(n Number, as Resolution, id []byte, done func(error), now Time) {
	var e *entry
	b.each(func(o *entry) {
		if o.Number == n {
			e = o
		}
	})
	switch {
	case e == nil:
		done(ErrUnknown)
		return
	case e.State() != InDoubt:
		done(ErrNotInDoubt)
		return
	case b.unwritable:
		done(ErrUnwritable)
		return
	case len(id) > 0 && (as != ResolveAccepted || !b.free(id, e.account)):
		done(ErrMessageID)
		return
	}
	b.log.Warn("an operator decides about what is in doubt", zap.Stringer("as", as), zap.Uint64("number", uint64(n)), zap.String("account", logName(e.Account)),
		zap.String("request_key", e.Key.String()), zap.ByteString("smsc_message_id", id), zap.String("destination", e.Masked))
	switch as {
	case ResolveAccepted:
		b.prove(e, e.lastInDoubt(), id, ByOperator, now)
	case ResolveRejected:
		b.reject(e, now)
	case ResolveReleased:
		e.Released = true
		b.redecide(e, now)
		b.save(e)
		b.keep(e)
	}
	b.batch.intents = true // synced as one
	b.tell(effect{resolved: done})
}

// free tells whether id may be that of a message which is not known yet.
func (b *book) free(id []byte, a *account) bool {
	if len(id) > maxMessageID || bytes.IndexByte(id, 0) >= 0 {
		return false
	}
	key := a.hasher.messageID(id)
	if b.ids[key] != nil {
		return false
	}
	r, err := b.store.message(key)
	return err == nil && r == nil
}

// reject settles all attempts of e that are in doubt: the SMSC has accepted none of them.
func (b *book) reject(e *entry, now Time) {
	for i := range e.Attempts {
		if a := &e.Attempts[i]; a.State == InDoubt {
			a.State, a.Evidence, a.Ended = Rejected, ByOperator, now
			b.m.outcomes[Rejected].Inc()
		}
	}
	b.m.settled(ByOperator).Inc()
	b.redecide(e, now)
	b.note(e)
	b.rest(e)
}

func (r *Record) lastInDoubt() *Attempt {
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		if r.Attempts[i].State == InDoubt {
			return &r.Attempts[i]
		}
	}
	return nil
}

// story copies what is known of e.
func (e *entry) story() Story {
	s := tell(&e.Record)
	for i := range e.beneath {
		s.History = append(s.History, e.beneath[i].Stand)
	}
	s.Waiting, s.Spent = len(e.waiting), e.spent
	if p := &e.account.policy; s.State == InDoubt && !e.spent {
		switch {
		case e.Released, p.OnInDoubt == ForwardInDoubt:
			s.Deadline = e.lastInDoubt().Ended
		case p.OnInDoubt == Hold:
			s.Deadline = doubtDeadline(&e.Record, e.flights > 0, p)
		}
	}
	return s
}

// tell copies a record: its slices may change.
func tell(r *Record) Story {
	s := Story{Record: *r, State: r.State()}
	s.Attempts, s.History = slices.Clone(r.Attempts), slices.Clone(r.History)
	return s
}
