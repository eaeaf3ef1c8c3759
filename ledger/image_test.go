package ledger

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRecentAnswersStayInOrder(t *testing.T) {
	closed := func(n Number, at Time) liveRecord { return liveRecord{Number: n, Accepted: true, At: at} }
	m := newImage()
	want := func(want ...Number) {
		t.Helper()
		var got []Number
		for _, l := range m.Recent {
			got = append(got, l.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("recent %v, want %v", got, want)
		}
	}
	m.apply(&journal{Seq: 1, At: sec(9.95)})
	// 2 was told of by the journal before, 3 long before (a sweep let go of it), and 7 was never accepted.
	m.apply(&journal{Seq: 2, At: sec(10.2), Told: sec(9.96), Closed: []liveRecord{closed(1, sec(10)), closed(2, sec(9.9)), closed(3, sec(3)), closed(4, sec(10))}})
	m.apply(&journal{Seq: 3, At: sec(10.35), Told: sec(10.21), Closed: []liveRecord{closed(5, sec(10.35)), closed(6, sec(9.96)), {Number: 7, At: sec(10.35)}}})
	want(6, 1, 4, 5)
	m.apply(&journal{Seq: 4, At: sec(10.42), Told: sec(10.36)}) // what the second told was told 210 ms ago
	want(5)
	m.apply(&journal{Seq: 5, At: sec(10.6), Told: sec(10.43)})
	want()
}

// TestTheImageKnowsWhenAnAccountCouldSubmitAgainAsTheBookDoes opens and closes sessions at random, with any number of these in one
// journal.
func TestTheImageKnowsWhenAnAccountCouldSubmitAgainAsTheBookDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		known := map[SessionID]*session{}
		var bound []*binding
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				b := r.bindAs(rapid.SampledFrom([]string{"acme", "other"}).Draw(t, "account"), rapid.IntRange(0, 2).Draw(t, "can submit") > 0)
				known[b.session] = r.l.book.sessions[b.session]
				bound = append(bound, b)
			case 2, 3:
				if len(bound) > 0 {
					i := rapid.IntRange(0, len(bound)-1).Draw(t, "session")
					bound[i].end(Reset)
					bound = append(bound[:i], bound[i+1:]...)
				}
			case 4:
				r.wait(time.Duration(rapid.IntRange(1, 1000).Draw(t, "ms")) * time.Millisecond)
			case 5:
				r.hang = true
			case 6:
				r.release(nil)
			}
		}
		r.release(nil)
		for id, s := range known {
			st := r.l.image.Sessions[id]
			if st == nil || st.Ended != s.ended || s.canSubmit && st.Again != s.again {
				t.Fatalf("session %v: ended %v, again %v; the image says %+v", id, s.ended.Sub(r.started), s.again.Sub(r.started), st)
			}
		}
		r.checkImage()
	})
}

func TestACheckpointForgetsSessionsAndLegsThatNothingRefersTo(t *testing.T) {
	r := newRig(t)
	for range 50 {
		s := r.bind("acme")
		m := s.submit("A")
		m.accept("77")
		r.wait(time.Second)
		s.end(Unbound, m.read())
		s.endLeg()
	}
	s := r.bind("acme")
	s.submit("in doubt")
	s.endBoth()
	if len(r.l.image.Sessions) != 51 || len(r.l.image.Legs) != 51 {
		t.Fatalf("%d sessions and %d legs before it", len(r.l.image.Sessions), len(r.l.image.Legs))
	}
	r.checkpoint()
	r.bind("acme")
	if len(r.l.image.Sessions) != 2 || len(r.l.image.Legs) != 1 {
		t.Errorf("%d sessions and %d legs after it, want the one in doubt and the one that is bound", len(r.l.image.Sessions), len(r.l.image.Legs))
	}
	r.kill(time.Second)
	r.bind("acme").submit("in doubt").isForwarded(0).waits()
}
