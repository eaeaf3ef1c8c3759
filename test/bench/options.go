package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// shape is how much the ESMEs keep in flight: binds times window.
type shape struct{ binds, window int }

func (s shape) String() string { return fmt.Sprintf("%dx%d", s.binds, s.window) }

// options are the flags, checked.
type options struct {
	relays  []string
	shapes  []shape
	rounds  int
	measure time.Duration // of one cell, after warming up
	rate    int           // submits/s of the open loop; 0: leave it out
	ledger  string        // folder in which ledgers are made; "": the system's temporary one
	sync    string
}

// maxWindow keeps a batch within the sockets' buffers: an ESME here doesn't read while it writes.
const maxWindow = 1000

// parseOptions reads the flags. Faults, and the help that was asked for (flag.ErrHelp), have been told to output.
func parseOptions(arguments []string, output io.Writer) (options, error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	seconds := flags.Float64("seconds", 0.8, "measured seconds of each cell; a cell at the fixed rate takes twice as long")
	rounds := flags.Int("rounds", 3, "how often each cell is measured; the tables show the medians")
	only := flags.String("only", strings.Join(allRelays, ","), "relays to measure, with commas between")
	shapes := flags.String("shapes", "1x1,1x10,16x10,16x100", "closed loops to measure, binds x window; empty: none")
	rate := flags.Int("rate", 2000, "submits/s of the second table; 0: none")
	ledger := flags.String("ledger", "", "folder on the disk where ledgers are to be made (default: the system's temporary folder)")
	sync := flags.String("sync", "intents", "ledger.sync of smpponce: intents, all or none")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	o := options{
		measure: time.Duration(*seconds * float64(time.Second)), rounds: *rounds,
		rate: *rate, ledger: *ledger, sync: *sync,
	}
	relays, errRelays := parseRelays(*only)
	loops, errShapes := parseShapes(*shapes)
	o.relays, o.shapes = relays, loops
	if err := errors.Join(errRelays, errShapes, o.check(), noArguments(flags.Args())); err != nil {
		fmt.Fprintln(output, err)
		return options{}, err
	}
	return o, nil
}

func (o options) check() error {
	var faults []error
	fault := func(format string, values ...any) { faults = append(faults, fmt.Errorf(format, values...)) }
	if o.measure < 100*time.Millisecond || o.measure > 5*time.Minute {
		fault("--seconds: %v is not between 0.1 and 300", o.measure.Seconds())
	}
	if o.rounds < 1 || o.rounds > 20 {
		fault("--rounds: %d is not between 1 and 20", o.rounds)
	}
	if o.rate < 0 || o.rate > 100_000 {
		fault("--rate: %d is not between 0 and 100000", o.rate)
	}
	if !slices.Contains([]string{"intents", "all", "none"}, o.sync) {
		fault("--sync: %q is not intents, all or none", o.sync)
	}
	if cells := o.cells(); cells >= maxCells {
		fault("%d cells are too many, %d at most: fewer --rounds, --shapes or --only", cells, maxCells-1)
	}
	return errors.Join(faults...)
}

// cells is how many there are in all.
func (o options) cells() int {
	tables := len(o.shapes)
	if o.rate > 0 {
		tables++
	}
	return tables * len(o.relays) * o.rounds
}

func noArguments(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q: only flags are understood", rest[0])
	}
	return nil
}

func parseRelays(list string) ([]string, error) {
	var relays []string
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(allRelays, func(known string) bool { return strings.EqualFold(known, strings.TrimSpace(name)) })
		if i < 0 {
			return nil, fmt.Errorf("--only: %q is none of %s", name, strings.Join(allRelays, ", "))
		}
		if !slices.Contains(relays, allRelays[i]) {
			relays = append(relays, allRelays[i])
		}
	}
	return relays, nil
}

func parseShapes(list string) ([]shape, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var shapes []shape
	for text := range strings.SplitSeq(list, ",") {
		var s shape
		if n, err := fmt.Sscanf(strings.TrimSpace(text), "%dx%d", &s.binds, &s.window); n != 2 || err != nil || s.String() != strings.TrimSpace(text) {
			return nil, fmt.Errorf("--shapes: %q is not binds x window, as in 16x10", text)
		}
		if s.binds < 1 || s.binds > maxBinds || s.window < 1 || s.window > maxWindow {
			return nil, fmt.Errorf("--shapes: %q has not 1 to %d binds and a window of 1 to %d", text, maxBinds, maxWindow)
		}
		if !slices.Contains(shapes, s) {
			shapes = append(shapes, s)
		}
	}
	return shapes, nil
}
