package esme

import (
	"net"
	"slices"
	"time"

	"smpponce/test/wire"
)

// fill writes submissions while the window has room.
func (c *Client) fill(tcp net.Conn) error {
	now := time.Now()
	for len(c.later) > 0 && !c.later[0].at.After(now) {
		c.queue = append(c.queue, c.later[0].message)
		c.later = c.later[1:]
	}
	if c.o.ResponseTimeout > 0 {
		c.expire(now)
	}
	for len(c.queue) > 0 && len(c.flying) < c.o.Window {
		i := c.queue[0]
		if c.outcomes[i].Sent == 0 && c.o.Pace > 0 {
			if now.Before(c.paced) {
				return nil
			}
			c.paced = now.Add(c.o.Pace)
		}
		c.queue = c.queue[1:]
		c.next++
		// It flies before it is written: the answer may be quicker than the return of write.
		c.flying[c.next] = i
		c.order = append(c.order, pending{now, i, c.next})
		if c.outcomes[i].Sent++; c.outcomes[i].Sent > 1 {
			c.totals.Resubmitted++
		}
		if err := write(tcp, c.messages[i].Submit(c.next)); err != nil {
			return err
		}
	}
	return nil
}

// expire puts what was unanswered too long back into the queue.
func (c *Client) expire(now time.Time) {
	for len(c.order) > 0 {
		o := c.order[0]
		i, flies := c.flying[o.sequence]
		if flies && now.Sub(o.at) < c.o.ResponseTimeout {
			return
		}
		c.order = c.order[1:]
		if flies {
			delete(c.flying, o.sequence)
			c.queue = append(c.queue, i)
		}
	}
}

// nap is how long nothing is to be done unless something comes in.
func (c *Client) nap() time.Duration {
	wake := time.Hour
	until := func(t time.Time) { wake = min(wake, max(0, time.Until(t))) }
	if len(c.later) > 0 {
		until(c.later[0].at)
	}
	if c.o.ResponseTimeout > 0 && len(c.order) > 0 {
		until(c.order[0].at.Add(c.o.ResponseTimeout))
	}
	if len(c.queue) > 0 && len(c.flying) < c.o.Window {
		until(c.paced)
	}
	if !c.waiting.IsZero() {
		until(c.waiting.Add(c.o.ReceiptWait))
	}
	return wake
}

// takeBack queues everything unanswered again, before all else, in the order of its last sending.
func (c *Client) takeBack() {
	var again []int
	for _, o := range c.order {
		if i, flies := c.flying[o.sequence]; flies {
			again = append(again, i)
		}
	}
	c.order = nil
	clear(c.flying)
	c.queue = append(again, c.queue...)
}

// take deals with one PDU from the SMSC.
func (c *Client) take(tcp net.Conn, f wire.Frame) {
	switch f.Command() {
	case wire.SubmitSM | wire.Response, wire.GenericNack:
		c.answered(f)
	case wire.DeliverSM, wire.DataSM:
		parse := wire.ParseMessage
		if f.Command() == wire.DataSM {
			parse = wire.ParseData
		}
		if m, err := parse(f.Body()); err == nil && m.ESMClass&0x3C == 0x04 {
			c.receipts[m.ReceiptID()]++
		}
		_ = write(tcp, Acknowledge(f, wire.OK)) // a failure shows as the end of the connection
	case wire.EnquireLink, wire.Unbind:
		_ = write(tcp, Acknowledge(f, wire.OK))
	}
}

func (c *Client) answered(f wire.Frame) {
	i, ok := c.flying[f.Sequence()]
	if !ok {
		c.totals.Late++
		return
	}
	delete(c.flying, f.Sequence())
	o := &c.outcomes[i]
	o.Status = f.Status()
	switch {
	case f.Command() != wire.GenericNack && f.Status() == wire.OK:
		c.totals.Answered++
		o.Answered, o.ID = true, f.ID()
		c.known[o.ID] = true
	case f.Command() != wire.GenericNack && temporary(f.Status()):
		c.totals.Retried++
		c.later = append(c.later, pending{at: time.Now().Add(c.o.RetryDelay), message: i})
	default:
		c.totals.Rejected++
	}
	if c.notify != nil {
		c.notify(c.totals)
	}
}

// temporary are the statuses that clients take for "try again": see the proxy's retry_status.
func temporary(status uint32) bool {
	return slices.Contains([]uint32{wire.SystemError, wire.QueueFull, wire.Throttled, wire.AppTemporary}, status)
}

// done tells whether every message has its answer, and its receipt or the wait for that is over.
func (c *Client) done() bool {
	if c.totals.Answered+c.totals.Rejected < len(c.messages) {
		return false
	}
	if c.o.ReceiptWait == 0 {
		return true
	}
	if c.waiting.IsZero() {
		c.waiting = time.Now()
	}
	if time.Since(c.waiting) >= c.o.ReceiptWait {
		return true
	}
	for i := range c.outcomes {
		if o := &c.outcomes[i]; o.Answered && c.receipts[o.ID] == 0 {
			return false
		}
	}
	return true
}
