package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"smpponce/test/cut"
	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

const (
	demoCuts     = 20 // while messages are sent
	demoLastCuts = 3  // while receipts come
	demoWindow   = 10
	demoPatience = 2 * time.Second // the client's own response timer; smpponce is told 500 ms less
	demoLate     = 3 * time.Second // longer than demoPatience
	demoText     = "message "
)

// demoResult is what one run came to.
type demoResult struct {
	name                                         string
	meant, received, duplicates, lost, receipted int
	resubmitted, cuts, ends, late                int
}

// once runs the client against a fresh SMSC, through smpponce or not.
func (c *demoCmd) once(ctx context.Context, out output, proxied bool) (demoResult, error) {
	r := demoResult{name: "direct", meant: c.Messages}
	if proxied {
		r.name = "through smpponce"
	}
	fmt.Fprintf(out.stdout, "%s:\n", r.name)
	server, err := smsc.Start(smsc.Options{Script: demoFaults(c.Messages, &r), Receipts: &smsc.Receipts{Held: true}})
	if err != nil {
		return r, err
	}
	defer server.Close()
	target := server.Addr()
	if proxied {
		child, err := startDemoProxy(ctx, target)
		if err != nil {
			return r, err
		}
		defer child.end(out.stderr)
		target = child.address
		defer func() { child.failed = r.duplicates+r.lost > 0 || r.receipted < r.meant }()
	}
	relay, err := cut.Start(cut.Options{
		Target: target, Seed: c.Seed, Cuts: demoCuts, Spread: 10 * time.Millisecond,
		Min: int64(c.Messages), Max: int64(c.Messages) * 9, // a message and its answer cost about 150 octets
	})
	if err != nil {
		return r, err
	}
	defer relay.Close()

	client := esme.NewClient(esme.Options{
		Address: relay.Addr(), SystemID: "demo", Window: demoWindow, ReconnectDelay: 50 * time.Millisecond,
		ResponseTimeout: demoPatience, RetryDelay: 200 * time.Millisecond, ReceiptWait: 5 * time.Second,
	}, c.progress(out.stdout, server, relay))
	err = client.Run(ctx, demoMessages(c.Messages))

	counts, totals := server.Counts(), client.Totals()
	r.received, r.duplicates = counts.Accepted, counts.Duplicates
	r.lost = r.meant - (counts.Accepted - counts.Duplicates)
	r.receipted, r.resubmitted, r.cuts = totals.Receipted, totals.Resubmitted, relay.Cuts()
	fmt.Fprintf(out.stdout, "  %d of %d answered, %d received by the SMSC\n", totals.Answered, c.Messages, r.received)
	return r, err
}

func demoMessages(n int) []wire.Message {
	all := make([]wire.Message, n)
	for i := range all {
		all[i] = wire.Message{
			Source:             wire.Address{TON: 5, Number: "Demo"},
			Destination:        wire.Address{TON: 1, NPI: 1, Number: fmt.Sprintf("49151%08d", i)},
			RegisteredDelivery: 1, Text: []byte(demoText + strconv.Itoa(i)),
		}
	}
	return all
}

// demoFaults lets the SMSC end the connection at every 100th message of the first half, and answer late at every 100th of the
// second: before an orderly end the SMSC answers what it took, and would wait for late answers of its own. It goes by the message
// and not by the order of arrival, so both runs have the same faults; a message that comes again has none. Ordinary answers take 2 to
// 12 ms, and so come one by one.
func demoFaults(meant int, r *demoResult) smsc.Script {
	met := map[string]bool{}
	return func(s smsc.Submission) smsc.Plan {
		text := string(s.Message.Text)
		n, err := strconv.Atoi(strings.TrimPrefix(text, demoText))
		usual := smsc.Plan{Delay: time.Duration(2+s.N*7%11) * time.Millisecond}
		if err != nil || met[text] {
			return usual
		}
		met[text] = true
		switch {
		case n < meant/2 && n%100 == 50:
			r.ends++
			return smsc.Plan{Drop: smsc.Finish, When: smsc.Settled}
		case n >= meant/2 && n%100 == 50:
			r.late++
			return smsc.Plan{Delay: demoLate}
		}
		return usual
	}
}

// progress prints a line a second while answers come. With the last answer the SMSC begins to send receipts.
func (c *demoCmd) progress(w io.Writer, server *smsc.Server, relay *cut.Relay) func(esme.Totals) {
	next := time.Now().Add(time.Second)
	return func(t esme.Totals) {
		if t.Answered+t.Rejected == c.Messages {
			relay.More(demoLastCuts)
			server.Release()
		}
		if time.Now().Before(next) {
			return
		}
		next = time.Now().Add(time.Second)
		fmt.Fprintf(w, "  %d of %d answered, %d sent again, %d connections lost (%d cut)\n", t.Answered, c.Messages, t.Resubmitted, t.Lost, relay.Cuts())
	}
}
