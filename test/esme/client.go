package esme

import (
	"context"
	"fmt"
	"net"
	"time"

	"smpponce/test/wire"
)

// Options of a Client.
type Options struct {
	Address         string
	SystemID        string
	Window          int           // submissions that may be unanswered at a time
	ReconnectDelay  time.Duration // after a lost connection, and after a bind that failed
	ResponseTimeout time.Duration // unanswered for so long: sent again on the same session; 0: never
	RetryDelay      time.Duration // after a temporary status (0x08, 0x14, 0x58, 0x64)
	Pace            time.Duration // at least so long between two first sendings; 0: as the window allows
	ReceiptWait     time.Duration // for receipts, after the last answer; 0: receipts aren't waited for
}

// Outcome is what became of one message.
type Outcome struct {
	Sent     int    // how often its submit_sm was written
	Answered bool   // with ESME_ROK; the last status otherwise
	Status   uint32 // of the last answer
	ID       string // message id of the first ESME_ROK
	Receipts int    // receipts for that id
}

// Totals of a run.
type Totals struct {
	Answered, Rejected  int // messages
	Resubmitted         int // submit_sm beyond each message's first
	Lost                int // connections that ended under the client
	Retried             int // temporary statuses
	Late                int // answers to what was given up
	Receipted           int // messages with a receipt for their id
	Receipts, Unmatched int // receipts that came; those for an id that no message was given
}

// Client submits messages until each is answered. It is used by one goroutine; Outcomes and Totals
// are for after Run.
type Client struct {
	o        Options
	messages []wire.Message
	outcomes []Outcome
	totals   Totals
	receipts map[string]int // by message id

	queue   []int             // messages to send now, in order
	later   []pending         // messages to send again after a temporary status, by time
	flying  map[uint32]int    // by sequence number: message
	order   []pending         // what flies, by time of writing; may hold what has landed
	next    uint32            // sequence number
	paced   time.Time         // when the next first sending may happen
	waiting time.Time         // since when only receipts are missing
	known   map[string]bool   // ids that messages were given
	notify  func(done Totals) // progress, after each answer
}

type pending struct {
	at       time.Time
	message  int
	sequence uint32
}

// NewClient makes a client; notify, if not nil, is called on Run's goroutine after each answer.
func NewClient(o Options, notify func(Totals)) *Client {
	return &Client{o: o, notify: notify, receipts: map[string]int{}, flying: map[uint32]int{}, known: map[string]bool{}}
}

// Outcomes are in the order of the messages.
func (c *Client) Outcomes() []Outcome {
	all := make([]Outcome, len(c.outcomes))
	for i, o := range c.outcomes {
		o.Receipts = c.receipts[o.ID]
		all[i] = o
	}
	return all
}

// Totals of the run.
func (c *Client) Totals() Totals {
	t := c.totals
	for id, n := range c.receipts {
		t.Receipts += n
		if c.known[id] {
			t.Receipted++
		} else {
			t.Unmatched += n
		}
	}
	return t
}

// Run submits the messages, through as many connections as it takes, and unbinds. The error is
// ctx's, with what was still open.
func (c *Client) Run(ctx context.Context, messages []wire.Message) error {
	c.messages, c.outcomes = messages, make([]Outcome, len(messages))
	for i := range messages {
		c.queue = append(c.queue, i)
	}
	for {
		finished := c.session(ctx)
		if finished {
			return nil
		}
		if err := sleep(ctx, c.o.ReconnectDelay); err != nil {
			return fmt.Errorf("%d of %d messages answered, %+v: %w", c.totals.Answered, len(messages), c.Totals(), err)
		}
	}
}

// session is one connection's life: true where nothing is left to do.
func (c *Client) session(ctx context.Context) (finished bool) {
	var d net.Dialer
	tcp, err := d.DialContext(ctx, "tcp", c.o.Address)
	if err != nil {
		return false
	}
	defer tcp.Close()
	stop := context.AfterFunc(ctx, func() { _ = tcp.Close() })
	defer stop()

	frames := make(chan wire.Frame, 1024)
	go func() {
		defer close(frames)
		for r := wire.NewReader(tcp); ; {
			f, err := r.Next()
			if err != nil {
				return
			}
			frames <- f.Clone()
		}
	}()
	defer func() { // the reader must not stay behind, blocked
		_ = tcp.Close()
		for range frames {
		}
	}()

	c.next++
	if write(tcp, wire.Bind(wire.BindTransceiver, c.next, c.o.SystemID, "secret", "")) != nil {
		return false
	}
	if f, ok := <-frames; !ok || f.Status() != wire.OK {
		return false
	}
	c.talk(tcp, frames)
	if c.done() {
		c.next++
		_ = write(tcp, wire.New(wire.Unbind, 0, c.next, nil))
		c.farewell(tcp, frames)
		return true
	}
	c.totals.Lost++
	c.takeBack()
	return false
}

// talk submits and takes answers until all is done or the connection has ended.
func (c *Client) talk(tcp net.Conn, frames <-chan wire.Frame) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	broken := false // writing failed: what was answered is still read, to the end
	for {
		if !broken && c.fill(tcp) != nil {
			broken = true
			_ = tcp.SetReadDeadline(time.Now().Add(time.Second))
		}
		timer.Reset(c.nap())
		select {
		case f, ok := <-frames:
			if !ok {
				return
			}
			c.take(tcp, f)
		case <-timer.C:
		}
		if c.done() {
			return
		}
	}
}

// farewell reads to the unbind_resp, bounded in time.
func (c *Client) farewell(tcp net.Conn, frames <-chan wire.Frame) {
	_ = tcp.SetReadDeadline(time.Now().Add(2 * time.Second))
	for f := range frames {
		if f.Command() == wire.Unbind|wire.Response {
			return
		}
		c.take(tcp, f)
	}
}

func write(tcp net.Conn, b []byte) error {
	_ = tcp.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := tcp.Write(b)
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
