package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/linxGnu/gosmpp/data"
	"github.com/linxGnu/gosmpp/pdu"

	"smpponce/test/esme"
	"smpponce/test/smsc"
)

// The SMSC forgets: ten times it accepts messages and drops the connection without an answer to them. What was accepted nobody
// can know, until the receipts come, one to five seconds later.

const forgotten = 10

// kernel says what becomes of messages that are on their way when the connection is dropped.
type kernel int

const (
	read   kernel = iota // they are accepted too: the SMSC reads on for a moment, and answers nothing
	unread               // they die in the SMSC's kernel
)

func forgetful(o smsc.Options, k kernel) smsc.Options {
	drops, since := 0, 0
	doomed := map[int]bool{} // connections that will be dropped
	o.Script = func(m smsc.Submission) smsc.Plan {
		plan := smsc.Plan{Delay: 5 * time.Millisecond, Silent: doomed[m.Connection]}
		if o.Receipts != nil {
			plan.Receipts = &smsc.Receipts{Delay: time.Second + time.Duration(m.N*7%5)*time.Second}
		}
		if since++; doomed[m.Connection] || since < 5 || drops == forgotten {
			return plan
		}
		since = 0
		drops++
		plan.Drop, plan.When, plan.Delay = smsc.Reset, smsc.Unanswered, 0
		if drops%2 == 0 {
			plan.Drop = smsc.Finish
		}
		if k == read {
			plan.Delay, doomed[m.Connection] = 50*time.Millisecond, true
		}
		return plan
	}
	return o
}

// patient is bounded for runs in which a client waits seconds for each break.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 3*patience)
	t.Cleanup(stop)
	return ctx
}

// provenByReceipts checks that nothing was sent twice or lost, and that receipts have settled what was in doubt.
func provenByReceipts(t *testing.T, s *smsc.Server, p *proxy, n int, ids func(text string) string) {
	t.Helper()
	once(t, s, n, ids)
	if c := s.Counts(); c.Drops != forgotten {
		t.Errorf("the SMSC dropped %d connections, want %d", c.Drops, forgotten)
	}
	// No receipt tells that a message died in the SMSC's kernel: it is resent after the deadline, and no duplicate.
	proven, resent := p.Metric("smpponce_in_doubt_settled_total", "evidence", "receipt_elimination"), p.Metric("smpponce_in_doubt_resent_total")
	if doubts := p.Metric("smpponce_outcomes_total", "outcome", "in_doubt"); proven < forgotten || proven+resent != doubts {
		t.Errorf("of %v doubts %v were settled by receipts and %v resent; want at least %d settled, and all of them one or the other", doubts, proven, resent, forgotten)
	}
	if left := p.Metric("smpponce_in_doubt"); left != 0 {
		t.Errorf("%v are in doubt at the end", left)
	}
	t.Logf("%v settled by receipts, %v resent; decisions: %s", proven, resent, p.resubmissions())
}

func TestARawClientOfAnSMSCThatForgetsSendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, forgetful(smsc.Options{Receipts: &smsc.Receipts{}}, unread))
	p := serve(t, s.Addr())
	all := differing(100)
	c := esme.NewClient(options(p.address), nil)
	if err := c.Run(patient(t), all); err != nil {
		t.Fatal(err)
	}
	provenByReceipts(t, s, p, len(all), outcomesOf(t, c, len(all)))
}

// outcomesOf gives the ids by text, and checks that each has its receipt.
func outcomesOf(t *testing.T, c *esme.Client, n int) func(text string) string {
	t.Helper()
	ids := map[string]string{}
	for i, o := range c.Outcomes() {
		ids[fmt.Sprintf("message %d", i)] = o.ID
		if o.Receipts == 0 {
			t.Errorf("message %d has no receipt", i)
		}
	}
	return func(text string) string { return ids[text] }
}

// scripted is what a client script tells at its end.
type scripted struct {
	IDs      map[string]string
	Receipts map[string]int
	Refused  map[string]int
	Sent     int
	Sessions int
}

func runScript(t *testing.T, address string, n int, dir, command string, args ...string) scripted {
	t.Helper()
	host, port, _ := net.SplitHostPort(address)
	client := exec.CommandContext(patient(t), command, append(args, host, port, strconv.Itoa(n))...)
	client.Dir = dir
	var stdout, stderr bytes.Buffer
	client.Stdout, client.Stderr = &stdout, &stderr
	if err := client.Run(); err != nil {
		t.Fatalf("the client: %v\n%s", err, stderr.String())
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	var got scripted
	if err := json.Unmarshal(lines[len(lines)-1], &got); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	for text, id := range got.IDs {
		if got.Receipts[id] == 0 {
			t.Errorf("%q has no receipt", text)
		}
	}
	return got
}

func TestANetSMPPClientOfAnSMSCThatForgetsSendsNothingTwice(t *testing.T) {
	t.Parallel()
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip("perl is not installed")
	}
	if exec.Command(perl, "-MNet::SMPP", "-MJSON::PP", "-e", "1").Run() != nil {
		t.Skip("Net::SMPP is not installed (Debian: libnet-smpp-perl)")
	}
	s := startSMSC(t, forgetful(smsc.Options{Receipts: &smsc.Receipts{}}, read))
	p := serve(t, s.Addr())
	got := runScript(t, p.address, 100, "perl", perl, "client.pl")
	provenByReceipts(t, s, p, 100, func(text string) string { return got.IDs[text] })
}

func TestANodeClientOfAnSMSCThatForgetsSendsNothingTwice(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules/smpp"); err != nil {
		t.Skip("node's packages are not installed: run npm ci in test/e2e/node")
	}
	s := startSMSC(t, forgetful(smsc.Options{IDs: smsc.Padded, Receipts: &smsc.Receipts{}}, read))
	p := serve(t, s.Addr())
	got := runScript(t, p.address, 100, "node", node, "client.js")
	provenByReceipts(t, s, p, 100, func(text string) string { return got.IDs[text] })
}

