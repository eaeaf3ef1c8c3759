package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// Long enough that nothing in doubt is sent again before the last kill: the metric of a process that
// was killed cannot be read any more.
const doubtAfterKills = 15 * time.Second

var killSettings = []string{
	"SMPPONCE_DEDUP_IN_DOUBT_DEADLINE=" + doubtAfterKills.String(), "SMPPONCE_DEDUP_HOLD_TIMEOUT=200ms", "SMPPONCE_DEDUP_REQUEST_ID_TLVS=0x1402",
}

// underKills submits all while the proxy is killed ten times, and returns what the metric says was
// sent again in doubt.
func underKills(t *testing.T, p *proxy, all []wire.Message) (c *esme.Client, resent int) {
	t.Helper()
	const kills = 10
	o := options(p.address)
	o.Window, o.RetryDelay, o.ReconnectDelay, o.ReceiptWait = 20, 300*time.Millisecond, 20*time.Millisecond, 0
	progress := make(chan int, len(all))
	c = esme.NewClient(o, func(n esme.Totals) { progress <- n.Answered })
	done := make(chan error, 1)
	ctx := bounded(t)
	go func() { done <- c.Run(ctx, all) }()

	killed := 0
	for {
		select {
		case n := <-progress:
			if killed < kills && n > (killed+1)*len(all)/(kills+2) {
				resent += int(p.Metric("smpponce_in_doubt_resent_total"))
				p.Kill()
				killed++
				p.Start()
				p.listening()
			}
			continue
		case err := <-done:
			if err != nil {
				t.Fatalf("after %d kills: %v", killed, err)
			}
		}
		break
	}
	if killed != kills {
		t.Errorf("%d kills, want %d", killed, kills)
	}
	return c, resent + int(p.Metric("smpponce_in_doubt_resent_total"))
}

// told checks that no message was lost, that duplicates are no more than were told of, and that each
// message was told an id that the SMSC gave it.
func told(t *testing.T, s *smsc.Server, c *esme.Client, all []wire.Message, resent int) {
	t.Helper()
	n := s.Counts()
	if n.Duplicates > resent || n.Accepted-n.Duplicates != len(all) {
		t.Errorf("the SMSC accepted %d with %d duplicates; want %d different ones, and not more duplicates than the %d that were resent in doubt",
			n.Accepted, n.Duplicates, len(all), resent)
	}
	given := map[string][]string{}
	for _, r := range s.Received() {
		given[string(r.Message.Text)] = append(given[string(r.Message.Text)], r.ID)
	}
	for i, o := range c.Outcomes() {
		if ids := given[string(all[i].Text)]; !o.Answered || !slices.Contains(ids, o.ID) {
			t.Errorf("%q: %+v; the SMSC gave %q", all[i].Text, o, ids)
		}
	}
	t.Logf("%+v; %d duplicates, %d resent in doubt", c.Totals(), n.Duplicates, resent)
}

func TestAKilledProxySendsAgainOnlyWhatIsInDoubtAndTellsOfIt(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, smsc.Options{AnswerDelay: 10 * time.Millisecond})
	p := serve(t, s.Addr(), killSettings...)
	all := differing(1200)
	c, resent := underKills(t, p, all)
	told(t, s, c, all, resent)
}

func TestAKilledProxyForgetsNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, smsc.Options{AnswerDelay: 10 * time.Millisecond})
	p := serve(t, s.Addr(), killSettings...)
	all := differing(1200)
	for i := range all {
		all[i].TLVs = []wire.TLV{{Tag: 0x1402, Value: fmt.Appendf(nil, "request %d", i)}}
	}
	c, resent := underKills(t, p, all)
	told(t, s, c, all, resent)

	// One kill more, and then the client, which has forgotten everything, sends all of it again.
	p.Kill()
	p.Start()
	p.listening()
	before := s.Counts().Accepted
	o := options(p.address)
	o.Window, o.ReceiptWait = 50, 0
	again := submitAll(t, o, all)
	if n := s.Counts().Accepted - before; n != 0 {
		t.Errorf("%d messages that had been answered were forwarded once more", n)
	}
	first := c.Outcomes()
	for i, o := range again.Outcomes() {
		if o.ID != first[i].ID {
			t.Errorf("%q: told %q, and %q before", all[i].Text, o.ID, first[i].ID)
		}
	}
}
