package ledger

import (
	"slices"
	"time"
)

// A model says the rules of DESIGN 4.2 and 4.3 once more, as plainly as they can be said: lists that are searched from end to
// end, nothing is ever let go of, and what is on the disk is a copy. What it expects of each submission is compared with what
// the ledger does.
type model struct {
	p        Policy
	now      Time
	moment   int // events, counted: two can happen at the same time
	sessions []*modelSession
	legs     map[*binding]*modelLeg
	records  []*modelRecord
	messages []*modelMessage
}

type modelSession struct {
	b                 *binding
	canSubmit         bool
	opened, ended     Time
	openedAt, endedAt int // moments; endedAt 0: bound
}

type modelLeg struct {
	gone  bool
	ended Time
}

type modelRecord struct {
	explicit bool
	key      string
	claimed  Time
	schedule int64
	receipt  bool
	held     bool
	attempts []*modelAttempt
	standing *modelStand
	beneath  []*modelStand
	waiting  []*modelMessage
	loss     Time // first loss, and end of absorbing: fixed with the first submission that is absorbed
	until    Time
	answer   *string
	released bool
	closed   bool // expired in doubt, and forwarded in spite of that
	disk     *modelRecord
}

type modelAttempt struct {
	state   State
	flying  bool // its answer can still come
	byTime  bool // in doubt by its deadline
	at      Time
	ended   Time
	leg     *modelLeg
	message *modelMessage // gets its answer
	id      string
	number  func() Number
	// An operator's word tells no id, or none was asked for.
	byOperator bool
	reference  uint16
}

type modelStand struct {
	session  *modelSession
	message  *modelMessage
	at       Time
	answered Time
	lost     Time
}

// A modelMessage is what is expected of one submission.
type modelMessage struct {
	*message
	session  *modelSession
	record   *modelRecord
	attempts []*modelAttempt
	own      *modelAttempt
	until    Time // held until; 0: not held
	forwards int
	tried    bool // what was handed over of it may have been accepted
	answered []string
	stand    *modelStand
}

func newModel(p Policy, now Time) *model {
	return &model{p: p, now: now, legs: map[*binding]*modelLeg{}}
}

func (m *model) bind(b *binding, canSubmit bool) *modelSession {
	m.moment++
	s := &modelSession{b: b, canSubmit: canSubmit, opened: m.now, openedAt: m.moment}
	m.sessions = append(m.sessions, s)
	m.legs[b] = &modelLeg{}
	return s
}

// again is the first moment, at or after the end of s, at which the account could submit.
func (m *model) again(s *modelSession) Time {
	best := Time(0)
	for _, o := range m.sessions {
		if !o.canSubmit || o.endedAt != 0 && o.endedAt <= s.endedAt {
			continue
		}
		if at := max(o.opened, s.ended); best == 0 || at < best {
			best = at
		}
	}
	return best
}

func (r *modelRecord) state() State {
	for _, s := range []State{Accepted, InFlight, InDoubt, Rejected, NeverSent} {
		if slices.ContainsFunc(r.attempts, func(a *modelAttempt) bool { return a.state == s }) {
			return s
		}
	}
	return Undelivered
}

func (r *modelRecord) flying() bool {
	return slices.ContainsFunc(r.attempts, func(a *modelAttempt) bool { return a.flying })
}

// known says whether the SMSC has ever accepted r.
func (r *modelRecord) known() bool {
	return slices.ContainsFunc(r.attempts, func(a *modelAttempt) bool { return a.id != "" })
}

// deadline is when a record in doubt is forwarded after all.
func (m *model) deadline(r *modelRecord) (t Time) {
	for _, a := range r.attempts {
		switch {
		case a.state != InDoubt:
		case a.byTime && r.flying():
			t = max(t, a.at.Add(m.p.ResponseTimeout+10*m.p.InDoubtDeadline))
		default:
			t = max(t, a.ended.Add(m.p.InDoubtDeadline))
		}
	}
	return t
}

