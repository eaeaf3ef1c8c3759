package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestPercentilesAreWithinTwoPercentOfTheExactOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h, half histogram
	var all []time.Duration
	for i := range 20_000 {
		d := time.Duration(random.ExpFloat64() * float64(3*time.Millisecond))
		all = append(all, d)
		if i%2 == 0 {
			h.add(d)
		} else {
			half.add(d)
		}
	}
	h.merge(&half)
	slices.Sort(all)
	for _, p := range []float64{1, 50, 90, 99, 99.9, 100} {
		exact := all[max(0, int(float64(len(all))*p/100)-1)]
		got := h.percentile(p)
		if got < exact || float64(got) > float64(exact)*1.02+1 {
			t.Errorf("percentile %v: got %v, want %v or up to 2 %% more", p, got, exact)
		}
	}
}

func TestEachBucketEndsWhereTheNextBegins(t *testing.T) {
	for i := range buckets - 1 {
		last := upperBound(i)
		if got := bucket(last); got != i {
			t.Fatalf("bucket(%d) = %d, want %d", last, got, i)
		}
		if got := bucket(last + 1); got != i+1 {
			t.Fatalf("bucket(%d) = %d, want %d", last+1, got, i+1)
		}
	}
}

func TestPercentileOfFewSamples(t *testing.T) {
	var h histogram
	if got := h.percentile(50); got != 0 {
		t.Errorf("of none: got %v, want 0", got)
	}
	h.add(-time.Second) // a clock that went back
	h.add(100)
	h.add(time.Hour)
	for p, want := range map[float64]time.Duration{0: 0, 33: 0, 50: 100, 66: 100, 67: upperBound(buckets - 1), 100: upperBound(buckets - 1)} {
		if got := h.percentile(p); got != want {
			t.Errorf("percentile %v: got %v, want %v", p, got, want)
		}
	}
}
