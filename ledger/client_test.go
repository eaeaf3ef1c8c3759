package ledger

import (
	"fmt"
	"time"
)

// A binding is a session and its SMSC leg, as the proxy keeps them.
type binding struct {
	r       *rig
	h       *Hasher
	session SessionID
	leg     LegID
	next    uint32
	noLeg   bool // the SMSC leg is gone: Forward fails
	last    Time // when the newest submission arrived
}

func (r *rig) bind(account string) *binding {
	r.Helper()
	return r.bindAs(account, true)
}

func (r *rig) bindAs(account string, canSubmit bool) *binding {
	r.Helper()
	b := &binding{r: r, h: r.l.Hasher(account), session: r.l.OpenSession(account, canSubmit)}
	b.leg = r.l.OpenLeg()
	r.run()
	return b
}

// A message is one submission of a rig's client, and all that it heard.
type message struct {
	Claim
	b        *binding
	text     string
	forwards []Number
	carried  []uint16 // the reference of each, where it is a part
	until    []Time
	answers  []Answer
	gone     bool // its session has ended: it must hear nothing more
	last     Number
}

func (m *message) Forward(n Number, until Time) (uint32, bool) {
	if m.b.noLeg {
		return 0, false
	}
	m.forwards = append(m.forwards, n)
	m.carried = append(m.carried, m.Part.Reference)
	m.until = append(m.until, until)
	m.last = n
	m.b.next++
	return m.b.next, true
}

func (m *message) Answer(a Answer) {
	if len(m.answers) > 0 {
		m.b.r.Errorf("%q is answered again: %+v after %+v", m.text, a, m.answers[0])
	}
	m.answers = append(m.answers, a)
}

// Question is answered at once, unless the test says otherwise: that ESME lives.
func (m *message) Question(other SessionID) {
	if m.b.r.questioned != nil {
		m.b.r.questioned(other)
		return
	}
	m.b.r.l.Trust(other)
}

// An option changes a submission before it is claimed.
type option func(*message)

func scheduled(unix int64) option { return func(m *message) { m.Schedule = unix } }

func withID(id string) option {
	return func(m *message) { m.Key = m.b.h.Explicit(0x1402, []byte(id), []byte("dest"), 0, 0) }
}

// asPart makes it part number of total of a long message, under a reference.
func asPart(reference uint16, number, total byte) option {
	return func(m *message) {
		m.Part = Part{Group: m.b.h.Group([]byte("from and to"), 0, total), Reference: reference, Total: total, Number: number}
		m.Destination = m.b.h.Address([]byte("4917012345"))
	}
}

func referring(n uint16) option { return func(m *message) { m.Reference = n } }
func from(source string) option { return func(m *message) { m.Source = m.b.h.Address([]byte(source)) } }
func to(destination string) option {
	return func(m *message) { m.Destination = m.b.h.Address([]byte(destination)) }
}
func several(m *message)        { m.Several = true }
func withoutReceipt(m *message) { m.ReceiptRequested = false }
func beginning(long, short string) option {
	return func(m *message) { m.Beginnings = m.b.beginnings(long, short) }
}
func validFor(d time.Duration) option { return func(m *message) { m.ValidFor = d } }

// submit tells the ledger a submission.
func (b *binding) submit(text string, options ...option) *message {
	b.r.Helper()
	m := b.queue(text, options...)
	b.r.run()
	return m
}

// queue does the same, but lets nothing happen yet.
func (b *binding) queue(text string, options ...option) *message {
	b.next++
	m := &message{b: b, text: text}
	f := b.h.Fingerprint([]byte(text))
	m.Submission = Submission{Session: b.session, Leg: b.leg, Sequence: b.next, At: b.r.now, Key: b.h.Content(f), Fingerprint: f,
		ReceiptRequested: true, Destination: b.h.Address([]byte("49170" + fmt.Sprint(len(text)))), Masked: "*******1234"}
	for _, o := range options {
		o(m)
	}
	m.Waiter = m
	b.last = b.r.now
	b.r.messages = append(b.r.messages, m)
	b.r.l.Claim(&m.Claim)
	return m
}

// settle lets the SMSC answer the newest attempt of m.
func (m *message) settle(response Response) {
	m.b.r.Helper()
	m.settleAttempt(len(m.forwards)-1, response)
}

func (m *message) settleAttempt(i int, response Response) {
	m.b.r.Helper()
	if i < 0 || i >= len(m.forwards) {
		m.b.r.Fatalf("%q has no attempt %d", m.text, i)
	}
	m.b.r.l.Settle(m.forwards[i], response)
	m.b.r.run()
}

func (m *message) accept(id string)     { m.b.r.Helper(); m.settle(accepted(id)) }
func (m *message) reject(status uint32) { m.b.r.Helper(); m.settle(Response{Status: status}) }

// end ends the session; the SMSC leg goes on.
func (b *binding) end(how HowEnded, answers ...Answered) {
	b.r.Helper()
	b.endWith(End{How: how, Answers: answers})
}

