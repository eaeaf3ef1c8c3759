package history_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"smpponce/test/history"
)

func TestARandomRunSendsNothingTwiceAndLosesNothing(t *testing.T) {
	from := *first
	if from == 0 {
		from = uint64(rand.Uint32())
	}
	for i := range *seeds {
		seed := from + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, seed)
			h := r.play()
			report(t, seed, h, history.Check(h))
			if t.Failed() && *keep != "" {
				if err := r.save(*keep, seed, h); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A checker that finds nothing wrong here would find nothing anywhere.
func TestWithoutProtectionTheSameRunsAreFullOfDuplicates(t *testing.T) {
	t.Parallel()
	h := newRun(t, 1, "SMPPONCE_DEDUP_MODE=off").play()
	broken := map[string]int{}
	for _, f := range history.Check(h) {
		broken[f.Rule]++
	}
	t.Log(broken)
	if n := broken["a message goes out once, or again as counted"]; n < 50 {
		t.Errorf("%d messages are reported as duplicates, want many: %v", n, broken)
	}
}

// report tells of the faults, the first few of them with their stories.
func report(t *testing.T, seed uint64, h *history.History, faults []history.Fault) {
	t.Helper()
	resent := 0
	for _, n := range h.Resent {
		resent += n
	}
	t.Logf("seed %d: %d messages, %d events, %d accepted, %d sent again in doubt; %d excused, where two breaks met", seed, len(h.Messages), len(h.Events), len(h.Accepted),
		resent, history.Excused(h))
	for i, f := range faults {
		if i == 5 {
			t.Errorf("seed %d: and %d faults more", seed, len(faults)-i)
			break
		}
		t.Errorf("seed %d: %s", seed, f)
	}
}
