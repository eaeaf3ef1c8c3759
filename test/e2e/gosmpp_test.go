package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linxGnu/gosmpp"
	"github.com/linxGnu/gosmpp/data"
	"github.com/linxGnu/gosmpp/pdu"

	"smpponce/test/cut"
	"smpponce/test/smsc"
)

// gosmppClient is an application on gosmpp: it makes a new Session where one has closed, and submits
// again what was unanswered: the same PDUs, which keep their sequence numbers.
type gosmppClient struct {
	address string

	mu       sync.Mutex
	queue    []int         // messages to send
	later    int           // those that were refused, and come again soon
	flying   map[int32]int // by sequence number: message
	ids      []string      // message ids by message, "" where unanswered
	refused  int
	receipts map[string]int
	sent     int
	answered func() // called once, when each message has its answer; not with mu held

	event chan struct{} // one token: something was answered, receipted or closed
}

func (c *gosmppClient) note() {
	select {
	case c.event <- struct{}{}:
	default:
	}
}

// answer takes a response whether gosmpp knows its request or not: it enters a request after it has
// written it, so the proxy's answer from the ledger can be quicker.
func (c *gosmppClient) answer(p pdu.PDU) {
	r, ok := p.(*pdu.SubmitSMResp)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.flying[r.GetSequenceNumber()]
	if !ok {
		return
	}
	delete(c.flying, r.GetSequenceNumber())
	if r.CommandStatus != data.ESME_ROK {
		c.refused++
		c.later++
		time.AfterFunc(500*time.Millisecond, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.later--
			c.queue = append(c.queue, i)
			c.note()
		})
	}
	c.ids[i] = r.MessageID
	c.note()
}

func (c *gosmppClient) requested(p pdu.PDU) (pdu.PDU, bool) {
	if d, ok := p.(*pdu.DeliverSM); ok {
		text, _ := d.Message.GetMessage()
		_, after, _ := strings.Cut(text, "id:")
		id, _, _ := strings.Cut(after, " ")
		c.mu.Lock()
		c.receipts[id]++
		c.mu.Unlock()
		c.note()
	}
	return p.GetResponse(), false
}

// run submits all and waits for answers and receipts.
func (c *gosmppClient) run(ctx context.Context, messages []*pdu.SubmitSM) error {
	c.flying, c.receipts, c.event = map[int32]int{}, map[string]int{}, make(chan struct{}, 1)
	c.ids = make([]string, len(messages))
	c.queue = make([]int, len(messages))
	for i := range c.queue {
		c.queue[i] = i
	}
	told := false
	for ctx.Err() == nil {
		closed := make(chan struct{})
		var once sync.Once
		session, err := gosmpp.NewSession(
			gosmpp.TRXConnector(gosmpp.NonTLSDialer, gosmpp.Auth{SMSC: c.address, SystemID: "gosmpp", Password: "secret"}),
			gosmpp.Settings{
				ReadTimeout: patience, WriteTimeout: 5 * time.Second,
				OnClosed: func(gosmpp.State) { once.Do(func() { close(closed) }) },
				WindowedRequestTracking: &gosmpp.WindowedRequestTracking{
					OnReceivedPduRequest:    c.requested,
					OnExpectedPduResponse:   func(r gosmpp.Response) { c.answer(r.PDU) },
					OnUnexpectedPduResponse: c.answer,
					MaxWindowSize:           200, EnableAutoRespond: true, StoreAccessTimeOut: 5000,
				},
			}, 0)
		if err != nil {
			continue // the relay cut the bind; dialling again takes its time
		}
		for done := false; !done; {
			c.mu.Lock()
			for len(c.queue) > 0 && len(c.flying) < 10 {
				i := c.queue[0]
				c.queue = c.queue[1:]
				c.flying[messages[i].GetSequenceNumber()] = i
				c.sent++
				c.mu.Unlock()
				_ = session.Transceiver().Submit(messages[i]) // an error is followed by the close
				c.mu.Lock()
			}
			all := len(c.queue)+c.later+len(c.flying) == 0
			finished := all && c.complete()
			c.mu.Unlock()
			if all && !told {
				told = true
				c.answered()
			}
			if finished {
				_ = session.Close() // a last cut may have closed it
				return nil
			}
			select {
			case <-c.event:
			case <-closed:
				done = true
			case <-ctx.Done():
				done = true
			}
		}
		_ = session.Close()
		c.mu.Lock()
		var again []int
		for _, i := range c.flying {
			again = append(again, i)
		}
		clear(c.flying)
		c.queue = append(again, c.queue...)
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("%d queued, %d unanswered, receipts for %d ids: %w", len(c.queue), len(c.flying), len(c.receipts), ctx.Err())
}

// complete tells whether each id has its receipt. Called with mu held.
func (c *gosmppClient) complete() bool {
	for _, id := range c.ids {
		if c.receipts[id] == 0 {
			return false
		}
	}
	return true
}

func TestAGosmppSessionThatIsCutTenTimesSendsNothingTwice(t *testing.T) {
	s := startSMSC(t, faulty(smsc.UUID))
	p := serve(t, s.Addr())
	r := startCuts(t, p.address, cut.Any)

	const n = 200
	var all []*pdu.SubmitSM
	index := map[string]int{}
	for i := range n {
		m := pdu.NewSubmitSM().(*pdu.SubmitSM)
		_ = m.SourceAddr.SetAddress("Shop")
		_ = m.DestAddr.SetAddress(fmt.Sprintf("49151%08d", i))
		text := fmt.Sprintf("message %d", i)
		index[text] = i
		_ = m.Message.SetMessageWithEncoding(text, data.GSM7BIT)
		m.RegisteredDelivery = 1
		all = append(all, m)
	}
	c := &gosmppClient{address: r.Addr(), answered: func() { answered(s, r) }}
	if err := c.run(bounded(t), all); err != nil {
		t.Fatalf("%v; %d cuts, the SMSC: %+v", err, r.Cuts(), s.Counts())
	}
	once(t, s, n, func(text string) string { return c.ids[index[text]] })
	if r.Cuts() < cuts || c.sent == n || c.refused > 0 {
		t.Errorf("%d cuts, %d sent, %d refused; want %d cuts, more than %d sent, none refused", r.Cuts(), c.sent, c.refused, cuts, n)
	}
	t.Logf("%d sent; decisions: %s", c.sent, p.resubmissions())
}
