package ledger

import (
	"slices"

	"go.uber.org/zap"
)

// restore fills an empty book from the image that an earlier process left. Every session and leg of that process has ended: its
// attempts in flight are in doubt, its unanswered submissions are abandoned since the newest time that the ledger knows, and so
// is what was answered within recentAnswer before. What this adds to the image goes into the open batch.
func (b *book) restore(m *image, now Time, record func(Number) (*Record, error)) error {
	b.next = m.Next
	for v, until := range m.Voided {
		b.voided[v] = until
	}
	for name, until := range m.Blind {
		b.account(name).blind = until
	}
	sessions := b.restoreSessions(m)
	ended := map[LegID]bool{}
	// wake makes a record live again. Where its last answer is so recent that it may not have been read, it is lost.
	wake := func(r *Record, l liveRecord) {
		e := b.load(r, b.account(r.Account))
		e.closed, e.displaced = false, !l.Accepted && e.home().Accepted
		for i := range e.Attempts {
			a := &e.Attempts[i]
			if a.State != InFlight && (a.State != InDoubt || a.Evidence != ByDeadline) {
				continue
			}
			a.State, a.Evidence, a.Ended = InDoubt, ByRestart, now
			if at, ok := m.Legs[a.Leg]; ok {
				a.Evidence, a.Ended = ByLegEnd, at
			} else if !ended[a.Leg] {
				ended[a.Leg] = true
				b.batch.LegsEnded = append(b.batch.LegsEnded, legEnded{a.Leg, now})
			}
		}
		if e.Key.Explicit && b.voided[e.Key.Value] > now {
			e.Key = contentKey(e.Fingerprint)
		}
		switch {
		case l.Unread:
			e.Standing.Answered = 0
			e.untell()
		case l.At != 0:
			e.Standing.Lost = l.At
		case m.mayBeUnread(&e.Record):
			e.Standing.Lost, l.At, l.Spent = m.At, m.At, false
			b.batch.markLive(l)
		}
		if e.session = sessions[e.Standing.Session]; e.session == nil {
			e.session = &session{id: e.Standing.Session, account: e.account, ended: m.At}
		}
		if l.Spent {
			b.shelve(e)
		} else {
			b.enter(e)
		}
		for i := range e.Attempts {
			if a := &e.Attempts[i]; len(a.ID) > 0 && !e.displaced {
				b.ids[a.key] = e
			}
		}
		b.recount(e)
	}
	for _, l := range m.Live {
		r, err := b.fetch(l, record)
		if err != nil {
			return err
		}
		if r == nil {
			b.batch.markClosed(liveRecord{Number: l.Number})
			continue
		}
		wake(r, l)
	}
	woken := map[Number]bool{}
	for _, l := range slices.Backward(m.Recent) {
		if _, live := m.Live[l.Number]; live || woken[l.Number] {
			continue
		}
		r, err := b.fetch(l, record)
		if err != nil {
			return err
		}
		if r != nil && (m.mayBeUnread(r) || r.Part.long()) {
			woken[l.Number] = true
			l.At = 0
			b.batch.markLive(l) // also where only the answer to another part of it is so recent
			wake(r, l)
		}
	}
	b.regroup(now)
	return nil
}

// mayBeUnread: the answer of r was told within recentAnswer of the end, on a session that ended with the process. What the end of an
// earlier session lost was told then; and explicit keys need no abandonment.
func (m *image) mayBeUnread(r *Record) bool {
	s := m.Sessions[r.Standing.Session]
	return s != nil && s.Ended == 0 && !r.Key.Explicit && r.Standing.Answered > m.Heard
}

// fetch reads a live record where its newest text lies.
func (b *book) fetch(l liveRecord, record func(Number) (*Record, error)) (*Record, error) {
	var r *Record
	var err error
	if l.Accepted {
		r, err = b.store.message(l.ID)
	}
	if err == nil && (r == nil || r.Number != l.Number) {
		// Under the number stands the newest text of what has no id, and an older one, without the answer, of what another message
		// with the same id has taken the place of: that one is in doubt.
		r, err = record(l.Number)
	}
	if err == nil && r == nil {
		// The power went before it was on disk: its answer was never given.
		b.m.errors("open").Inc()
		b.log.Warn("a live record is missing from the ledger", zap.Uint64("number", uint64(l.Number)))
	}
	return r, err
}

// restoreSessions makes the ended sessions that live records may refer to, and ends those that the process left bound.
func (b *book) restoreSessions(m *image) map[SessionID]*session {
	sessions := make(map[SessionID]*session, len(m.Sessions))
	for id, st := range m.Sessions {
		s := &session{id: id, account: b.account(st.Account), canSubmit: st.CanSubmit, ended: st.Ended, again: st.Again}
		if st.Ended == 0 {
			s.ended = m.At
			ended := *st // told whole: they end at once, so none of them can still submit when another ends
			ended.Ended = m.At
			b.batch.Sessions = append(b.batch.Sessions, ended)
		}
		if s.again == 0 && s.canSubmit {
			s.account.waiting = append(s.account.waiting, s)
		}
		sessions[id] = s
	}
	return sessions
}
