package ledger

import (
	"fmt"
	"slices"
)

// What happens to a model: submissions, answers, ends, time, kills.

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
		m.give(c, *r.answer)
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
	i := len(c.attempts)
	a.number, a.reference = func() Number { return c.message.forwards[i] }, c.Reference
	c.record.released = false
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
			m.give(c, *r.answer)
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
	if a.state == Accepted || a.state == Undelivered {
		m.confirm(a, r, ok, text)
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
		if r.answer == nil {
			r.answer = &text
		}
	} else {
		a.state = Rejected
	}
	a.byOperator = false
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
					r.answer = nil
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
				a.flying = false
				if a.state == InFlight || a.state == InDoubt {
					a.state, a.byTime, a.ended = InDoubt, false, m.now
				}
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

// kill ends the process, and begins another at now; mark is the newest time that the disk knows, and heard until when answers count as read.
func (m *model) kill(mark, heard, now Time) {
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
		r.released = d.released
		for i, a := range r.attempts {
			b := d.attempts[i]
			a.state, a.ended, a.byTime, a.message = b.state, b.ended, b.byTime, nil
			a.id, a.byOperator = b.id, b.byOperator
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
		if s := r.standing; s.session.endedAt == ended && s.answered != 0 && s.lost == 0 && (r.known() || r.nameless() > 0) && s.answered > heard {
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
