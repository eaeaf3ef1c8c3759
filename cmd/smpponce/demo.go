package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"
)

// demoCmd is `smpponce demo`: the same client, SMSC and breaks twice, without the proxy and with it. Everything runs on loopback.
type demoCmd struct {
	Messages int    `default:"1000" help:"Messages that the client means to send."`
	Seed     uint64 `help:"Of the moments at which connections are cut. By default another one each time." placeholder:"N"`
}

// demoTimeout bounds each of the two runs.
const demoTimeout = 25 * time.Second

// Run runs both and compares. Its error says what of the promise was not kept.
func (c *demoCmd) Run(out output) error {
	if c.Messages < 100 || c.Messages > 5000 {
		return usageError{fmt.Errorf("--messages is %d: write 100 to 5000", c.Messages)}
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1_000_000) + 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	explain(out.stdout, c)

	var results [2]demoResult
	for i, proxied := range []bool{false, true} {
		bounded, cancel := context.WithTimeout(ctx, demoTimeout)
		r, err := c.once(bounded, out, proxied)
		cancel()
		if err != nil {
			return fmt.Errorf("demo, %s (seed %d): %w", r.name, c.Seed, err)
		}
		results[i] = r
	}
	table(out.stdout, &results[0], &results[1])
	if err := judge(&results[0], &results[1]); err != nil {
		return fmt.Errorf("demo (seed %d): %w", c.Seed, err)
	}
	fmt.Fprintln(out.stdout, "Without the proxy the breaks made duplicates. Through smpponce each message went out once.")
	return nil
}

func explain(w io.Writer, c *demoCmd) {
	fmt.Fprintf(w, `A client means to send %d different messages, with a window of %d. Where its connection is lost it reconnects and sends
again what was unanswered; what is unanswered for %v it sends again at once. Real clients do so. Three things go wrong on the way (seed %d):
  - the client's connection is cut %d times, at random moments, with answers lost, and then some more while receipts come;
  - the SMSC ends the connection now and then: it answers what it took, and takes nothing more of what is on its way;
  - it answers some messages later than the client waits.
Not shown is an SMSC that accepts a message and dies without an answer. Such a message is in doubt: nobody can know whether to send
it again, and the setting dedup.on_in_doubt decides.

`, c.Messages, demoWindow, demoPatience, c.Seed, demoCuts)
}

// table prints the results side by side.
func table(w io.Writer, direct, proxied *demoResult) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w)
	fmt.Fprintf(t, "\t%s\t%s\t\n", direct.name, proxied.name)
	row := func(name string, value func(*demoResult) int) {
		fmt.Fprintf(t, "%s\t%d\t%d\t\n", name, value(direct), value(proxied))
	}
	row("messages meant", func(r *demoResult) int { return r.meant })
	row("received by the SMSC", func(r *demoResult) int { return r.received })
	row("duplicates", func(r *demoResult) int { return r.duplicates })
	row("lost", func(r *demoResult) int { return r.lost })
	row("receipts matched", func(r *demoResult) int { return r.receipted })
	row("sent again by the client", func(r *demoResult) int { return r.resubmitted })
	row("cuts on the client's side", func(r *demoResult) int { return r.cuts })
	row("ends by the SMSC", func(r *demoResult) int { return r.ends })
	row("late answers", func(r *demoResult) int { return r.late })
	_ = t.Flush()
	fmt.Fprintln(w)
}

// judge says what of the promise was not kept.
func judge(direct, proxied *demoResult) error {
	var wrong []error
	if direct.duplicates == 0 {
		wrong = append(wrong, errors.New("the run without the proxy had no duplicate, so nothing was shown: try another --seed"))
	}
	if proxied.duplicates > 0 {
		wrong = append(wrong, fmt.Errorf("%d messages went out twice through smpponce", proxied.duplicates))
	}
	if proxied.lost > 0 {
		wrong = append(wrong, fmt.Errorf("%d messages were lost through smpponce", proxied.lost))
	}
	if n := proxied.meant - proxied.receipted; n > 0 {
		wrong = append(wrong, fmt.Errorf("%d messages have no receipt that the client could match, through smpponce", n))
	}
	return errors.Join(wrong...)
}
