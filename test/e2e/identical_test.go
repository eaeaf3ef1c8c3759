package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// everyOne checks that the SMSC accepted exactly n messages, and that their n ids were told.
func everyOne(t *testing.T, s *smsc.Server, n int, ids map[string]int) {
	t.Helper()
	if got := s.Counts().Accepted; got != n || len(ids) != n {
		t.Errorf("the SMSC accepted %d, and %d different ids were told; want %d", got, len(ids), n)
	}
}

func idsOf(clients ...*esme.Client) map[string]int {
	ids := map[string]int{}
	for _, c := range clients {
		for _, o := range c.Outcomes() {
			ids[o.ID]++
		}
	}
	return ids
}

func TestAThousandIdenticalMessagesOnAHealthySessionAllGoOut(t *testing.T) {
	s := startSMSC(t, smsc.Options{AnswerDelay: 5 * time.Millisecond})
	p := serve(t, s.Addr())
	o := options(p.address)
	o.Window, o.ReceiptWait = 1000, 0
	c := submitAll(t, o, identical(1000))
	everyOne(t, s, 1000, idsOf(c))
}

func TestAThousandIdenticalMessagesOverFourBindsAllGoOut(t *testing.T) {
	s := startSMSC(t, smsc.Options{AnswerDelay: 5 * time.Millisecond})
	p := serve(t, s.Addr())
	o := options(p.address)
	o.Window, o.ReceiptWait = 250, 0
	ctx := bounded(t)
	clients := make([]*esme.Client, 4)
	var all sync.WaitGroup
	for i := range clients {
		clients[i] = esme.NewClient(o, nil)
		all.Go(func() {
			if err := clients[i].Run(ctx, identical(250)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	everyOne(t, s, 1000, idsOf(clients...))
}

// The break comes when some are unanswered and the client has shown that it has read the other
// answers. It repeats the unanswered ones, and then goes on with as many new ones as are missing.
func TestAThousandIdenticalMessagesWithABreakInTheMiddleAllGoOutOnce(t *testing.T) {
	for name, end := range map[string]func(*esme.Session){"reset": (*esme.Session).Reset, "closed": (*esme.Session).Close} {
		t.Run(name, func(t *testing.T) {
			s := startSMSC(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
				if m.N > 440 && m.N <= 500 {
					return smsc.Plan{Delay: 300 * time.Millisecond}
				}
				return smsc.Plan{}
			}})
			p := serve(t, s.Addr())
			e := bound(t, p)
			ids := map[string]int{}
			message := identical(1)[0]
			first := send(t, e, message, 490)
			collect(t, e, first[:440], ids)
			<-time.After(100 * time.Millisecond) // more than a round trip and 20 ms after the answers
			send(t, e, message, 10)
			if err := s.Wait(bounded(t), func() bool { return s.Counts().Accepted == 500 }); err != nil {
				t.Fatal(err)
			}
			end(e)

			e = bound(t, p)
			collect(t, e, send(t, e, message, 60), ids)
			collect(t, e, send(t, e, message, 500), ids)
			everyOne(t, s, 1000, ids)
			if n := p.Count(`"msg":"resubmission"`); n != 60 {
				t.Errorf("%d submissions were taken for resubmissions, want 60: %s", n, p.resubmissions())
			}
		})
	}
}

func TestAScriptThatSendsTheSameTextTenTimesIsServedTenTimes(t *testing.T) {
	s := startSMSC(t, smsc.Options{})
	p := serve(t, s.Addr())
	ids := map[string]int{}
	for range 10 {
		e := bound(t, p)
		collect(t, e, send(t, e, identical(1)[0], 1), ids)
		if err := e.Unbind(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
	everyOne(t, s, 10, ids)
}

func bound(t *testing.T, p *proxy) *esme.Session {
	t.Helper()
	e, err := esme.Bound(bounded(t), p.address, wire.BindTransceiver, "acme")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// send submits a message n times and returns the sequence numbers.
func send(t *testing.T, e *esme.Session, m wire.Message, n int) []uint32 {
	t.Helper()
	all := make([]uint32, n)
	for i := range all {
		var err error
		if all[i], err = e.Submit(m); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// collect waits for the answers and enters their ids.
func collect(t *testing.T, e *esme.Session, sequences []uint32, ids map[string]int) {
	t.Helper()
	for _, n := range sequences {
		f, err := e.Answer(bounded(t), n)
		if err == nil && f.Status() != wire.OK {
			err = fmt.Errorf("status %#x", f.Status())
		}
		if err != nil {
			t.Fatal(err)
		}
		ids[f.ID()]++
	}
}
