package ledger

import (
	"fmt"
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
	answer   string
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

// verdict is the table of DESIGN 4.3.
func (m *model) verdict(r *modelRecord, heldUntil Time) (v Verdict, until Time) {
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
	case m.p.OnInDoubt == ForwardInDoubt, m.p.OnInDoubt == Hold && m.now >= deadline:
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

// claim is a submission.
func (m *model) claim(msg *message, s *modelSession, key string) *modelMessage {
	c := &modelMessage{message: msg, session: s}
	m.messages = append(m.messages, c)
	if s.endedAt != 0 {
		return c
	}
	r, expired := m.find(c, key)
	if r == nil {
		if expired != nil {
			expired.closed = true
		}
		r = &modelRecord{explicit: c.Key.Explicit, key: key, claimed: m.now, schedule: c.Schedule, receipt: c.ReceiptRequested}
		m.records = append(m.records, r)
		m.stand(c, r)
		m.forward(c)
		return c
	}
	v, until := m.verdict(r, 0)
	if v == Retry {
		c.answered = append(c.answered, "retry")
		m.save(r)
		return c
	}
	if r.until == 0 && !r.explicit {
		r.loss, r.until = m.absorbs(r)
	}
	r.beneath = append(r.beneath, r.standing)
	m.stand(c, r)
	switch v {
	case Forward:
		m.forward(c)
	case Wait:
		m.hold(c, until)
	case Replay:
		m.give(c, r.answer)
		m.save(r)
	}
	m.rest(r)
	return c
}

func (m *model) stand(c *modelMessage, r *modelRecord) {
	c.record, c.stand = r, &modelStand{session: c.session, message: c, at: c.At}
	r.standing = c.stand
	r.waiting = append(r.waiting, c)
}

func (m *model) forward(c *modelMessage) {
	a := &modelAttempt{state: InFlight, flying: true, at: m.now, leg: m.legs[c.b], message: c}
	c.record.attempts = append(c.record.attempts, a)
	c.attempts = append(c.attempts, a)
	c.own, c.until, c.tried = a, 0, true
	c.forwards++
	m.save(c.record)
}

func (m *model) hold(c *modelMessage, until Time) {
	c.record.held, c.until = true, until
}

// answer takes c off its record, and expects text for it.
func (m *model) answer(c *modelMessage, text string) {
	c.answered = append(c.answered, text)
	m.drop(c)
}

func (m *model) drop(c *modelMessage) {
	if c.record != nil {
		c.record.waiting = slices.DeleteFunc(c.record.waiting, func(w *modelMessage) bool { return w == c })
	}
	if c.own != nil {
		c.own.message = nil
	}
	c.own, c.until = nil, 0
}

// give answers c, which goes on standing for its record.
func (m *model) give(c *modelMessage, text string) {
	c.stand.answered = m.now
	m.answer(c, text)
}

// sendBack answers c and takes it out of the record's place.
func (m *model) sendBack(c *modelMessage, text string) {
	r := c.record
	if r.standing == c.stand {
		if n := len(r.beneath); n > 0 {
			r.standing = r.beneath[n-1]
			r.beneath = r.beneath[:n-1]
		}
	} else {
		r.beneath = slices.DeleteFunc(r.beneath, func(s *modelStand) bool { return s == c.stand })
	}
	m.answer(c, text)
}

func (m *model) rest(r *modelRecord) {
	if !r.flying() && len(r.waiting) == 0 && r.state() == Accepted {
		r.beneath = nil
	}
}

func (m *model) redecide(r *modelRecord) {
	for _, c := range slices.Clone(r.waiting) {
		v, until := m.verdict(r, c.until)
		if c.own != nil && v != Replay {
			continue
		}
		if v == Forward && r.state() == InDoubt && c.tried {
			v = Retry
		}
		switch v {
		case Forward:
			if !m.legs[c.b].gone {
				m.forward(c)
			}
		case Join:
			c.until = 0
		case Wait:
			if c.until == 0 {
				m.hold(c, until)
			}
		case Replay:
			m.give(c, r.answer)
		case Retry:
			m.sendBack(c, "retry")
			m.save(r)
		}
	}
	m.rest(r)
}

// settle is an answer of the SMSC to attempt a of r.
func (m *model) settle(a *modelAttempt, r *modelRecord, ok bool, text string) {
	if !a.flying {
		return
	}
	a.flying, a.ended = false, m.now
	c := a.message
	a.message = nil
	if c != nil {
		c.own = nil
	}
	if ok {
		a.state, a.id = Accepted, text
		if r.answer == "" {
			r.answer = text
		}
	} else {
		a.state = Rejected
	}
	if c != nil {
		switch {
		case ok:
			m.give(c, text)
		case r.state() == InFlight:
		case r.state() == InDoubt:
			m.sendBack(c, text)
		default:
			m.give(c, text)
		}
	}
	m.redecide(r)
	m.save(r)
}

// withdraw is an attempt that was too old to be sent.
func (m *model) withdraw(a *modelAttempt, r *modelRecord) {
	if !a.flying {
		return
	}
	a.flying, a.state, a.ended = false, NeverSent, m.now
	if a.message != nil {
		a.message.own, a.message.tried = nil, false
		a.message = nil
	}
	m.redecide(r)
	m.save(r)
}

// finished is a receipt that says that the message with this id was not delivered.
func (m *model) finished(id string) {
	for _, r := range m.records {
		for _, a := range r.attempts {
			if a.id == id && a.state == Accepted {
				a.state, a.ended = Undelivered, m.now
				if r.state() != Accepted {
					r.answer = ""
				}
				m.save(r)
			}
		}
	}
}

// end is the end of a session; lost and unwritten are answers of it.
func (m *model) end(s *modelSession, lost, unwritten []*modelMessage) {
	if s.endedAt != 0 {
		return
	}
	m.moment++
	s.ended, s.endedAt = m.now, m.moment
	for _, c := range m.messages {
		if c.session == s && len(c.answered) == 0 {
			m.drop(c)
		}
	}
	mark := func(c *modelMessage, change func(*modelStand)) {
		if c.record.standing == c.stand && !c.record.explicit {
			change(c.stand)
			change(c.record.disk.standing)
		}
	}
	for _, c := range lost {
		mark(c, func(d *modelStand) { d.lost = m.now })
	}
	for _, c := range unwritten {
		mark(c, func(d *modelStand) { d.answered = 0 })
	}
}

// endLeg is the end of an SMSC leg.
func (m *model) endLeg(l *modelLeg) {
	if l.gone {
		return
	}
	l.gone, l.ended = true, m.now
	var hit []*modelRecord
	for _, r := range m.records {
		for _, a := range r.attempts {
			if a.leg == l && a.flying {
				a.flying, a.state, a.byTime, a.ended = false, InDoubt, false, m.now
				if a.message != nil {
					m.drop(a.message)
				}
				hit = append(hit, r)
			}
		}
	}
	for _, r := range hit {
		m.redecide(r)
	}
}

// pass lets time pass, and does what falls due.
func (m *model) pass(to Time) {
	for {
		next, what := never, func() {}
		for _, r := range m.records {
			for _, c := range r.waiting {
				if c.until != 0 && c.until < next {
					next, what = c.until, func() { m.redecide(r) }
				}
			}
		}
		for _, r := range m.records {
			for _, a := range r.attempts {
				if due := a.at.Add(m.p.ResponseTimeout + m.p.InDoubtDeadline); a.flying && a.state == InFlight && due < next {
					next, what = due, func() {
						a.state, a.byTime, a.ended = InDoubt, true, m.now
						if a.message != nil {
							a.message.own = nil
							a.message = nil
						}
						m.redecide(r)
					}
				}
			}
		}
		if next > to {
			m.now = to
			return
		}
		m.now = max(m.now, next)
		what()
	}
}

// save copies what is on the disk of r.
func (m *model) save(r *modelRecord) {
	d := *r
	d.disk, d.waiting, d.beneath, d.attempts = nil, nil, nil, nil
	stand := *r.standing
	d.standing = &stand
	for _, a := range r.attempts {
		b := *a
		d.attempts = append(d.attempts, &b)
	}
	r.disk = &d
}

// kill ends the process, and begins another at now; mark is the newest time that the disk knows.
func (m *model) kill(mark, now Time) {
	m.moment++
	for _, s := range m.sessions {
		if s.endedAt == 0 {
			s.ended, s.endedAt = mark, m.moment
		}
	}
	ended := m.moment
	m.now = now
	for _, c := range m.messages {
		c.own, c.until = nil, 0
	}
	for _, r := range m.records {
		d := r.disk
		r.waiting, r.beneath, r.held, r.loss, r.until, r.answer = nil, nil, d.held, d.loss, d.until, d.answer
		for i, a := range r.attempts {
			b := d.attempts[i]
			a.state, a.ended, a.byTime, a.message = b.state, b.ended, b.byTime, nil
			a.flying = false
			if a.state == InFlight || a.byTime && a.state == InDoubt {
				a.state, a.byTime, a.ended = InDoubt, false, now
				if a.leg.gone {
					a.ended = a.leg.ended
				}
			}
		}
		stand := *d.standing
		r.standing = &stand
		if s := r.standing; s.session.endedAt == ended && s.answered != 0 && s.lost == 0 && r.known() && s.answered >= mark.Add(-200*time.Millisecond) {
			s.lost = mark
		}
		m.save(r)
	}
	for _, l := range m.legs {
		if !l.gone {
			l.gone, l.ended = true, now
		}
	}
}

// check compares all that was expected with what was heard.
func (m *model) check(t tester) {
	t.Helper()
	for i, c := range m.messages {
		var got []string
		for _, a := range c.answers {
			switch {
			case a.Verdict == Retry:
				got = append(got, "retry")
			case a.Status == 0:
				got = append(got, string(a.Body[:len(a.Body)-1]))
			default:
				got = append(got, fmt.Sprintf("%#x", a.Status))
			}
		}
		if len(c.message.forwards) != c.forwards || !slices.Equal(got, c.answered) {
			t.Fatalf("submission %d, %q: forwarded %d times and answered %q; the model says %d and %q", i, c.text, len(c.message.forwards), got,
				c.forwards, c.answered)
		}
	}
}
