package smsc

import (
	"net"
	"slices"
	"time"

	"smpponce/test/wire"
)

// connection is one TCP connection of an ESME.
type connection struct {
	s      *Server
	tcp    *net.TCPConn
	out    *outbox
	number int
	answer []byte // the reader's scratch

	// Written by the reader with s.mu held.
	command uint32 // of the bind that stands; 0: none
	account string

	// Guarded by s.mu.
	dropped  bool                 // what still comes in is not looked at
	owed     int                  // answers that wait for their time
	settled  Drop                 // how to end once none is owed
	sequence uint32               // of our own requests
	shown    map[uint32]*delivery // by sequence number: not acknowledged yet
}

// read is the connection's reader: it decides about each PDU in the order of arrival.
func (c *connection) read() {
	r := wire.NewReader(c.tcp)
	for {
		f, err := r.Next()
		if err != nil {
			break
		}
		c.watch(f)
		c.handle(f)
		if !r.Buffered() {
			c.out.flush()
			c.out.await()
		}
	}
	c.s.gone(c)
	c.out.close()
	c.watch(nil)
	_ = c.tcp.Close()
}

// watch and sends tell who watches of what is read and written.
func (c *connection) watch(f wire.Frame) {
	if w := c.s.o.Watch; w != nil {
		w(c.number, false, f)
	}
}

func (c *connection) sends() func(wire.Frame) {
	w := c.s.o.Watch
	if w == nil {
		return nil
	}
	return func(f wire.Frame) { w(c.number, true, f) }
}

func (c *connection) handle(f wire.Frame) {
	switch f.Command() {
	case wire.SubmitSM:
		c.submit(f)
	case wire.EnquireLink:
		c.respond(f, wire.OK, nil)
	case wire.BindTransceiver, wire.BindTransmitter, wire.BindReceiver:
		c.bind(f)
	case wire.Unbind:
		c.respond(f, wire.OK, nil)
		c.s.mu.Lock()
		c.s.unbound(c)
		c.finish(Finish)
		c.s.mu.Unlock()
	case wire.DeliverSM | wire.Response, wire.DataSM | wire.Response:
		c.s.acknowledged(c, f)
	default:
		if f.Command()&wire.Response == 0 {
			c.out.put(wire.New(wire.GenericNack, wire.InvCmdID, f.Sequence(), nil))
		}
	}
}

func (c *connection) respond(f wire.Frame, status uint32, body []byte) {
	c.out.put(wire.New(f.Command()|wire.Response, status, f.Sequence(), body))
}

// finish ends the connection after what waits was written. Called with s.mu held.
func (c *connection) finish(d Drop) {
	c.dropped = true
	c.out.finish(d)
}

func (c *connection) bind(f wire.Frame) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.dropped {
		return
	}
	name := f.ID()
	a := s.accountOf(name)
	status := wire.OK
	switch {
	case c.command != 0:
		status = wire.AlreadyBound
	case s.o.MaxBinds > 0 && a.open() >= s.o.MaxBinds:
		status = wire.AlreadyBound
	case s.o.Bind != nil:
		status = s.o.Bind(BindRequest{c.number, f.Command(), name, a.open()})
	}
	if status != wire.OK {
		s.counts.RefusedBinds++
		c.respond(f, status, nil)
		s.event()
		return
	}
	c.command, c.account = f.Command(), name
	c.respond(f, wire.OK, []byte("smsc\x00\x02\x10\x00\x01\x34")) // system_id, sc_interface_version
	s.counts.Binds++
	a.bound = append(a.bound, c)
	waiting := a.waiting
	a.waiting = nil
	for _, d := range waiting {
		s.show(d)
	}
	s.event()
}

func (c *connection) submit(f wire.Frame) {
	if c.command != wire.BindTransceiver && c.command != wire.BindTransmitter {
		c.respond(f, wire.InvBindState, nil)
		return
	}
	s := c.s
	if s.plain {
		c.answer = append(s.o.IDs(c.answer[:0], s.fast.Add(1)), 0)
		c.respond(f, wire.OK, c.answer)
		return
	}
	s.mu.Lock()
	if c.dropped {
		s.mu.Unlock()
		return
	}
	stall := s.decide(c, f)
	s.mu.Unlock()
	if stall > 0 {
		c.out.flush()
		// The end of the server closes the connection, which the next read finds.
		select {
		case <-time.After(stall):
		case <-s.later.stop:
		}
	}
}

