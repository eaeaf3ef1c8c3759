package smsc

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"smpponce/test/wire"
)

// delivery is a deliver_sm, or data_sm, on its way to an ESME until it is acknowledged.
type delivery struct {
	n       int // order of making
	account string
	message wire.Message
	data    bool
	about   *Submission // nil for a message that is no receipt
	origin  *connection // of the submission
	other   bool        // another bind than origin, where there is one
}

// Deliver sends a message to the account, on any bind that can receive; until there is one it waits.
func (s *Server) Deliver(account string, m wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries++
	s.show(&delivery{n: s.deliveries, account: account, message: m})
}

// Release shows the receipts that were held back, and holds none back from now on.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = true
	for _, d := range s.held {
		s.show(d)
	}
	s.held = nil
}

// receipts are those that apply to a submission, or nil.
func (s *Server) receipts(p *Plan) *Receipts {
	if p.Receipts != nil {
		return p.Receipts
	}
	return s.o.Receipts
}

// receipt makes a submission's receipt, if it is to have one. Where it belongs into the same write
// as the answer (answered), and goes to the same connection, its frame is returned; otherwise it is
// seen to. Called with mu held.
func (s *Server) receipt(c *connection, r *Submission, p *Plan, answered bool) []byte {
	o := s.receipts(p)
	if o == nil || p.NoReceipt || !r.Accepted || r.Message.RegisteredDelivery&3 == 0 {
		return nil
	}
	s.deliveries++
	d := &delivery{
		n: s.deliveries, account: r.Account, about: r, origin: c, other: o.Elsewhere,
		data: o.Data, message: receiptText(r, o),
	}
	if answered && o.Order != AfterAnswer {
		to := s.receiver(d)
		if to != c {
			s.show(d)
			return nil
		}
		return c.frame(d)
	}
	if o.Held && !s.released {
		s.held = append(s.held, d)
		return nil
	}
	s.later.add(time.Now().Add(o.Delay), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.show(d)
	})
	return nil
}

var states = map[string]byte{
	"ENROUTE": 1, "DELIVRD": 2, "EXPIRED": 3, "DELETED": 4, "UNDELIV": 5, "ACCEPTD": 6, "UNKNOWN": 7, "REJECTD": 8,
}

// receiptText builds a receipt after SMPP 3.4 appendix B.
func receiptText(r *Submission, o *Receipts) wire.Message {
	id, state := r.ID, o.State
	if o.ID != nil {
		id = o.ID(id)
	}
	if state == "" {
		state = "DELIVRD"
	}
	m := wire.Message{Source: r.Message.Destination, Destination: r.Message.Source, ESMClass: 0x04}
	if o.Text != nil {
		m.Text = []byte(o.Text(id, &r.Message))
	} else {
		const layout = "0601021504"
		text := r.Message.Payload()
		if r.Message.ESMClass&0x40 != 0 || r.Message.DataCoding != 0 {
			text = nil
		}
		m.Text = fmt.Appendf(nil, "id:%s sub:001 dlvrd:001 submit date:%s done date:%s stat:%s err:000 text:%.20s",
			id, r.At.Format(layout), time.Now().Format(layout), state, text)
	}
	if !o.NoTLV {
		m.TLVs = []wire.TLV{
			{Tag: wire.TagReceiptedID, Value: append([]byte(id), 0)},
			{Tag: wire.TagMessageState, Value: []byte{states[state]}},
		}
	}
	return m
}

// receiver chooses the connection for a delivery, or nil. Called with mu held.
func (s *Server) receiver(d *delivery) *connection {
	var any *connection
	for _, b := range s.accountOf(d.account).bound {
		if b.command == wire.BindTransmitter || b.dropped {
			continue
		}
		if (b == d.origin) != d.other {
			return b
		}
		any = b
	}
	return any
}

// show sends a delivery to an ESME, or keeps it until one binds. Called with mu held.
func (s *Server) show(d *delivery) {
	c := s.receiver(d)
	if c == nil {
		a := s.accountOf(d.account)
		a.waiting = append(a.waiting, d)
		return
	}
	c.out.put(c.frame(d))
	c.out.flush()
	s.event()
}

// frame gives a delivery its sequence number on a connection, which from then on owes its
// acknowledgement. Called with mu held.
func (c *connection) frame(d *delivery) []byte {
	c.sequence++
	c.shown[c.sequence] = d
	if d.about != nil {
		c.s.counts.Receipts++
	}
	if d.data {
		return wire.New(wire.DataSM, 0, c.sequence, d.message.DataBody())
	}
	return wire.New(wire.DeliverSM, 0, c.sequence, d.message.Body())
}

// acknowledged enters a deliver_sm_resp or data_sm_resp. A refusal is not tried again.
func (s *Server) acknowledged(c *connection, f wire.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := c.shown[f.Sequence()]
	if d == nil {
		return
	}
	delete(c.shown, f.Sequence())
	if d.about != nil && f.Status() == wire.OK {
		d.about.Receipt = true
		s.counts.Acknowledged++
	}
	s.event()
}

// inOrder are the deliveries in the order of their making.
func inOrder(m map[uint32]*delivery) []*delivery {
	all := make([]*delivery, 0, len(m))
	for _, d := range m {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *delivery) int { return cmp.Compare(a.n, b.n) })
	return all
}
