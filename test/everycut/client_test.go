package everycut

import (
	"errors"
	"fmt"
	"os"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// client is an ESME as real ones are: it submits all its messages at once, comes back after a lost connection,
// repeats what it has no answer for, and tries again when it was told to.
type client struct {
	s        *stage.Stage
	account  string
	messages []wire.Message
	cut      *cut          // for its first connection
	comeBack time.Duration // from a lost connection to the next
	until    time.Duration // when it gives up

	ids    []string // by message: of its good answer; "" without one
	told   int      // how often it was told to try again
	faults []string // what must never happen
}

const (
	tryAgain = 3 * time.Second
	timer    = 10 * time.Minute // no answer takes longer: whoever waits for so long has been forgotten
)

func (c *client) run() {
	c.ids = make([]string, len(c.messages))
	for start := time.Now(); !c.session(start.Add(c.until)); {
		time.Sleep(c.comeBack)
	}
}

func (c *client) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// session is one connection's life. over: all are answered, or its time is up.
func (c *client) session(by time.Time) (over bool) {
	p := c.s.Dial()
	defer func() { _ = p.Close() }()
	_, _ = p.Write(wire.Bind(wire.BindTransceiver, 1, c.account, "secret", "")) // a failure shows as the end
	if f, err := p.Within(timer); err != nil || f.Status() != wire.OK {
		return !time.Now().Before(by)
	}
	flying := map[uint32]int{} // by sequence number: message
	var due []int              // messages to be sent at next
	next := time.Now()
	for i, id := range c.ids {
		if id == "" {
			due = append(due, i)
		}
	}
	for sequence := uint32(100); ; {
		if len(due) > 0 && !time.Now().Before(next) {
			if !time.Now().Before(by) {
				return true
			}
			var all []byte
			for _, i := range due {
				sequence++
				flying[sequence] = i
				all = append(all, c.messages[i].Submit(sequence)...)
			}
			due = nil
			c.cut.beforeSubmits(p.Mem())
			_, _ = p.Write(all)
			c.cut.afterSubmits(p.Mem())
			c.cut = nil
		}
		if len(flying)+len(due) == 0 {
			c.part(p)
			return true
		}
		wait := timer
		if len(due) > 0 {
			wait = time.Until(next)
		}
		f, err := p.Within(wait)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && len(due) > 0:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.fault("left waiting for %d answers", len(flying))
			return true
		case err != nil:
			return false
		case f.Command() != wire.SubmitSM|wire.Response:
			continue
		}
		i, ok := flying[f.Sequence()]
		delete(flying, f.Sequence())
		switch {
		case !ok:
			c.fault("answered twice: %x", f)
		case f.Status() == wire.OK:
			c.ids[i] = f.ID()
		case f.Status() == stage.RetryStatus:
			c.told++
			due, next = append(due, i), time.Now().Add(tryAgain)
		default:
			c.fault("answered with status %#x", f.Status())
		}
	}
}

// part unbinds. Whoever is answered twice hears it now.
func (c *client) part(p *stage.Peer) {
	_, _ = p.Write(wire.New(wire.Unbind, 0, 9, nil))
	for {
		f, err := p.Within(timer)
		if err != nil {
			return
		}
		if f.Command() == wire.SubmitSM|wire.Response {
			c.fault("answered twice: %x", f)
		}
	}
}
