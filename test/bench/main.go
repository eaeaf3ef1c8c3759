package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes, as smpponce's own.
const (
	fine       = 0
	failed     = 1 // a relay did something wrong, or could not be measured
	wrongUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, arguments []string, output, progress io.Writer) int {
	if len(arguments) == 3 && arguments[0] == copyCommand {
		return exitCode(serveCopies(ctx, arguments[1], arguments[2]), progress)
	}
	o, err := parseOptions(arguments, progress)
	if errors.Is(err, flag.ErrHelp) {
		return fine
	}
	if err != nil {
		return wrongUsage
	}
	return exitCode(bench(ctx, o, output, progress), progress)
}

func exitCode(err error, progress io.Writer) int {
	if err == nil {
		return fine
	}
	fmt.Fprintf(progress, "\nFAILED:\n%v\n", err)
	return failed
}

// bench measures everything that the options ask for and prints it.
func bench(ctx context.Context, o options, output, progress io.Writer) (err error) {
	w, err := newWorkshop(ctx, o)
	defer func() { err = errors.Join(err, w.remove()) }()
	if err != nil {
		return err
	}
	machine, err := describeMachine(w.ledgers, o.sync)
	if err != nil {
		return err
	}
	fmt.Fprintln(output, machine)
	before, errBefore := readProcessorTime()
	results, err := runSuite(ctx, w, o, progress)
	after, errAfter := readProcessorTime()
	err = errors.Join(err, errBefore, errAfter)
	fmt.Fprintf(output, "%d rounds of %v, relays in turns, medians; %s\n", o.rounds, o.measure, after.since(before))
	if len(o.shapes) > 0 {
		fmt.Fprintf(output, "\nClosed loop: every bind keeps its window full\n\n%s", closedTable(o.shapes, results))
	}
	if o.rate > 0 {
		fmt.Fprintf(output, "\nOpen loop: %d submits/s over %d binds, latency from the intended moment; added: to io.Copy's\n\n%s",
			o.rate, pacedBinds, openTable(o.rate, results))
	}
	return err
}