// decide asks the script about a submission, enters it, and sees to its answer and receipt. The
// result is how long to read nothing more. Called with mu held.
func (s *Server) decide(c *connection, f wire.Frame) (stall time.Duration) {
	s.arrivals++
	r := &Submission{N: s.arrivals, At: time.Now(), Connection: c.number, Account: c.account, Frame: f.Clone()}
	r.Message, _ = wire.ParseMessage(r.Frame.Body())
	if s.o.Keep != KeepNothing {
		r.Copy = s.contents[content(r.Account, &r.Message)] + 1
	}
	var p Plan
	if s.o.Script != nil {
		p = s.o.Script(*r)
	}
	if p.Drop != NoDrop {
		s.counts.Drops++
	}
	if p.Drop != NoDrop && (p.When == BeforeTaking || p.When == Settled) {
		s.counts.Untaken++
		c.dropped = true
		if p.When == Settled && c.owed > 0 {
			c.settled = p.Drop
		} else {
			c.finish(p.Drop)
		}
		s.event()
		return 0
	}
	s.taken(r, &p)
	if p.Drop != NoDrop && p.When == Unanswered {
		s.receipt(c, r, &p, false)
		if p.Delay > 0 {
			s.later.add(r.At.Add(p.Delay), func() {
				s.mu.Lock()
				c.finish(p.Drop)
				s.mu.Unlock()
			})
			return p.Stall
		}
		c.finish(p.Drop)
		return 0
	}
	delay := s.o.AnswerDelay + p.Delay
	if delay == 0 && p.Gate == nil {
		s.settle(c, r, &p)
		return p.Stall
	}
	c.owed++
	due := func() {
		s.mu.Lock()
		c.owed--
		s.settle(c, r, &p)
		if c.owed == 0 && c.settled != NoDrop {
			c.finish(c.settled)
		}
		s.mu.Unlock()
		c.out.flush()
	}
	if p.Gate == nil {
		s.later.add(r.At.Add(delay), due)
		return p.Stall
	}
	s.running.Go(func() {
		select {
		case <-p.Gate:
			s.later.add(time.Now().Add(delay), due)
		case <-s.later.stop:
		}
	})
	return p.Stall
}

// settle answers a submission. Called with mu held.
func (s *Server) settle(c *connection, r *Submission, p *Plan) {
	if p.Silent {
		s.receipt(c, r, p, false)
		return
	}
	var out []byte
	for _, b := range p.Before {
		out = append(out, b...)
	}
	command, body := wire.SubmitSM|wire.Response, []byte(nil)
	if p.Nack {
		command = wire.GenericNack
	}
	if r.Accepted {
		body = append([]byte(r.ID), 0)
	}
	for range 1 + p.Repeat {
		out = wire.Append(out, command, p.Status, r.Frame.Sequence(), body)
	}
	early := s.receipt(c, r, p, true)
	if s.receipts(p) != nil && s.receipts(p).Order == BeforeAnswer {
		out = append(early, out...)
	} else {
		out = append(out, early...)
	}
	if c.out.put(out) {
		r.Answered = true
		s.counts.Answered++
	}
	if p.Drop != NoDrop {
		c.finish(p.Drop)
	}
	s.event()
}

// gone forgets a connection; its receipts that were not acknowledged wait for another bind.
func (s *Server) gone(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c)
	s.unbound(c)
	s.event()
}

// unbound takes a connection off its account. Called with mu held.
func (s *Server) unbound(c *connection) {
	if c.command == 0 {
		return
	}
	a := s.accountOf(c.account)
	a.bound = slices.DeleteFunc(a.bound, func(b *connection) bool { return b == c })
	c.command = 0
	again := c.shown
	c.shown = map[uint32]*delivery{}
	for _, d := range inOrder(again) {
		s.show(d)
	}
}

// accountOf is the account of that name. Called with mu held.
func (s *Server) accountOf(name string) *account {
	a := s.accounts[name]
	if a == nil {
		a = &account{}
		s.accounts[name] = a
	}
	return a
}
