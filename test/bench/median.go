package main

import (
	"cmp"
	"slices"
	"time"
)

type number interface {
	~int64 | ~float64
}

// median of values, the mean of the middle two if their count is even; ok is false without values.
func median[N number](values []N) (m N, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	sorted := slices.SortedFunc(slices.Values(values), cmp.Compare[N])
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle], true
	}
	return (sorted[middle-1] + sorted[middle]) / 2, true
}

// each collects one figure of every round that was measured.
func each[N number](s series, figure func(*figures) N) []N {
	var values []N
	for _, f := range s.rounds {
		if f != nil {
			values = append(values, figure(f))
		}
	}
	return values
}

// eachUsage is each for what only a relay with a process of its own has.
func eachUsage[N number](s series, figure func(*usage) N) []N {
	var values []N
	for _, f := range s.rounds {
		if f != nil && f.process != nil {
			values = append(values, figure(f.process))
		}
	}
	return values
}

// paired compares the rounds of two series one by one: what disturbs a round disturbs both. A base without rounds
// gives no values.
func paired[N number](s, base series, compare func(s, base *figures) N) []N {
	var values []N
	for i, f := range s.rounds {
		if f != nil && i < len(base.rounds) && base.rounds[i] != nil {
			values = append(values, compare(f, base.rounds[i]))
		}
	}
	return values
}

func rateOf(f *figures) float64      { return f.perSecond }
func p50Of(f *figures) time.Duration { return f.p50 }
func p99Of(f *figures) time.Duration { return f.p99 }

// baseOf finds the series with which the others are compared.
func baseOf(all []series) (base series, ok bool) {
	i := slices.IndexFunc(all, func(s series) bool { return s.relay == ioCopy })
	if i < 0 {
		return series{}, false
	}
	return all[i], true
}
