package e2e

import (
	"testing"
	"time"

	"smpponce/test/cut"
	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

func options(address string) esme.Options {
	return esme.Options{
		Address: address, SystemID: "acme", Window: 10, ReconnectDelay: 10 * time.Millisecond,
		RetryDelay: 50 * time.Millisecond, ReceiptWait: 20 * time.Second,
	}
}

func submitAll(t *testing.T, o esme.Options, all []wire.Message) *esme.Client {
	t.Helper()
	c := esme.NewClient(o, nil)
	if err := c.Run(bounded(t), all); err != nil {
		t.Fatal(err)
	}
	return c
}

// once checks that each of n different messages was accepted once, and was answered with the id that
// the SMSC gave it; ids are in the order of the messages' texts "message 0", "message 1".
func once(t *testing.T, s *smsc.Server, n int, ids func(text string) string) {
	t.Helper()
	counts := s.Counts()
	if counts.Accepted != n || counts.Duplicates != 0 {
		t.Errorf("the SMSC accepted %d with %d duplicates, want %d and none", counts.Accepted, counts.Duplicates, n)
	}
	for _, r := range s.Received() {
		if !r.Accepted || r.Copy > 1 {
			continue
		}
		if got := ids(string(r.Message.Text)); got != r.ID {
			t.Errorf("%q was told the id %q, the SMSC gave it %q", r.Message.Text, got, r.ID)
		}
	}
}

func TestARawClientWhoseConnectionIsCutTenTimesSendsNothingTwice(t *testing.T) {
	s := startSMSC(t, faulty(smsc.Decimal))
	p := serve(t, s.Addr())
	r := startCuts(t, p.address, cut.Any)
	all := differing(300)
	told := false
	c := esme.NewClient(options(r.Addr()), func(n esme.Totals) {
		if n.Answered == len(all) && !told {
			told = true
			answered(s, r)
		}
	})
	if err := c.Run(bounded(t), all); err != nil {
		t.Fatal(err)
	}

	outcomes := map[string]esme.Outcome{}
	for i, o := range c.Outcomes() {
		outcomes[string(all[i].Text)] = o
		if o.Receipts == 0 {
			t.Errorf("%q has no receipt", all[i].Text)
		}
	}
	once(t, s, len(all), func(text string) string { return outcomes[text].ID })
	if r.Cuts() < cuts || c.Totals().Resubmitted == 0 {
		t.Errorf("%d cuts, %+v; want %d cuts and something resubmitted", r.Cuts(), c.Totals(), cuts)
	}
	t.Logf("%+v; decisions: %s", c.Totals(), p.resubmissions())
}
