package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"smpponce/test/wire"
)

// submission is a submit_sm that one side saw.
type submission struct {
	place     Place
	event     int // its index in History.Events
	at        time.Duration
	text      int // its index in Message.Texts
	copy      int // at the ESME
	reference int // of a part; -1: none
	id        string
	accepted  bool // by the SMSC
	answers   []answer
}

// delivery is a receipt that one side saw.
type delivery struct {
	place   Place
	event   int
	at      time.Duration
	text    int // -1: it quotes none
	ids     []string
	state   string
	answers []answer
}

type answer struct {
	event  int
	at     time.Duration
	nack   bool
	status uint32
	id     string
}

func (a *answer) ok() bool { return a.status == wire.OK && !a.nack }

// connection is what is known of a link.
type connection struct {
	broken time.Duration // 0: it ended otherwise
	ended  time.Duration // 0: it stands
	parted bool          // its unbind was answered
}

// view is all that is about one message.
type view struct {
	*History
	Message
	links    map[Link]*connection
	esme     []*submission
	smsc     []*submission
	shown    []*delivery // by the SMSC
	received []*delivery // by an ESME
	events   []int
}

// reading is a history in order.
type reading struct {
	h          *History
	links      map[Link]*connection
	views      map[string]*view // by destination
	submitted  map[Place]*submission
	delivered  map[Place]*delivery
	owner      map[Place]*view // of submissions and deliveries, until the sequence number is used again
	faults     []Fault
	unanswered map[Place]bool // other requests
}

func read(h *History) *reading {
	r := &reading{
		h: h, links: map[Link]*connection{}, views: map[string]*view{}, submitted: map[Place]*submission{},
		delivered: map[Place]*delivery{}, owner: map[Place]*view{}, unanswered: map[Place]bool{},
	}
	for _, m := range h.Messages {
		r.views[m.Destination] = &view{History: h, Message: m, links: r.links}
	}
	for i := range h.Events {
		r.enter(i, &h.Events[i])
	}
	return r
}

func (r *reading) fault(e *Event, rule, format string, args ...any) {
	r.faults = append(r.faults, Fault{Rule: rule, Text: fmt.Sprintf(format, args...), Story: []string{e.String()}})
}

func (r *reading) enter(i int, e *Event) {
	c := r.links[e.Link]
	if c == nil {
		c = &connection{}
		r.links[e.Link] = c
	}
	switch e.Kind {
	case Broken:
		c.broken = e.At
	case Ended:
		c.ended = e.At
	}
	if e.Frame == nil {
		return
	}
	p := Place{e.Link, e.Frame.Sequence()}
	fromESME := (e.Link.Side == ESME) == (e.Kind == Sent)
	switch command := e.Frame.Command(); {
	case command == wire.SubmitSM && fromESME:
		r.submission(i, e, p)
	case (command == wire.SubmitSM|wire.Response || command == wire.GenericNack) && !fromESME:
		r.answer(i, e, p)
	case (command == wire.DeliverSM || command == wire.DataSM) && !fromESME:
		r.delivery(i, e, p)
	case (command == wire.DeliverSM|wire.Response || command == wire.DataSM|wire.Response) && fromESME:
		r.acknowledgement(i, e, p)
	case command == wire.Unbind|wire.Response && !fromESME:
		c.parted = true
	}
}

func (r *reading) submission(i int, e *Event, p Place) {
	m, err := wire.ParseMessage(e.Frame.Body())
	v := r.views[m.Destination.Number]
	if err != nil || v == nil {
		r.fault(e, ruleKnown, "a submission of nothing that was meant (%v)", err)
		return
	}
	text, reference := part(&m)
	s := &submission{
		place: p, event: i, at: e.At, copy: e.Copy, reference: reference,
		text: slices.Index(v.Texts, text),
	}
	if s.text < 0 {
		r.fault(e, ruleKnown, "the text %q was not meant for %s", text, v.Destination)
		return
	}
	v.events = append(v.events, i)
	r.owner[p], r.submitted[p] = v, s
	if e.Link.Side == ESME {
		v.esme = append(v.esme, s)
		return
	}
	s.id, s.accepted = r.h.Accepted[p]
	v.smsc = append(v.smsc, s)
}

func (r *reading) answer(i int, e *Event, p Place) {
	s := r.submitted[p]
	if s == nil {
		r.fault(e, ruleAsked, "an answer to nothing that was submitted on this connection")
		return
	}
	r.owner[p].events = append(r.owner[p].events, i)
	s.answers = append(s.answers, answer{i, e.At, e.Frame.Command() == wire.GenericNack, e.Frame.Status(), e.Frame.ID()})
}