func TestAGosmppSessionOfAnSMSCThatForgetsSendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, forgetful(smsc.Options{Receipts: &smsc.Receipts{}}, read))
	p := serve(t, s.Addr())
	const n = 100
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
	c := &gosmppClient{address: p.address, answered: func() {}}
	if err := c.run(patient(t), all); err != nil {
		t.Fatalf("%v; the SMSC: %+v", err, s.Counts())
	}
	provenByReceipts(t, s, p, n, func(text string) string { return c.ids[index[text]] })
}

func TestKannelWithAnSMSCThatForgetsSendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, forgetful(smsc.Options{Receipts: &smsc.Receipts{}}, read))
	p := serve(t, s.Addr())
	k := startKannel(t, p.address)
	const n = 100
	k.submit(n)
	k.waitLong("a receipt for each message", func() bool {
		for i := range n {
			if len(k.ids(fmt.Sprintf("message %d", i), delivered)) == 0 {
				return false
			}
		}
		return true
	})
	provenByReceipts(t, s, p, n, func(text string) string { return k.ids(text, delivered)[0] })
}

// Without receipts nothing proves acceptance: each doubt is resent once its deadline is over, and counted.
func TestWithoutReceiptsWhatIsInDoubtIsResentExactlyAsOftenAsCounted(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, forgetful(smsc.Options{}, read))
	p := serve(t, s.Addr(), "SMPPONCE_DEDUP_IN_DOUBT_DEADLINE=1s", "SMPPONCE_DEDUP_HOLD_TIMEOUT=500ms")
	all := differing(100)
	for i := range all {
		all[i].RegisteredDelivery = 0
	}
	o := options(p.address)
	o.ReceiptWait, o.RetryDelay = 0, 200*time.Millisecond
	c := esme.NewClient(o, nil)
	if err := c.Run(patient(t), all); err != nil {
		t.Fatal(err)
	}
	counts, resent := s.Counts(), p.Metric("smpponce_in_doubt_resent_total")
	if counts.Accepted-counts.Duplicates != len(all) || float64(counts.Duplicates) > resent || counts.Duplicates < forgotten {
		t.Errorf("%+v at the SMSC, %v counted as resent in doubt", counts, resent)
	}
	if never := float64(counts.Duplicates) + p.neverThere(s); never != resent {
		t.Errorf("%d duplicates, and %v resent that the SMSC had never taken; %v counted", counts.Duplicates, p.neverThere(s), resent)
	}
}

// neverThere is how many messages in doubt had not been taken by the SMSC when its connection ended: they lay in its kernel.
func (p *proxy) neverThere(s *smsc.Server) float64 {
	return p.Metric("smpponce_outcomes_total", "outcome", "in_doubt") - float64(s.Counts().Accepted-s.Counts().Answered)
}

// With refuse nothing is ever sent twice; the doubts are an operator's.
func TestWithRefuseNothingIsSentTwiceAndTheDoubtsAreListed(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, forgetful(smsc.Options{}, read))
	control := free(t, 1)[0]
	p := serve(t, s.Addr(), "SMPPONCE_DEDUP_ON_IN_DOUBT=refuse", "SMPPONCE_ADMIN_CONTROL="+control)
	all := differing(100)
	for i := range all {
		all[i].RegisteredDelivery = 0
	}
	o := options(p.address)
	o.ReceiptWait, o.RetryDelay = 0, 200*time.Millisecond
	ctx, stop := context.WithCancel(bounded(t))
	defer stop()
	c := esme.NewClient(o, nil)
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, all) }()
	if err := s.Wait(bounded(t), func() bool { c := s.Counts(); return c.Drops == forgotten && c.Accepted >= len(all)-20 }); err != nil {
		t.Fatal(err)
	}
	doubts := p.Metric("smpponce_in_doubt")
	if doubts < forgotten || s.Duplicates() != 0 {
		t.Errorf("%v in doubt, %d duplicates; want at least %d and none", doubts, s.Duplicates(), forgotten)
	}
	var listed []struct{ Number uint64 }
	out, err := p.Command("doubts", "--control", control, "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &listed)
	}
	if err != nil || len(listed) < forgotten {
		t.Fatalf("`smpponce doubts` lists %d, %v; want at least %d\n%s", len(listed), err, forgotten, out)
	}
	for _, d := range listed { // the operator knows better: they were accepted
		if err := p.Command("settle", fmt.Sprint(d.Number), "--as", "accepted", "--control", control).Run(); err != nil {
			t.Fatalf("settle %d: %v", d.Number, err)
		}
	}
	stop()
	<-done
	if s.Duplicates() != 0 {
		t.Errorf("%d duplicates", s.Duplicates())
	}
}

// It must be enough that the SMSC allows one bind: the client is back two milliseconds after each break.
func TestOneBindIsEnoughThoughTheClientIsBackAfterTwoMilliseconds(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, forgetful(smsc.Options{MaxBinds: 1, Receipts: &smsc.Receipts{}}, read))
	p := serve(t, s.Addr())
	all := differing(100)
	o := options(p.address)
	o.ReconnectDelay = 2 * time.Millisecond
	c := esme.NewClient(o, nil)
	if err := c.Run(patient(t), all); err != nil {
		t.Fatal(err)
	}
	provenByReceipts(t, s, p, len(all), outcomesOf(t, c, len(all)))
	if refused := p.Metric("smpponce_binds_total", "result", "refused"); refused != 0 {
		t.Errorf("%v binds were refused: the client has seen ESME_RALYBND", refused)
	}
}
