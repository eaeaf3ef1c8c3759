package ledger

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A play is a random run of a ledger beside its model.
type play struct {
	*rapid.T
	r   *rig
	m   *model
	ids int // given by the SMSC
}

// TestTheLedgerDoesWhatTheModelSays runs random clients against ledger and model and compares, after each step, how often every
// submission was forwarded and with what it was answered.
func TestTheLedgerDoesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doubt := rapid.SampledFrom([]DoubtPolicy{Hold, Hold, ForwardInDoubt, RefuseInDoubt}).Draw(t, "on_in_doubt")
		attempts := rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(t, "max_attempts")
		interval := rapid.SampledFrom([]time.Duration{0, 0, 45 * time.Second}).Draw(t, "min_interval")
		r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt, p.MaxAttempts, p.MinInterval = doubt, attempts, interval })
		p := &play{T: t, r: r, m: newModel(r.o.PolicyOf(""), r.now)}
		p.bind()
		steps := rapid.IntRange(5, 60).Draw(t, "steps")
		for range steps {
			switch step := rapid.IntRange(0, 24).Draw(t, "step"); {
			case step < 6:
				p.submit()
			case step < 10:
				p.settle()
			case step < 13:
				p.wait()
			default:
				[]func(){p.bind, p.end, p.endBoth, p.withdraw, p.finish, p.kill, p.bind, p.r.checkpoint, p.receipt, p.receipt, p.resolve, p.endBoth}[step-13]()
			}
			p.m.check(p)
			p.r.checkImage()
		}
	})
}

func (p *play) bind() {
	canSubmit := rapid.IntRange(0, 3).Draw(p.T, "canSubmit") > 0
	p.m.bind(p.r.bindAs("acme", canSubmit), canSubmit)
}

// bound draws a session that is bound and can submit, as far as there is one.
func (p *play) bound() *modelSession {
	var list []*modelSession
	for _, s := range p.m.sessions {
		if s.endedAt == 0 && s.canSubmit {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(p.T, "session")]
}

func (p *play) submit() {
	s := p.bound()
	if s == nil {
		return
	}
	n := rapid.IntRange(0, 3).Draw(p.T, "text")
	text := fmt.Sprint("text ", n)
	key := text
	var options []option
	if n == 0 {
		options = append(options, withID(text))
	}
	if rapid.IntRange(0, 4).Draw(p.T, "receipt") == 0 {
		options = append(options, func(m *message) { m.ReceiptRequested = false })
	}
	if n := rapid.SampledFrom([]uint16{0, 0, 0, 1, 2}).Draw(p.T, "reference"); n != 0 {
		options = append(options, referring(n))
	}
	if n == 3 {
		options = append(options, scheduled(p.r.now.Std().Unix()+int64(rapid.SampledFrom([]int{0, 60, 1000}).Draw(p.T, "schedule"))))
	}
	p.m.claim(s.b.submit(text, options...), s, key)
}

// attempt draws an attempt whose answer can still come, or any.
func (p *play) attempt() (*modelAttempt, *modelRecord, Number) {
	type one struct {
		a *modelAttempt
		r *modelRecord
		n Number
	}
	var list, all []one
	for _, c := range p.m.messages {
		for i, a := range c.attempts {
			o := one{a, c.record, c.message.forwards[i]}
			all = append(all, o)
			if a.flying {
				list = append(list, o)
			}
		}
	}
	if len(list) == 0 || rapid.IntRange(0, 9).Draw(p.T, "any") == 0 {
		list = all
	}
	if len(list) == 0 {
		return nil, nil, 0
	}
	o := list[rapid.IntRange(0, len(list)-1).Draw(p.T, "attempt")]
	return o.a, o.r, o.n
}

func (p *play) settle() {
	a, r, n := p.attempt()
	if a == nil {
		return
	}
	if rapid.IntRange(0, 3).Draw(p.T, "accepted") > 0 {
		p.ids++
		id := fmt.Sprint("id", p.ids)
		p.r.l.Settle(n, accepted(id))
		p.m.settle(a, r, true, id)
	} else {
		p.r.l.Settle(n, Response{Status: 0x58})
		p.m.settle(a, r, false, "0x58")
	}
	p.r.run()
}

// withdraw takes an attempt back that was too old to be sent.
func (p *play) withdraw() {
	a, r, n := p.attempt()
	if a == nil || a.state != InFlight {
		return
	}
	p.r.l.Unsent(n, true)
	p.m.withdraw(a, r)
	p.r.run()
}

func (p *play) finish() {
	if p.ids == 0 {
		return
	}
	id := fmt.Sprint("id", rapid.IntRange(1, p.ids).Draw(p.T, "finished"))
	p.r.l.Finished("acme", []byte(id), Expired)
	p.m.finished(id)
	p.r.run()
}

func (p *play) wait() {
	d := rapid.SampledFrom([]time.Duration{time.Millisecond, 150 * time.Millisecond, time.Second, 3 * time.Second, 30 * time.Second, 61 * time.Second,
		130 * time.Second, 5 * time.Minute, 11 * time.Minute, time.Hour}).Draw(p.T, "wait")
	p.m.pass(p.r.now.Add(d))
	p.r.wait(d)
}

// end ends a session: any of its answers may be lost, or never have been written.
func (p *play) end() {
	p.endOf(p.bound())
}

func (p *play) endOf(s *modelSession) {
	if s == nil {
		return
	}
	var answers []Answered
	var lost, unwritten []*modelMessage
	for _, c := range p.m.messages {
		if c.session != s || len(c.answers) == 0 || c.answers[0].Ticket == nil {
			continue
		}
		switch rapid.IntRange(0, 3).Draw(p.T, "answer") {
		case 0:
			lost = append(lost, c)
			answers = append(answers, c.unacked())
		case 1:
			unwritten = append(unwritten, c)
			answers = append(answers, c.unwritten())
		case 2:
			answers = append(answers, c.read())
		}
	}
	// (d)(ii) is told elsewhere: this leg ended long after the answers that TCP has acknowledged, or by the proxy.
	s.b.end(ByProxy, answers...)
	p.m.end(s, lost, unwritten)
}

// endBoth ends an SMSC leg, and its session where that is still bound.
func (p *play) endBoth() {
	if len(p.m.sessions) == 0 {
		return
	}
	s := p.m.sessions[rapid.IntRange(0, len(p.m.sessions)-1).Draw(p.T, "any session")]
	s.b.endLeg()
	p.m.endLeg(p.m.legs[s.b])
	if s.endedAt == 0 {
		p.endOf(s)
	}
}

func (p *play) kill() {
	mark, heard := p.r.l.image.At, p.r.l.image.Heard
	down := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(p.T, "down")
	p.r.kill(down)
	p.m.kill(mark, heard, p.r.now)
}