func (r *reading) delivery(i int, e *Event, p Place) {
	parse := wire.ParseMessage
	if e.Frame.Command() == wire.DataSM {
		parse = wire.ParseData
	}
	m, err := parse(e.Frame.Body())
	v := r.views[m.Source.Number]
	if err != nil || v == nil {
		r.fault(e, ruleKnown, "a delivery about nothing that was meant (%v)", err)
		return
	}
	d := &delivery{place: p, event: i, at: e.At, text: -1, ids: receiptIDs(&m), state: field(&m, "stat:")}
	if _, quoted, ok := strings.Cut(string(m.Payload()), "text:"); ok && quoted != "" {
		d.text = slices.IndexFunc(v.Texts, func(t string) bool { return strings.HasPrefix(t, quoted) })
	}
	v.events = append(v.events, i)
	r.owner[p], r.delivered[p] = v, d
	if e.Link.Side == ESME {
		v.received = append(v.received, d)
	} else {
		v.shown = append(v.shown, d)
	}
}

func (r *reading) acknowledgement(i int, e *Event, p Place) {
	d := r.delivered[p]
	if d == nil {
		r.fault(e, ruleAsked, "an acknowledgement of nothing that was delivered on this connection")
		return
	}
	r.owner[p].events = append(r.owner[p].events, i)
	d.answers = append(d.answers, answer{i, e.At, false, e.Frame.Status(), ""})
}

// part gives a submission's text without a user data header, and the concatenation reference that it bears.
func part(m *wire.Message) (text string, reference int) {
	b := m.Payload()
	if v, ok := m.TLV(wire.TagSARReference); ok && len(v) == 2 {
		return string(b), int(v[0])<<8 | int(v[1])
	}
	if m.ESMClass&0x40 == 0 || len(b) == 0 || int(b[0]) >= len(b) {
		return string(b), -1
	}
	header, body := b[1:1+b[0]], b[1+b[0]:]
	switch {
	case len(header) == 5 && header[0] == 0:
		return string(body), int(header[2])
	case len(header) == 6 && header[0] == 8:
		return string(body), int(header[2])<<8 | int(header[3])
	}
	return string(body), -1
}

// receiptIDs are the ids that a receipt names: the TLV's and the text's.
func receiptIDs(m *wire.Message) (ids []string) {
	if v, ok := m.TLV(wire.TagReceiptedID); ok {
		ids = append(ids, string(bytes.TrimSuffix(v, []byte{0})))
	}
	if id := field(m, "id:"); id != "" {
		ids = append(ids, id)
	}
	return ids
}

func field(m *wire.Message, name string) string {
	_, after, _ := strings.Cut(string(m.Payload()), name)
	value, _, _ := strings.Cut(after, " ")
	return value
}

// story is the message's history: its events, those of the connections that it went over, and what the proxy logged.
func (v *view) story() (all []string) {
	over := map[Link]bool{}
	for _, i := range v.events {
		over[v.History.Events[i].Link] = true
	}
	about := map[int]bool{}
	for _, i := range v.events {
		about[i] = true
	}
	for i := range v.History.Events {
		e := &v.History.Events[i]
		ends := e.Kind == Opened || e.Kind == Broken || e.Kind == Ended || e.Frame != nil && e.Frame.Command()&^wire.Response == wire.Unbind
		if about[i] || e.Link.Side == Proxy || over[e.Link] && ends {
			line := e.String()
			if id, ok := v.Accepted[Place{e.Link, sequence(e)}]; ok && e.Kind == Received && e.Frame.Command() == wire.SubmitSM {
				line += fmt.Sprintf(" (accepted as %q)", id)
			}
			all = append(all, line)
		}
	}
	return append(short(all), short(v.Log[digits(v.Destination)])...)
}

// short leaves out the middle of what is too long to be read.
func short(lines []string) []string {
	const head, tail = 50, 15
	if len(lines) <= head+tail {
		return lines
	}
	left := fmt.Sprintf("… %d lines …", len(lines)-head-tail)
	return slices.Concat(lines[:head], []string{left}, lines[len(lines)-tail:])
}

func sequence(e *Event) uint32 {
	if e.Frame == nil {
		return 0
	}
	return e.Frame.Sequence()
}
