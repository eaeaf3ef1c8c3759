package proxy

import (
	"github.com/linxGnu/gosmpp/data"

	"smpponce/pdu"
	"time"
)

// Our own PDUs, built once; a sequence number is put into the queued copy.
var (
	enquireLink     = pdu.EnquireLink(0)
	enquireLinkResp = pdu.EnquireLinkResp(0)
	ownUnbind       = pdu.Unbind(0)
)

// relay watches the session until something ends it, and says what.
func (s *session) relay() (why string) {
	by := s.now() + s.p.o.ResponseTimeout // for the bind_resp
	s.watch(func(now time.Duration) (bool, time.Duration) {
		next := never
		switch {
		case s.done:
			why = s.exchanged.String() + "_unbind"
		case s.mayRead() && s.smsc.over == going && now < s.leaveBy:
			next = s.leaveBy // it may be reading still
		case s.esme.over == closed && s.esmeParted:
			why = "esme_unbind"
		case s.esme.over != going:
			why = "esme_" + s.esme.over.String()
		case s.phase == refused, s.phase == contested:
			why = "refused"
		case s.smsc.over != going && s.phase == opening:
			s.refuse(nil, nil, now)
			why = "refused"
		case s.smsc.over != going:
			why = "smsc_" + s.smsc.over.String()
		case s.phase == opening:
			if next = by; now >= by {
				why = "bind_unanswered"
			}
		}
		if why != "" {
			return true, 0
		}
		if len(s.unbinds) > 0 {
			next = min(next, s.unbindAt)
			if !s.owes() || now >= s.unbindAt {
				s.forwardUnbinds(now)
				next = now
			}
		}
		if s.refusing {
			next = min(next, s.drainBy)
			if s.phase != bound || !s.owes() || now >= s.drainBy {
				why = "shutdown"
				return true, 0
			}
		}
		if s.esme.alive.stopped {
			s.esme.room.Signal() // it looks what has become overdue
			next = min(next, now+overdueHint)
		}
		for _, l := range []*leg{s.esme, s.smsc} {
			if l.unsent != nil && l.over == going {
				next = min(next, s.deadAt(l))
			}
		}
		return false, next
	})
	if why == "" {
		why = "shutdown"
	}
	return why
}

// forward numbers a frame of the ESME and queues it for the SMSC. Caller holds the mutex.
func (s *session) forward(f pdu.Frame, r request) { s.pass(s.esme, s.smsc, f, r) }

// pass numbers a request that came from one leg and queues it for the other, which is open. Caller holds the mutex.
func (s *session) pass(from, to *leg, f pdu.Frame, r request) {
	command := f.Command()
	r.command = indexOf(command)
	s.t.out[to.side][r.command]++
	if unanswered(command) {
		to.out.add(f, to.requests.number())
		return
	}
	r.peer = f.Sequence()
	to.out.add(f, to.requests.add(r))
}

// unanswered says whether a request has no response in SMPP.
func unanswered(c data.CommandIDType) bool {
	return c == data.ALERT_NOTIFICATION || c == data.OUTBIND
}

// giveBack queues a response for the leg that the request came from, under the request's own number. Caller holds
// the mutex.
func (s *session) giveBack(to *leg, f pdu.Frame, r *request) {
	if !to.open() {
		return
	}
	to.out.add(f, r.peer)
	s.t.out[to.side][indexOf(f.Command())]++
}

// answerHere queues a response of our own to a request of the peer of l. A peer that takes no answers and asks on
// gets none: its queue is bounded. Caller holds the mutex.
func (s *session) answerHere(l *leg, f pdu.Frame, seq uint32) {
	if !l.open() || l.queued() >= answerBound {
		return
	}
	l.out.add(f, seq)
	s.t.out[l.side][indexOf(f.Command())]++
}

// fromESME routes one frame of the ESME. Caller holds the mutex.
func (s *session) fromESME(f pdu.Frame, at time.Duration) {
	command := f.Command()
	switch {
	case s.esme.shut:
		// An end is being made of this leg: it is read only so that its kernel takes our last answers.
	case f.IsResponse():
		s.responseFromESME(f, at)
	case command == data.ENQUIRE_LINK:
		s.answerHere(s.esme, enquireLinkResp, f.Sequence())
	case pdu.IsSubmit(command) && s.refusing:
		s.answerHere(s.esme, pdu.SubmitResp(command, 0, data.CommandStatusType(s.account.RetryStatus)), f.Sequence())
	case !s.accepted || s.done:
		s.answerHere(s.esme, notBound(f), f.Sequence())
	case !s.smsc.open():
		// The SMSC is gone, and the ESME is about to hear it.
	case pdu.IsSubmit(command):
		s.submit(f, at)
	case command == data.UNBIND:
		s.unbindFromESME(f, at)
	case command == data.CANCEL_SM && s.protected():
		s.forward(f, request{at: at, note: noteCancel(f)})
	default:
		s.forward(f, request{at: at})
	}
}

