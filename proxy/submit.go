package proxy

import (
	"bytes"
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/ledger"
	"smpponce/pdu"
)

// response is the bit that tells a response's command_id from its request's.
const response = data.CommandIDType(-1 << 31)

// claim is one submission (submit_sm, submit_multi or data_sm) that the ledger decides: one piece of memory for all that is kept of it, its frame too
// where it is not a long one.
type claim struct {
	ledger.Claim // the ledger's, from Claim to Answer
	s            *session
	frame        pdu.Frame
	reference    uint16 // of the long message that it is a part of, as it stands in the frame

	// The session's mutex guards these.
	attempt    ledger.Number // in flight on the SMSC leg
	discharged bool          // no longer counted in session.open: answered, or overdue
	settled    bool          // the SMSC's answer is with the ledger
	end        uint64        // of its frame among the octets that the SMSC leg's kernel was given; 0: not there yet
	// On the proxy's clock; 0: not yet.
	arrived, sent, responded time.Duration

	short [256]byte
}

// submit notes a submission for the ledger, or forwards it where the account's mode is off. Caller holds the mutex.
func (s *session) submit(f pdu.Frame, at time.Duration) {
	s.open++
	if !s.protected() {
		s.t.unprotected++
		s.forward(f, request{kind: submission, at: at})
		return
	}
	c := &claim{s: s, arrived: at}
	c.frame = append(c.short[:0], f...)
	s.untold++
	s.esme.calls = append(s.esme.calls, call{what: tellClaim, claim: c})
}

// claim asks the ledger about a submission. It is called by the ESME's reader alone, without the lock: hashing takes
// longer than all the rest of the way.
func (s *session) claim(c *claim) {
	arrived := s.p.started.Add(c.arrived)
	c.Waiter = c
	c.Session, c.Leg = s.id, s.leg
	c.Sequence = c.frame.Sequence()
	c.At = s.p.o.Ledger.At(arrived)
	view, err := pdu.ParseSubmit(c.frame)
	readable := &view
	if err == nil {
		s.describe(c, readable, arrived)
	} else {
		readable = nil // then all of the body is its content
	}
	s.content = pdu.AppendContent(s.content[:0], c.frame, readable, s.account.RequestTags)
	c.Fingerprint = s.hasher.Fingerprint(s.content)
	c.Key = s.key(c.Fingerprint, readable)

	at := c.At // the claim is the ledger's from here on
	s.p.o.Ledger.Claim(&c.Claim)
	s.mu.Lock()
	s.untold--
	s.lastSubmission = at
	s.mu.Unlock()
}

// describe tells the ledger what a submission says of itself, but for its text.
func (s *session) describe(c *claim, view *pdu.Submit, arrived time.Time) {
	c.Source = s.hasher.Address(view.Source.Number)
	c.Destination = s.hasher.Address(view.Destination.Number)
	c.Masked = pdu.MaskNumber(view.Destination.Number)
	c.Several = c.frame.Command() == data.SUBMIT_MULTI
	c.ReceiptRequested = view.ReceiptRequested()
	c.Reference = view.UserReference()
	c.Schedule, _ = pdu.ScheduleSeconds(view.Schedule, arrived)
	c.ValidUntil, c.ValidFor = view.Expiry(arrived)
	if c.ReceiptRequested { // else nothing will quote it
		long, short := view.Beginnings(s.content[:0])
		c.Beginnings = [2]ledger.Beginning{s.hasher.Beginning(long), s.hasher.Beginning(short)}
	}
	if part, _ := view.Part(); part.Form != 0 {
		s.content = view.AppendAddresses(s.content[:0])
		group := s.hasher.Group(s.content, byte(part.Form), part.Total)
		c.Part = ledger.Part{Group: group, Reference: part.Ref, Total: part.Total, Number: part.Number}
		c.reference = part.Ref
	}
}

// key takes the request id where the submission carries one, and else its content.
func (s *session) key(f ledger.Fingerprint, view *pdu.Submit) ledger.Key {
	if view == nil {
		return s.hasher.Content(f)
	}
	for _, tag := range s.account.RequestTags {
		value, _ := view.TLV(tag)
		value = bytes.TrimSuffix(value, []byte{0})
		if len(value) == 0 {
			continue
		}
		part, _ := view.Part()
		s.content = view.AppendDestination(s.content[:0])
		return s.hasher.Explicit(tag, value, s.content, part.Number, part.Total)
	}
	return s.hasher.Content(f)
}

