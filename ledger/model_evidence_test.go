package ledger

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// What a model knows of receipts, limits and operators.

// limited tells whether r was forwarded as often, or as lately, as it may be.
func (m *model) limited(r *modelRecord) bool {
	sent, last := 0, Time(0)
	for _, a := range r.attempts {
		if a.state != NeverSent {
			sent++
			last = max(last, a.at)
		}
	}
	if r.released && r.state() == InDoubt {
		return false
	}
	return m.p.MaxAttempts > 0 && sent >= m.p.MaxAttempts || m.p.MinInterval > 0 && last != 0 && m.now < last.Add(m.p.MinInterval)
}

func (a *modelAttempt) nameless() bool { return a.state == InDoubt || a.byOperator && a.id == "" }

func (r *modelRecord) nameless() (n int) {
	for _, a := range r.attempts {
		if a.nameless() {
			n++
		}
	}
	return n
}

// receipt is a receipt with an id and a reference, to the one destination that all go to. It tells whether its message is known.
func (m *model) receipt(id string, reference uint16) bool {
	var unnamed []*modelAttempt
	var of, carried []*modelRecord
	for _, r := range m.records {
		for _, a := range r.attempts {
			if a.id == id {
				return true
			}
			if a.nameless() || a.state == InFlight {
				unnamed, of = append(unnamed, a), append(of, r)
			}
			if reference != 0 && a.reference == reference && !slices.Contains(carried, r) {
				carried = append(carried, r)
			}
		}
	}
	if len(carried) > 0 {
		for _, a := range carried[0].attempts {
			if len(carried) == 1 && a.state == InDoubt && !slices.ContainsFunc(carried[0].attempts, func(a *modelAttempt) bool { return a.state == InFlight }) {
				m.prove(a, carried[0], id)
				return true
			}
		}
		return false
	}
	if of = slices.Compact(of); len(of) != 1 || of[0].state() != InDoubt || !of[0].receipt || reference != 0 && of[0].attempts[0].reference != 0 {
		return false
	}
	i := slices.IndexFunc(unnamed, func(a *modelAttempt) bool { return a.state == InDoubt })
	m.prove(unnamed[i], of[0], id)
	return true
}

// prove settles what is in doubt: it was accepted.
func (m *model) prove(a *modelAttempt, r *modelRecord, id string) {
	a.state, a.id, a.ended = Accepted, id, m.now
	if r.answer == nil {
		r.answer = &id
	}
	m.redecide(r)
	m.save(r)
}

// confirm is the SMSC's answer to what was known to be accepted.
func (m *model) confirm(a *modelAttempt, r *modelRecord, ok bool, text string) {
	a.flying = false
	if ok && a.id == "" {
		a.id = text
	}
	m.redecide(r)
	m.save(r)
}

// resolve is an operator's word about r, which is in doubt.
func (m *model) resolve(r *modelRecord, as Resolution, id string) {
	switch as {
	case ResolveAccepted:
		for _, a := range slices.Backward(r.attempts) {
			if a.state == InDoubt {
				a.byOperator = true
				m.prove(a, r, id)
				return
			}
		}
	case ResolveRejected:
		for _, a := range r.attempts {
			if a.state == InDoubt {
				a.state, a.byOperator, a.ended = Rejected, true, m.now
			}
		}
	case ResolveReleased:
		r.released = true
	}
	m.redecide(r)
	m.save(r)
}

// receipt draws one: its id is mostly unknown.
func (p *play) receipt() {
	id := fmt.Sprint("id", rapid.IntRange(1, p.ids+3).Draw(p.T, "receipt"))
	reference := uint16(rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(p.T, "reference"))
	q := p.r.ask(&Receipt{ID: []byte(id), Destination: p.r.l.Hasher("acme").Address([]byte("491706")), Reference: reference}, 0)
	if want := p.m.receipt(id, reference); len(q.found) != 1 || q.found[0].Known != want {
		p.Fatalf("a receipt of %s is told as %+v; the model knows it: %v", id, q.found, want)
	}
	p.ids += 3 // none is given twice
}

// resolve draws an operator's word.
func (p *play) resolve() {
	if len(p.m.records) == 0 {
		return
	}
	r := p.m.records[rapid.IntRange(0, len(p.m.records)-1).Draw(p.T, "record")]
	as := Resolution(rapid.IntRange(0, 2).Draw(p.T, "as"))
	id := ""
	if as == ResolveAccepted && rapid.Bool().Draw(p.T, "with id") {
		p.ids++
		id = fmt.Sprint("id", p.ids)
	}
	err := *p.r.resolve(r.attempts[0].number(), as, id)
	if doubt := r.state() == InDoubt; doubt != (err == nil) {
		p.Fatalf("an operator's word is answered with %v; the model says in doubt: %v", err, doubt)
	}
	if err == nil {
		p.m.resolve(r, as, id)
	}
}
