package proxy

import (
	"time"

	"github.com/linxGnu/gosmpp/data"
	"go.uber.org/zap"

	"smpponce/pdu"
)

// bindAnswered takes the SMSC's answer to the bind. Caller holds the mutex, which is released while the ledger is
// told: it must know the session before the ESME does.
func (s *session) bindAnswered(f pdu.Frame, r *request, at time.Duration) {
	if s.phase != opening {
		return
	}
	if f.Status() != data.ESME_ROK || f.Command() == data.GENERIC_NACK {
		s.refuse(f, r, at)
		return
	}
	if s.protected() {
		s.mu.Unlock()
		id := s.p.o.Ledger.OpenSession(s.systemID, s.bind.Command() != data.BIND_RECEIVER)
		leg := s.p.o.Ledger.OpenLeg(id)
		s.mu.Lock()
		s.id, s.leg = id, leg
	}
	s.accepted = true
	if s.phase == opening && s.esme.open() {
		s.phase = bound
		s.esme.alive.heard = at
		s.giveBack(s.esme, f, r)
	}
	s.p.metrics.bindAccepted(time.Now())
	s.log.Info("session opened", zap.Stringer("ledger_session", s.id))
	s.poke()
}

// refuse keeps the SMSC's refusal back for as long as the ESME's address has earned. That the account is bound
// already is no wrong password: those who come back after a break meet it, and are told at once. f is nil where the
// SMSC just closed. Caller holds the mutex.
func (s *session) refuse(f pdu.Frame, r *request, at time.Duration) {
	s.phase = refused
	s.refuseAt = at
	if f != nil {
		s.refusal = append(pdu.Frame(nil), f...)
		s.refusal.SetSequence(r.peer)
	}
	if f == nil || f.Status() != data.ESME_RALYBND {
		s.refuseAt += s.p.penalties.failed(s.source, time.Now())
	}
	s.smsc.shut = true
	s.poke()
}

// relayRefusal gives the ESME the bind_resp as the SMSC sent it, when its time has come.
func (s *session) relayRefusal() {
	s.watch(func(now time.Duration) (bool, time.Duration) {
		return now >= s.refuseAt || s.esme.over != going || s.refusing, s.refuseAt
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil && s.esme.open() {
		s.esme.out.add(s.refusal, s.refusal.Sequence())
		s.t.out[esme][indexOf(s.refusal.Command())]++
		s.esme.rouse()
	}
}