// notBound refuses a request that comes before a bind.
func notBound(f pdu.Frame) pdu.Frame {
	if indexOf(f.Command()) == unknownCommand {
		return pdu.GenericNack(0, data.ESME_RINVBNDSTS)
	}
	return pdu.SubmitResp(f.Command(), 0, data.ESME_RINVBNDSTS)
}

// responseFromESME gives a response of the ESME to the SMSC.
func (s *session) responseFromESME(f pdu.Frame, at time.Duration) {
	r, ok := s.esme.requests.take(f.Sequence())
	s.t.response(esme, f, ok)
	if !ok {
		return
	}
	switch r.kind {
	case probe:
		if r.seq == s.esme.asked {
			s.esme.lastAsk = s.esme.askedAt
		}
		return
	case farewell:
		s.esmeParted = true
		s.poke()
		return
	case parting:
		s.esmeParted = true
		s.part(smsc)
	case delivery:
		if r.note != nil && f.Status() == data.ESME_ROK && f.Command() != data.GENERIC_NACK {
			s.esme.calls = append(s.esme.calls, call{what: tellFinished, note: r.note})
		}
	}
	s.giveBack(s.smsc, f, &r)
}

// fromSMSC routes one frame of the SMSC. Caller holds the mutex.
func (s *session) fromSMSC(f pdu.Frame, at time.Duration) {
	command := f.Command()
	switch {
	case f.IsResponse():
		s.responseFromSMSC(f, at)
	case command == data.ENQUIRE_LINK:
		s.answerHere(s.smsc, enquireLinkResp, f.Sequence())
	case (s.showing || !s.esme.open()) && isDelivery(command) && s.keep(f):
		// Its turn comes, or the next ESME's.
	case !s.esme.open() || s.phase == refused:
		// The ESME is gone, and nobody acknowledges for it.
		s.smsc.parting = s.smsc.parting || command == data.UNBIND
	case command == data.UNBIND:
		s.smsc.parting = true
		s.pass(s.smsc, s.esme, f, request{kind: parting, at: at})
	case isDelivery(command):
		s.deliver(f, at)
	default:
		s.pass(s.smsc, s.esme, f, request{at: at})
	}
}

// responseFromSMSC gives a response of the SMSC to the ESME, or to the ledger.
func (s *session) responseFromSMSC(f pdu.Frame, at time.Duration) {
	r := s.smsc.requests.find(f.Sequence())
	s.t.response(smsc, f, r != nil)
	if r == nil {
		return
	}
	if r.claim != nil {
		s.settle(f, r, at)
		return
	}
	taken, _ := s.smsc.requests.take(f.Sequence())
	switch taken.kind {
	case probe:
		return
	case farewell:
		s.part(smsc)
		return
	case binding:
		s.bindAnswered(f, &taken, at)
		return
	case parting:
		s.part(esme)
	case submission:
		s.t.answered.observe(at - taken.at)
		if !taken.overdue {
			s.answeredOne()
		}
	case relayed:
		if taken.note != nil && f.Status() == data.ESME_ROK && f.Command() != data.GENERIC_NACK {
			s.smsc.calls = append(s.smsc.calls, call{what: tellFinished, note: taken.note})
		}
		if taken.orphan {
			return // who asked is gone
		}
	}
	s.giveBack(s.esme, f, &taken)
}

// unbindFromESME holds an unbind of the ESME until its submissions are answered, also those that come between two unbinds; only then
// are they all sure to be told before the session ends. More than maxUnbinds at a time are nothing that a client means.
func (s *session) unbindFromESME(f pdu.Frame, at time.Duration) {
	s.esmeParted = true
	if len(s.unbinds) == maxUnbinds {
		return
	}
	if len(s.unbinds) == 0 {
		s.unbindAt = at + s.p.o.ResponseTimeout
	}
	s.unbinds = append(s.unbinds, append(pdu.Frame(nil), f...))
	s.poke()
}

// forwardUnbinds lets the held unbinds go.
func (s *session) forwardUnbinds(now time.Duration) {
	for _, f := range s.unbinds {
		if s.smsc.open() {
			s.forward(f, request{kind: parting, at: now})
		}
	}
	s.unbinds = nil
}

// part notes that an unbind of by was answered.
func (s *session) part(by side) {
	s.done, s.exchanged = true, by
	s.poke()
}
