package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"smpponce/test/smsc"
)

// smscCmd is `smpponce smsc`: the simulator, to try a client or the proxy against. It prints what happened once a second, and
// with --each a line for each submission.
type smscCmd struct {
	Listen       string        `default:"127.0.0.1:2776" help:"Address to accept binds on (${default})." placeholder:"HOST:PORT"`
	IDs          string        `name:"ids" enum:"decimal,hex,upper-hex,padded,uuid" default:"decimal" help:"Form of message ids: ${enum}."`
	AnswerDelay  time.Duration `default:"0s" help:"Time between a submission and its answer."`
	Receipts     string        `enum:"off,after,with,before" default:"off" help:"Receipts for submissions that ask for one: off, after the answer, with it in one write, or before it."`
	ReceiptDelay time.Duration `default:"0s" help:"Time between an answer and its receipt, with --receipts after."`
	DropEvery    int           `default:"0" help:"Drop the connection at every Nth submission. 0: never." placeholder:"N"`
	DropWhen     string        `enum:"before,unanswered,answered,settled" default:"unanswered" help:"What became of that submission: before it was taken, accepted but unanswered, answered; settled: not taken, but all before it are answered."`
	Each         bool          `help:"Print a line for each submission."`
}

// Run serves until SIGTERM or SIGINT.
func (c *smscCmd) Run(out output) error {
	options, err := c.options(out.stdout)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	server, err := smsc.Start(options)
	if err != nil {
		return fmt.Errorf("--listen: cannot listen on %s (%w): free it, or set another address", c.Listen, cause(err))
	}
	defer server.Close()
	fmt.Fprintf(out.stdout, "the simulator listens on %s and accepts every bind\n", server.Addr())
	printCounts(ctx, out.stdout, server)
	return nil
}

func (c *smscCmd) options(w io.Writer) (smsc.Options, error) {
	for flag, wrong := range map[string]bool{
		"--drop-every": c.DropEvery < 0, "--answer-delay": c.AnswerDelay < 0, "--receipt-delay": c.ReceiptDelay < 0,
	} {
		if wrong {
			return smsc.Options{}, usageError{fmt.Errorf("%s is negative: write 0 or more", flag)}
		}
	}
	o := smsc.Options{Address: c.Listen, IDs: smsc.Forms[c.IDs], AnswerDelay: c.AnswerDelay, Keep: smsc.KeepContents}
	if c.Receipts != "off" {
		order := map[string]smsc.Order{"after": smsc.AfterAnswer, "with": smsc.WithAnswer, "before": smsc.BeforeAnswer}[c.Receipts]
		o.Receipts = &smsc.Receipts{Order: order, Delay: c.ReceiptDelay}
	}
	moment := map[string]smsc.Moment{
		"before": smsc.BeforeTaking, "unanswered": smsc.Unanswered, "answered": smsc.Answered, "settled": smsc.Settled,
	}[c.DropWhen]
	if c.DropEvery > 0 || c.Each {
		o.Script = func(s smsc.Submission) smsc.Plan {
			if c.Each {
				fmt.Fprintf(w, "submit_sm %d on connection %d: system_id %.18q, %s to %s, %d octets, copy %d\n", s.N, s.Connection, s.Account,
					masked(s.Message.Source.Number), masked(s.Message.Destination.Number), len(s.Message.Payload()), s.Copy)
			}
			if c.DropEvery > 0 && s.N%c.DropEvery == 0 {
				return smsc.Plan{Drop: smsc.Finish, When: moment}
			}
			return smsc.Plan{}
		}
	}
	return o, nil
}

// masked keeps the last four characters of an address, and nothing that is not printable.
func masked(address string) string {
	keep := max(0, len(address)-4)
	tail := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, address[keep:])
	return strings.Repeat("*", keep) + tail
}

// printCounts prints what happened, once a second where something did, until ctx ends.
func printCounts(ctx context.Context, w io.Writer, server *smsc.Server) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var last smsc.Counts
	for running := true; running; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			running = false
		}
		n := server.Counts()
		if n == last {
			continue
		}
		last = n
		fmt.Fprintf(w, "%s bound %d of %d connections, received %d, accepted %d, duplicates %d, answered %d, dropped %d, receipts %d, acknowledged %d\n",
			time.Now().Format(time.TimeOnly), n.Bound, n.Connections, n.Received, n.Accepted, n.Duplicates, n.Answered, n.Drops, n.Receipts, n.Acknowledged)
	}
}