// Forward queues the submission for the SMSC, under attempt n: its intent is on disk. The ESME may have gone
// meanwhile: what it has sent is forwarded all the same, as it would be without us. The number it gets there stands in
// the window before the frame stands in the queue.
func (c *claim) Forward(n ledger.Number, until ledger.Time) (sequence uint32, ok bool) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.smsc.open() {
		return 0, false
	}
	if c.Part.Reference != c.reference && c.frame.SetReference(c.Part.Reference) {
		c.reference = c.Part.Reference // now a handset can put it together with the parts that the SMSC has
	}
	c.attempt, c.sent, c.end = n, 0, 0
	r := request{kind: submission, at: s.now(), peer: c.Sequence, claim: c, command: indexOf(c.frame.Command())}
	seq := s.smsc.requests.add(r)
	s.smsc.out.addMarked(c.frame, seq, mark{claim: c, attempt: n, until: until, seq: seq})
	s.smsc.session.t.out[smsc][r.command]++
	s.smsc.rouse()
	return seq, true
}

// settle gives the SMSC's answer to the ledger, which gives it back when it is kept. Caller holds the mutex.
func (s *session) settle(f pdu.Frame, r *request, at time.Duration) {
	nack := f.Command() == data.GENERIC_NACK
	c := r.claim
	if !nack && f.Command() != c.frame.Command()|response {
		return // it answers something else; what was submitted goes on being waited for
	}
	if c.sent == 0 {
		return // its frame is still with us: this answers nothing
	}
	s.smsc.requests.take(r.seq)
	c.responded = at
	s.t.answered.observe(at - c.sent)
	s.smsc.answered = at
	if !c.settled {
		c.settled = true
		c.s.settling++
	}
	body := append([]byte(nil), f.Body()...)
	response := ledger.Response{Nack: nack, Status: uint32(f.Status()), Body: body}
	if id, ok := pdu.MessageID(f); ok {
		response.MessageID = body[:len(id):len(id)] // it stands at the front
	}
	s.smsc.calls = append(s.smsc.calls, call{what: tellSettle, number: c.attempt, response: response})
	c.attempt = 0
	if (s.phase == draining || len(s.unbinds) > 0 || s.refusing) && s.smsc.requests.waiting[submission] == 0 {
		s.poke()
	}
}

// Answer queues the submission's answer for the ESME, under the ESME's own number.
func (c *claim) Answer(a ledger.Answer) {
	s := c.s
	s.mu.Lock()
	if c.settled {
		c.settled = false
		if s.settling--; s.settling == 0 && s.phase != bound {
			s.poke()
		}
	}
	if !c.discharged {
		c.discharged = true
		s.answeredOne()
	}
	if !s.esme.open() {
		s.mu.Unlock()
		if a.Ticket != nil {
			s.p.o.Ledger.Undelivered(a.Ticket)
		}
		return
	}
	command, body := c.frame.Command()|response, a.Body
	switch {
	case a.Nack:
		command = data.GENERIC_NACK
	case a.Verdict == ledger.Retry || a.Verdict == ledger.Refuse || a.Verdict == ledger.Fail:
		body = pdu.RefusalBody(command) // the SMSC has said nothing
	}
	s.esme.out.addResponse(uint32(command), a.Status, c.Sequence, body, &mark{claim: c, ticket: a.Ticket})
	s.t.out[esme][indexOf(command)]++
	s.esme.rouse()
	s.mu.Unlock()
}

// trackAnswers notes how far the answers of a batch got, and forgets those that are sure to have been read. n octets
// of the batch were written. Caller holds the mutex.
func (s *session) trackAnswers(l *leg, n int, at time.Duration, now ledger.Time) {
	total, next := l.sent(), 0
	for i := range l.batch.marks {
		m := &l.batch.marks[i]
		a := answered{ticket: m.ticket}
		if m.end <= n {
			a.at, a.offset = now, total-uint64(n-m.end)
			if l.record == tlsWrite { // the end of its record
				for l.ends[next].plain < m.end {
					next++
				}
				a.offset = l.ends[next].wire
			}
			if c := m.claim; c.responded != 0 && c.sent != 0 {
				s.t.overhead.observe(c.sent - c.arrived + at - c.responded)
			}
		}
		if a.ticket != nil {
			l.answers = append(l.answers, a)
		}
	}
	if len(l.answers) == 0 {
		return
	}
	settled := now - ledger.Time(s.account.Settle)
	if l.answers[0].at < settled && at-l.checked > 50*time.Millisecond {
		l.checked = at
		l.acked, _ = l.socket.acked()
	}
	old := 0
	for _, a := range l.answers {
		if a.at == 0 || a.at >= settled || a.offset > l.acked {
			break
		}
		old++
	}
	old = max(old, len(l.answers)-maxTracked)
	clear(l.answers[:old]) // append moves what is left when the array is used up
	l.answers = l.answers[old:]
}