// absorbs tells since when and until when r absorbs a submission; from 0: it does not.
func (m *model) absorbs(r *modelRecord) (from, until Time) {
	if r.explicit {
		return r.claimed, r.claimed.Add(m.p.Window)
	}
	s := r.standing
	patience := s.at.Add(m.p.ClientTimeout)
	rule := func(since, end Time) {
		if from == 0 || since < from {
			from = since
		}
		until = max(until, end)
	}
	switch {
	case s.answered == 0 && s.session.endedAt != 0:
		end := never
		if at := m.again(s.session); at != 0 {
			end = at.Add(m.p.ContentWindow)
		}
		rule(s.session.ended, end)
		if m.now >= patience {
			rule(patience, patience.Add(m.p.ContentWindow))
		}
	case s.answered == 0 && m.now >= patience:
		rule(patience, patience.Add(m.p.ContentWindow))
	case s.answered != 0:
		if s.answered >= patience {
			rule(patience, s.answered.Add(5*time.Minute))
		}
		if s.lost != 0 {
			rule(s.lost, s.lost.Add(m.p.ContentWindow))
		}
	}
	if from == 0 {
		return 0, 0
	}
	if r.loss != 0 {
		from = r.loss
	}
	if r.until != 0 {
		until = r.until
	}
	until = min(until, from.Add(m.p.ContentLimit))
	if r.state() == InDoubt {
		switch m.p.OnInDoubt {
		case Hold:
			until = max(until, m.deadline(r).Add(m.p.ContentWindow))
		case RefuseInDoubt:
			until = max(until, r.claimed.Add(m.p.Window))
		}
	}
	return from, until
}

// verdict is the table of DESIGN 4.3, with the limits on forwarding.
func (m *model) verdict(r *modelRecord, heldUntil Time) (v Verdict, until Time) {
	if v, until = m.unlimited(r, heldUntil); v == Forward && m.limited(r) {
		return Retry, 0
	}
	return v, until
}

func (m *model) unlimited(r *modelRecord, heldUntil Time) (v Verdict, until Time) {
	switch r.state() {
	case Accepted:
		return Replay, 0
	case InFlight:
		return Join, 0
	case Rejected, NeverSent, Undelivered:
		return Forward, 0
	}
	deadline := m.deadline(r)
	switch {
	case r.released, m.p.OnInDoubt == ForwardInDoubt, m.p.OnInDoubt == Hold && m.now >= deadline:
		return Forward, 0
	case m.p.OnInDoubt == RefuseInDoubt:
		return Retry, 0
	case heldUntil > m.now:
		return Wait, heldUntil
	case r.held, !r.receipt && !r.flying():
		return Retry, 0
	}
	return Wait, min(m.now.Add(m.p.HoldTimeout), deadline)
}

// find chooses the record that c repeats; expired is one in doubt whose time is over.
func (m *model) find(c *modelMessage, key string) (best, expired *modelRecord) {
	far := func(r *modelRecord) int64 {
		a, b := r.schedule, c.Schedule
		if a == 0 && b == 0 {
			return 0
		}
		if a == 0 {
			a = r.claimed.Std().Unix()
		}
		if b == 0 {
			b = c.At.Std().Unix()
		}
		return max(a-b, b-a)
	}
	for _, r := range m.records {
		if r.key != key || r.explicit != c.Key.Explicit || r.closed {
			continue
		}
		from, until := m.absorbs(r)
		if from == 0 || !r.explicit && far(r) > int64(m.p.ContentWindow/time.Second) {
			continue
		}
		if m.now > until {
			if r.state() == InDoubt && expired == nil {
				expired = r
			}
			continue
		}
		if best == nil {
			best = r
			continue
		}
		if a, b := far(r) == 0, far(best) == 0; a != b {
			if a {
				best = r
			}
		} else if preferred(r, best) {
			best = r
		}
	}
	return best, expired
}

// preferred says whether r, the younger of two with equal schedules, is more likely to be the one that is repeated: what is
// unanswered before what was perhaps read, the last answer before the others, and what is in doubt after all that is not.
func preferred(r, best *modelRecord) bool {
	a, b := r.standing.answered, best.standing.answered
	switch {
	case a == 0 && b == 0:
		order := []State{Accepted, InFlight, Rejected, NeverSent, Undelivered, InDoubt}
		return slices.Index(order, r.state()) < slices.Index(order, best.state())
	case a == 0:
		return true
	}
	return b != 0 && a >= b
}
