package proxy

import (
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/ledger"
	"smpponce/pdu"
)

// note is what the ledger is told when a request succeeds: that this message will not be delivered.
type note struct {
	id    []byte // the SMSC's
	final ledger.Final
}

// receipt is a delivery receipt on its way through the ledger.
type receipt struct {
	s      *session
	frame  pdu.Frame // its own copy
	view   pdu.Receipt
	parked bool // it may wait for its answer; counted in session.parked
}

// isDelivery says whether an SMSC's request may carry a message or a receipt.
func isDelivery(c data.CommandIDType) bool { return c == data.DELIVER_SM || c == data.DATA_SM }

// deliver routes a deliver_sm or data_sm of the SMSC. A receipt is looked up first; anything else goes straight on.
// Caller holds the mutex.
func (s *session) deliver(f pdu.Frame, at time.Duration) {
	if r := s.receiptOf(f, at); r != nil {
		s.smsc.calls = append(s.smsc.calls, call{what: tellLookup, receipt: r})
	}
}

// receiptOf gives what is to be looked up, and passes on what need not be. Caller holds the mutex.
func (s *session) receiptOf(f pdu.Frame, at time.Duration) *receipt {
	if !s.protected() {
		s.pass(s.smsc, s.esme, f, request{kind: delivery, at: at})
		return nil
	}
	view, ok := pdu.ParseReceipt(f)
	if !ok || len(view.ID()) == 0 || s.id == 0 {
		if ok && len(view.ID()) == 0 {
			s.t.receipts[view.State][unmatched]++
		}
		s.passDelivery(f, append(pdu.Frame(nil), f...), request{at: at})
		return nil
	}
	r := &receipt{s: s, frame: append(pdu.Frame(nil), f...)}
	r.view, _ = pdu.ParseReceipt(r.frame) // again: the views must not point into the reader's buffer
	if s.account.Mode == Enforce && s.account.RaceWait > 0 && s.parked < maxParked {
		r.parked = true
		s.parked++
	}
	s.esme.parked += len(r.frame)
	return r
}

// passDelivery queues f for the ESME and keeps what the SMSC had sent, as it was, until the ESME answers. Caller holds the mutex.
func (s *session) passDelivery(f, raw pdu.Frame, q request) {
	q.kind = delivery
	if s.esme.requests.octets+s.smsc.keptSize+len(raw) <= keptBound {
		q.frame = raw
	}
	s.pass(s.smsc, s.esme, f, q)
}

// lookUp asks the ledger whose receipt it is, without the lock. The hasher is the caller's.
func (s *session) lookUp(r *receipt, hasher *ledger.Hasher) {
	var wait time.Duration
	if r.parked {
		wait = s.account.RaceWait
	}
	long, short := r.view.Beginnings(nil)
	s.p.o.Ledger.Lookup(s.systemID, &ledger.Receipt{
		ID:          r.view.ID(),
		Source:      hasher.Address(r.view.Destination.Number),
		Destination: hasher.Address(r.view.Source.Number),
		Reference:   r.view.UserReference(),
		Beginnings:  [2]ledger.Beginning{hasher.Beginning(long), hasher.Beginning(short)},
		State:       r.view.State.String(),
		Status:      r.view.RawStatus,
	}, wait, r.found)
}

// found queues the receipt for the ESME, under the id that the ESME knows its message by.
func (r *receipt) found(f ledger.Found) {
	s := r.s.smsc.lock() // another session may have the leg by now
	defer s.mu.Unlock()
	r.s.esme.parked -= len(r.frame)
	if r.parked {
		r.s.parked--
	}
	if s.smsc.alive.stopped {
		s.smsc.room.Signal()
	}
	if !s.esme.open() {
		s.keep(r.frame) // nobody acknowledges it
		return
	}
	frame, how := r.frame, untouched
	switch {
	case !f.Known:
		how = unmatched
	case s.account.Mode == Enforce && len(f.ESMEID) > 0 && string(f.ESMEID) != string(r.view.ID()):
		frame, how = r.view.Rewrite(nil, f.ESMEID), translated
	}
	s.t.receipts[r.view.State][how]++
	q := request{at: s.now()}
	if final := finalOf(r.view.State); f.Known && final != ledger.NotFinal {
		q.note = &note{r.view.ID(), final}
	}
	s.passDelivery(frame, r.frame, q)
	s.esme.rouse()
}

// finalOf says which states mean that the message will not be delivered, so that one like it is no repetition.
func finalOf(s pdu.State) ledger.Final {
	switch s {
	case pdu.FailedPermanent:
		return ledger.Failed
	case pdu.Expired:
		return ledger.Expired
	case pdu.Deleted:
		return ledger.Deleted
	}
	return ledger.NotFinal
}

// noteCancel notes which message a cancel_sm is about. One that names none, but sender and receiver, cancels what
// the ledger cannot tell.
func noteCancel(f pdu.Frame) *note {
	id, ok := pdu.MessageID(f)
	if !ok || f.Command() != data.CANCEL_SM {
		return nil
	}
	return &note{append([]byte(nil), id...), ledger.Cancelled}
}
