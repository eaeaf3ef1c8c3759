package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// load is what one row of cells has in common: a shape, or the open loop's rate.
type load struct {
	shape shape
	rate  int
}

func (l load) String() string {
	if l.rate > 0 {
		return fmt.Sprintf("%d/s", l.rate)
	}
	return l.shape.String()
}

// series is all rounds of one relay under one load. A round that failed is nil.
type series struct {
	relay  string
	rounds []*figures
}

// runSuite measures all relays under one load after another. What went wrong in single cells is told to
// progress and does not end it. What was measured is returned in any case.
func runSuite(ctx context.Context, w workshop, o options, progress io.Writer) (map[load][]series, error) {
	results := make(map[load][]series)
	number, bad := 0, 0
	for _, l := range o.loads() {
		all := make([]series, len(o.relays))
		for i, name := range o.relays {
			all[i] = series{relay: name, rounds: make([]*figures, o.rounds)}
		}
		results[l] = all
		for round := range o.rounds {
			for turn := range all {
				// Each round begins with another relay, so that no place in the order favours one of them.
				s := &all[(turn+round)%len(all)]
				number++
				c := cell{number: number, relay: s.relay, shape: l.shape, rate: l.rate, measure: o.measure}
				if l.rate > 0 {
					c.measure *= 2 // few samples a second
				}
				f, err := measureCell(ctx, w, c)
				if ctx.Err() != nil {
					return results, errInterrupted
				}
				if err != nil {
					bad++
					fmt.Fprintf(progress, "%3d/%d  %-7s %-8s FAILED: %v\n", number, o.cells(), l, s.relay, err)
					continue
				}
				s.rounds[round] = &f
				fmt.Fprintf(progress, "%3d/%d  %-7s %-8s %10.0f/s\n", number, o.cells(), l, s.relay, f.perSecond)
			}
		}
	}
	if bad > 0 {
		return results, fmt.Errorf("%d of %d cells went wrong, as told above", bad, number)
	}
	return results, nil
}

var errInterrupted = errors.New("interrupted")

func (o options) loads() []load {
	var loads []load
	for _, s := range o.shapes {
		loads = append(loads, load{shape: s})
	}
	if o.rate > 0 {
		loads = append(loads, load{rate: o.rate})
	}
	return loads
}
