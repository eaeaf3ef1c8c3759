package ledger

import (
	"slices"

	"go.uber.org/zap"
)

// openSession begins a session of an account. If it can submit, it is the moment that the account's earlier losses
// waited for.
func (b *book) openSession(id SessionID, name string, canSubmit bool, now Time) {
	a := b.account(name)
	s := &session{id: id, account: a, canSubmit: canSubmit}
	b.sessions[id] = s
	if canSubmit {
		if a.submitters++; a.submitters == 1 {
			a.since = now
		}
		for _, w := range a.waiting {
			w.again = now
		}
		a.waiting = nil
		b.hurry(a, now)
	}
	b.batch.Sessions = append(b.batch.Sessions, sessionState{ID: id, Account: name, CanSubmit: canSubmit, At: now})
}

// closeSession ends a session. What it leaves unanswered is abandoned from now on (rule a); of what it was answered,
// rule (d) tells what was lost. Nothing is written per message: the session's end and the list of lost answers say it all.
func (b *book) closeSession(id SessionID, end *End, now Time) {
	s := b.sessions[id]
	if s == nil {
		return
	}
	delete(b.sessions, id)
	s.ended = now
	if s.canSubmit {
		s.account.submitters--
	}
	if s.account.submitters > 0 {
		s.again = now
	} else if s.canSubmit {
		s.account.waiting = append(s.account.waiting, s)
	}
	b.batch.Ended = append(b.batch.Ended, sessionEnded{id, now})

	unanswered := len(s.claims)
	open := make([]Key, 0, unanswered)
	for _, c := range slices.Clone(s.claims) {
		open = append(open, c.Key)
		if c.answer == nil {
			b.abandon(c)
			continue
		}
		s.leave(c)
		b.reopen(c.answer.Ticket, now, true) // it is still being committed, and nobody is there to hear it
	}
	lost := lostAnswers(end, open, s.account.window, s.account.policy.Settle)
	for _, a := range lost {
		b.reopen(a.Ticket, now, a.At == 0)
	}
	if unanswered+len(lost) > 0 {
		b.log.Info("session left submissions that may come again", zap.Stringer("session", id), zap.Stringer("ended", end.How),
			zap.Int("unanswered", unanswered), zap.Int("answers_lost", len(lost)))
	}
	b.unstall(s.account)
	b.clear(s, now)
}

// abandon takes an unanswered claim of an ended session off whatever it waits for. Its attempt, if it has one, goes on.
func (b *book) abandon(c *Claim) {
	c.session.leave(c)
	if f := b.flights[c.attempt]; f != nil && f.claim == c {
		f.claim = nil
	}
	if e := c.e; e != nil {
		e.drop(c)
		b.rest(e)
	}
}

// reopen makes a record absorb again whose answer was lost, or (unread) was never written at all.
func (b *book) reopen(t *Ticket, now Time, unread bool) {
	if t == nil {
		return
	}
	e := b.current(t.e)
	if !t.standsFor(e) || !e.account.policy.Content {
		return // another submission stands in its place
	}
	if unread {
		e.Standing.Answered = 0
		e.untell()
	} else {
		e.Standing.Lost = now
	}
	b.revive(e)
	b.awakenGroup(e)
	if e.volatile {
		b.unsaved[e] = struct{}{}
		return
	}
	l := e.home()
	l.At, l.Unread = e.Standing.Lost, unread
	b.batch.markLive(l)
}

// current gives the entry that holds e's record now: since e was let go of, the record may have been loaded and changed
// by a receipt.
func (b *book) current(e *entry) *entry {
	if !e.released || e.finishes == b.finishes {
		return e
	}
	l := e.home()
	if other := b.ids[l.ID]; other != nil && other.Number == e.Number {
		return other
	}
	r, err := b.store.message(l.ID)
	if err != nil {
		b.m.errors("read").Inc()
		b.log.Error("cannot read how a message ended", zap.Error(err))
	}
	if r == nil || r.Number != e.Number || r.Version <= e.Version {
		return e
	}
	current := b.load(r, e.account)
	current.replace(e)
	return current
}
