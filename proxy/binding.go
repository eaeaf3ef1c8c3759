package proxy

import (
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/ledger"
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
	s.accepted, s.from = true, nil
	s.bindResp = append(pdu.Frame(nil), f...)
	s.p.metrics.bindAccepted(bindAccepted, time.Now())
	s.smsc.calls = append(s.smsc.calls, call{what: tellOpened})
	if s.protected() && !s.told {
		s.openInLedger()
	}
	if s.phase == opening && s.esme.open() {
		s.phase = bound
		s.esme.alive.heard = at
		s.giveBack(s.esme, f, r)
		s.esme.room.Signal() // what it sent behind the bind
	}
	s.poke()
}

// openInLedger has the ledger know the session. Caller holds the mutex, which is released meanwhile: should the ESME
// leave then, its end is told here, for closeESME did not know yet what to tell.
func (s *session) openInLedger() {
	s.mu.Unlock()
	book := s.p.o.Ledger
	id := book.OpenSession(s.systemID, s.canSubmit())
	leg := book.OpenLeg()
	s.suspectOthers()
	s.mu.Lock()
	s.leg = leg
	if !s.told {
		s.id = id
		return
	}
	s.mu.Unlock()
	book.CloseSession(id, ledger.End{At: book.Now(), How: ledger.Closed}, func() {})
	s.mu.Lock()
}

// refuse keeps the SMSC's refusal back for as long as the ESME's address has earned. That the account is bound
// already is no wrong password: those who come back after a break meet it, and are told at once. f is nil where the
// SMSC just closed. Caller holds the mutex.
func (s *session) refuse(f pdu.Frame, r *request, at time.Duration) {
	s.phase = refused
	if f != nil && f.Status() == data.ESME_RALYBND {
		s.phase = contested
	}
	s.esme.room.Signal()
	s.refuseAt = at
	if f != nil {
		s.refusal = append(pdu.Frame(nil), f...)
		s.refusal.SetSequence(r.peer)
	}
	if f == nil || f.Status() != data.ESME_RALYBND {
		s.refuseAt += s.p.penalties.failed(s.from.source, time.Now())
	}
	s.smsc.shut = true
	s.poke()
}

// canSubmit says whether its bind lets the ESME submit.
func (s *session) canSubmit() bool { return s.command != data.BIND_RECEIVER }

// relayRefusal gives the ESME the bind_resp as the SMSC sent it, when its time has come.
func (s *session) relayRefusal() {
	s.watch(func(now time.Duration) (bool, time.Duration) {
		return now >= s.refuseAt || s.esme.over != going || s.refusing, s.refuseAt
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = nil
	if s.refusal != nil && s.esme.open() {
		s.esme.out.add(s.refusal, s.refusal.Sequence())
		s.t.out[esme][indexOf(s.refusal.Command())]++
		s.esme.rouse()
	}
}
