package esme_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"smpponce/test/cut"
	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

func messages(n int) []wire.Message {
	all := make([]wire.Message, n)
	for i := range all {
		all[i] = wire.Message{
			Source:             wire.Address{TON: 5, Number: "Shop"},
			Destination:        wire.Address{TON: 1, NPI: 1, Number: fmt.Sprintf("49151%08d", i)},
			RegisteredDelivery: 1, Text: fmt.Appendf(nil, "message %d", i),
		}
	}
	return all
}

func options(address string) esme.Options {
	return esme.Options{
		Address: address, SystemID: "acme", Window: 10, ReconnectDelay: 5 * time.Millisecond,
		RetryDelay: 5 * time.Millisecond, ReceiptWait: 10 * time.Second,
	}
}

func start(t *testing.T, o smsc.Options) *smsc.Server {
	t.Helper()
	s, err := smsc.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func run(t *testing.T, o esme.Options, all []wire.Message) *esme.Client {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	c := esme.NewClient(o, nil)
	if err := c.Run(ctx, all); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnAHealthyConnectionEachMessageGoesOnceAndGetsItsReceipt(t *testing.T) {
	s := start(t, smsc.Options{AnswerDelay: time.Millisecond, Receipts: &smsc.Receipts{}})
	c := run(t, options(s.Addr()), messages(200))
	if got := c.Totals(); got != (esme.Totals{Answered: 200, Receipted: 200, Receipts: 200}) {
		t.Errorf("%+v", got)
	}
	for i, r := range s.Received() {
		if o := c.Outcomes()[i]; o.ID != r.ID || o.Sent != 1 || o.Receipts != 1 {
			t.Errorf("message %d: %+v, its id at the SMSC is %q", i, o, r.ID)
		}
	}
}

func TestWithoutAProxyBreaksMakeDuplicates(t *testing.T) {
	s := start(t, smsc.Options{AnswerDelay: 5 * time.Millisecond, Receipts: &smsc.Receipts{}})
	const seed = 42
	r, err := cut.Start(cut.Options{Target: s.Addr(), Seed: seed, Cuts: 10, Min: 600, Max: 2000, Spread: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c := run(t, options(r.Addr()), messages(200))
	got := c.Totals()
	if r.Cuts() != 10 || got.Answered != 200 || got.Lost < 5 {
		t.Errorf("seed %d: %d cuts, %+v; want 10 cuts and 200 messages answered", seed, r.Cuts(), got)
	}
	n := s.Counts()
	if n.Duplicates == 0 || n.Accepted-n.Duplicates != 200 {
		t.Errorf("seed %d: %+v; want 200 different messages, and duplicates", seed, n)
	}
}

func TestWhatTheSMSCDropsUnansweredIsSentAgain(t *testing.T) {
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		switch {
		case m.N%40 == 10:
			return smsc.Plan{Drop: smsc.Finish}
		case m.N%40 == 30:
			return smsc.Plan{Drop: smsc.Reset, When: smsc.Unanswered}
		}
		return smsc.Plan{}
	}})
	o := options(s.Addr())
	o.ReceiptWait = 0
	c := run(t, o, messages(200))
	n := s.Counts()
	if n.Accepted-n.Duplicates != 200 || n.Duplicates == 0 || c.Totals().Resubmitted == 0 {
		t.Errorf("%+v at the SMSC, %+v at the client", n, c.Totals())
	}
}

func TestATemporaryStatusIsTriedAgainAndAPermanentOneIsNot(t *testing.T) {
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		switch m.N {
		case 1, 2:
			return smsc.Plan{Status: wire.QueueFull}
		case 3:
			return smsc.Plan{Status: 0x450}
		case 4:
			return smsc.Plan{Status: wire.QueueFull, Nack: true}
		}
		return smsc.Plan{}
	}})
	o := options(s.Addr())
	o.ReceiptWait = 0
	if got := run(t, o, messages(10)).Totals(); got.Answered != 8 || got.Rejected != 2 || got.Retried != 2 {
		t.Errorf("%+v, want 8 answered, 2 rejected, 2 retried", got)
	}
}

func TestWhatIsUnansweredTooLongIsSentAgainOnTheSameConnection(t *testing.T) {
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		if m.N == 3 {
			return smsc.Plan{Silent: true}
		}
		return smsc.Plan{}
	}})
	o := options(s.Addr())
	o.ReceiptWait, o.ResponseTimeout = 0, 100*time.Millisecond
	got := run(t, o, messages(10)).Totals()
	if got.Answered != 10 || got.Resubmitted == 0 || got.Lost != 0 {
		t.Errorf("%+v, want 10 answered, some resubmitted, no connection lost", got)
	}
	if n := s.Counts(); n.Duplicates == 0 || n.Connections != 1 {
		t.Errorf("%+v, want duplicates on one connection", n)
	}
}