func (b *binding) endWith(e End) {
	b.r.Helper()
	e.At = b.r.now
	if e.LastSubmission == 0 {
		e.LastSubmission = b.last
	}
	for _, m := range b.r.messages {
		if m.b == b {
			m.gone = true
		}
	}
	b.r.l.CloseSession(b.session, e, func() {})
	b.r.run()
}

// endLeg ends the SMSC leg, and endBoth what the proxy ends when the SMSC does: first the leg, then the session.
func (b *binding) endLeg() {
	b.r.Helper()
	b.noLeg = true
	b.r.l.CloseLeg(b.leg)
	b.r.run()
}

func (b *binding) endBoth() {
	b.r.Helper()
	b.endLeg()
	b.end(ByProxy)
}

// read, unread and unacked tell how far the answer of m got.
func (m *message) read() Answered {
	return Answered{Ticket: m.ticket(), At: m.answeredAt(), Acked: true}
}
func (m *message) unacked() Answered {
	return Answered{Ticket: m.ticket(), At: m.answeredAt()}
}
func (m *message) unwritten() Answered { return Answered{Ticket: m.ticket()} }

func (m *message) answeredAt() Time {
	if t := m.ticket(); t != nil {
		return t.answered
	}
	return m.b.r.now
}

func (m *message) ticket() *Ticket {
	m.b.r.Helper()
	if len(m.answers) != 1 {
		m.b.r.Fatalf("%q has %d answers", m.text, len(m.answers))
	}
	return m.answers[0].Ticket
}

// What follows checks what m heard. Each check gives m back.

func (m *message) isForwarded(times int) *message {
	m.b.r.Helper()
	if len(m.forwards) != times {
		m.b.r.Fatalf("at %v %q was forwarded %d times, want %d", m.b.r.now.Sub(m.b.r.started), m.text, len(m.forwards), times)
	}
	return m
}

func (m *message) waits() *message {
	m.b.r.Helper()
	if len(m.answers) != 0 {
		m.b.r.Fatalf("at %v %q is answered: %+v, want it to wait", m.b.r.now.Sub(m.b.r.started), m.text, m.answers[0])
	}
	return m
}

func (m *message) isAnswered(id string, v Verdict) *message {
	m.b.r.Helper()
	a := m.answer()
	if want := accepted(id).Body; a.Status != 0 || a.Nack || string(a.Body) != string(want) || a.Verdict != v {
		m.b.r.Fatalf("answer to %q is %+v, want %q by %v", m.text, a, want, v)
	}
	return m
}

func (m *message) isRefused(status uint32, v Verdict) *message {
	m.b.r.Helper()
	if a := m.answer(); a.Status != status || a.Verdict != v {
		m.b.r.Fatalf("answer to %q is %+v, want status %#x by %v", m.text, a, status, v)
	}
	return m
}

func (m *message) isSentBack() *message { m.b.r.Helper(); return m.isRefused(0x14, Retry) }

func (m *message) answer() Answer {
	m.b.r.Helper()
	if len(m.answers) != 1 {
		m.b.r.Fatalf("at %v %q has %d answers, want 1", m.b.r.now.Sub(m.b.r.started), m.text, len(m.answers))
	}
	return m.answers[0]
}

func (b *binding) beginnings(long, short string) [2]Beginning {
	return [2]Beginning{b.h.Beginning([]byte(long)), b.h.Beginning([]byte(short))}
}

// receipt is a receipt of m with this id; change may make it another's.
func (m *message) receipt(id string, change ...func(*Receipt)) *Receipt {
	q := &Receipt{ID: []byte(id), Source: m.Source, Destination: m.Destination, Reference: m.Reference, State: "delivered", Status: []byte("DELIVRD")}
	for _, c := range change {
		c(q)
	}
	return q
}

// An inquiry is a receipt that the proxy asks about, and what it hears.
type inquiry struct {
	r       *rig
	found   []Found
	answers int // that the rig's messages had heard by then
}

func (r *rig) ask(q *Receipt, wait time.Duration) *inquiry {
	r.Helper()
	i := &inquiry{r: r}
	r.l.Lookup("acme", q, wait, func(f Found) {
		i.found = append(i.found, f)
		for _, m := range r.messages {
			i.answers += len(m.answers)
		}
	})
	r.run()
	return i
}

func (i *inquiry) waits() *inquiry {
	i.r.Helper()
	if len(i.found) != 0 {
		i.r.Fatalf("at %v the receipt is told: %+v, want it to wait", i.r.now.Sub(i.r.started), i.found)
	}
	return i
}

func (i *inquiry) isKnownAs(id string) *inquiry {
	i.r.Helper()
	if len(i.found) != 1 || !i.found[0].Known || string(i.found[0].ESMEID) != id {
		i.r.Fatalf("at %v the receipt is told as %+v, want as that of %s, once", i.r.now.Sub(i.r.started), i.found, id)
	}
	return i
}

func (i *inquiry) isUnknown() *inquiry {
	i.r.Helper()
	if len(i.found) != 1 || i.found[0].Known {
		i.r.Fatalf("at %v the receipt is told as %+v, want unknown, once", i.r.now.Sub(i.r.started), i.found)
	}
	return i
}
