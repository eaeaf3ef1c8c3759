package ledger

import "go.uber.org/zap"

// restore fills an empty book from the image that an earlier process left. Every session and leg of that process has ended: its
// attempts in flight are in doubt, its unanswered submissions are abandoned since the newest time that the ledger knows, and so
// is what was answered within recentAnswer before. What this adds to the image goes into the open batch.
func (b *book) restore(m *image, now Time, record func(Number) (*Record, error)) error {
	b.next = m.Next
	for v, until := range m.Voided {
		b.voided[v] = until
	}
	sessions := b.restoreSessions(m)
	ended := map[LegID]bool{}
	restore := func(l liveRecord) (*entry, error) {
		r, err := b.fetch(l, record)
		if err != nil || r == nil {
			return nil, err
		}
		e := b.load(r, b.account(r.Account))
		e.closed = false
		for i := range e.Attempts {
			a := &e.Attempts[i]
			if a.State != InFlight {
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
		if e.session = sessions[e.Standing.Session]; e.session == nil {
			e.session = &session{id: e.Standing.Session, account: e.account, ended: m.At}
		}
		b.enter(e)
		for i := range e.Attempts {
			if a := &e.Attempts[i]; len(a.ID) > 0 {
				b.ids[a.key] = e
			}
		}
		b.recount(e)
		return e, nil
	}
	for _, l := range m.Live {
		e, err := restore(l)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if l.Unread {
			e.Standing.Answered = 0
		} else if l.At != 0 {
			e.Standing.Lost = l.At
		}
	}
	for _, l := range m.Recent {
		if _, live := m.Live[l.Number]; live {
			continue
		}
		e, err := restore(l)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		s := m.Sessions[e.Standing.Session]
		if s == nil || s.Ended != 0 || e.Key.Explicit {
			b.leave(e) // what that session's end lost was told then
			continue
		}
		e.Standing.Lost = m.At
		l.At = m.At
		b.batch.markLive(l)
	}
	return nil
}

// fetch reads a live record where its newest text lies.
func (b *book) fetch(l liveRecord, record func(Number) (*Record, error)) (*Record, error) {
	r, err := record(l.Number)
	if l.Accepted {
		r, err = b.store.message(l.ID)
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
			b.batch.Ended = append(b.batch.Ended, sessionEnded{id, m.At})
		}
		if s.again == 0 && s.canSubmit {
			s.account.waiting = append(s.account.waiting, s)
		}
		sessions[id] = s
	}
	return sessions
}
