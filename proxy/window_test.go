package proxy

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The twin of a window is a map.
func TestAWindowKeepsWhatAMapWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWindow(100)
		w.last = uint32(rapid.SampledFrom([]int{0, 50, lastNumber - 40}).Draw(t, "last"))
		twin := map[uint32]request{}
		counts := [kinds]int{}
		var known []uint32
		now := time.Duration(0)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					now++
					r := request{peer: rapid.Uint32().Draw(t, "peer"), kind: kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind")), at: now}
					seq := w.add(r)
					if seq == 0 || seq > lastNumber {
						t.Fatalf("number %d was given", seq)
					}
					if _, pending := twin[seq]; pending {
						t.Fatalf("number %d was given while it is pending", seq)
					}
					r.seq = seq
					twin[seq] = r
					counts[r.kind]++
					known = append(known, seq)
				}
			},
			"take": func(t *rapid.T) {
				if len(known) == 0 {
					t.Skip()
				}
				seq := rapid.SampledFrom(known).Draw(t, "seq")
				got, ok := w.take(seq)
				want, pending := twin[seq]
				if ok != pending || !reflect.DeepEqual(got, want) {
					t.Fatalf("take(%d) gave %+v, %v; want %+v, %v", seq, got, ok, want, pending)
				}
				if ok && !got.overdue {
					counts[got.kind]--
				}
				delete(twin, seq)
			},
			"take what was never given": func(t *rapid.T) {
				seq := rapid.Uint32().Draw(t, "seq")
				if _, pending := twin[seq]; pending {
					t.Skip()
				}
				if got, ok := w.take(seq); ok {
					t.Fatalf("take(%d) gave %+v", seq, got)
				}
			},
			"sweep": func(t *rapid.T) {
				before := time.Duration(rapid.IntRange(0, int(now)+1).Draw(t, "before"))
				w.sweep(before, func(r *request) {
					counts[r.kind]--
					o := twin[r.seq]
					o.overdue = true
					twin[r.seq] = o
				})
				for seq, r := range twin {
					if r.overdue != (r.overdue || r.at < before) {
						t.Fatalf("number %d, queued at %v, is not overdue before %v", seq, r.at, before)
					}
				}
			},
			"": func(t *rapid.T) {
				if w.used != len(twin) || w.waiting != counts {
					t.Fatalf("%d used, waiting %v; want %d, %v", w.used, w.waiting, len(twin), counts)
				}
				first := time.Duration(0)
				for _, r := range twin {
					if first == 0 || r.at < first {
						first = r.at
					}
				}
				if at, found := w.oldest(func(*request) bool { return true }); found != (len(twin) > 0) || at != first {
					t.Fatalf("the oldest is %v, want %v", at, first)
				}
			},
		})
	})
}

func TestNumbersWrapAfterTheHighestAndPassOverWhatIsPending(t *testing.T) {
	w := newWindow(10)
	first := w.add(request{kind: submission})
	w.last = lastNumber - 1
	if got := w.add(request{}); got != lastNumber {
		t.Errorf("got %#x, want %#x", got, lastNumber)
	}
	if got := w.add(request{}); got == first || got > lastNumber || got < 2 {
		t.Errorf("after the highest number came %d; 1 is still pending", got)
	}
}

func TestASubmissionThatIsNotOverdueIsNeverForgotten(t *testing.T) {
	w := newWindow(10)
	seq := w.add(request{kind: submission, at: 5})
	for range 3 * w.limit {
		w.add(request{kind: relayed, at: 10})
	}
	if _, ok := w.take(seq); !ok {
		t.Error("it was forgotten")
	}
}
