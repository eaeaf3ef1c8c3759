package ledger

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// explained asks l, and gives the first words of each story: its latest attempt, state and how many receipts.
func explained(t *testing.T, l *Ledger, id string) (told []string) {
	t.Helper()
	stories, err := l.Explain(context.Background(), id)
	if err != nil {
		t.Fatalf("%q: %v", id, err)
	}
	for _, s := range stories {
		told = append(told, fmt.Sprint(s.Attempts[len(s.Attempts)-1].Number, " ", s.State, " ", len(s.Receipts)))
	}
	return told
}

// receipt asks for a receipt and waits for what is found.
func (e *esme) receipt(account, id, state string) Found {
	found := make(chan Found, 1)
	e.l.Lookup(account, &Receipt{ID: []byte(id), State: state, Status: []byte("stat")}, 0, func(f Found) { found <- f })
	return <-found
}

func TestAMessageIsExplainedByEitherIDByItsRequestIDAndByItsKey(t *testing.T) {
	o := testOptions(t, t.TempDir())
	o.RequestTags = func(account string) []uint16 { return []uint16{0x1401, 0x1402} }
	l := open(t, o)
	e := newESME(t, l, "acme")
	accept := func(s *sub, id string) { l.Settle(s.forwarded(), accepted(id)); s.answered() }
	one := e.submitAs("order-1", "text")
	accept(one, "77")
	two := e.submit("two")
	accept(two, "78")
	flying := e.submit("flying")
	flying.forwarded()
	other := newESME(t, l, "other")
	accept(other.submit("two"), "77")
	for _, state := range []string{"enroute", "delivered"} {
		e.receipt("acme", "77", state)
	}
	e.receipt("acme", "unheard", "delivered")
	check := func() {
		t.Helper()
		for id, want := range map[string][]string{
			"77":                                  {"1 accepted 2", "4 accepted 0"},
			"78":                                  {"2 accepted 0"},
			"order-1":                             {"1 accepted 2"},
			"order-2":                             nil,
			"unheard":                             nil,
			"":                                    nil,
			one.Key.String():                      {"1 accepted 2"},
			two.Key.String():                      {"2 accepted 0"},
			flying.Key.String():                   {"3 in_flight 0"},
			flying.Key.String()[1:]:               nil,
			fmt.Sprintf("%X", one.Fingerprint[:]): {"1 accepted 2"},
		} {
			if diff := cmp.Diff(want, explained(t, l, id)); diff != "" {
				t.Errorf("%q is explained as (-want +got):\n%s", id, diff)
			}
		}
	}
	check()
	stories, _ := l.Explain(context.Background(), "order-1")
	s := stories[0]
	if r := s.Receipts[0]; string(r.ID) != "77" || r.State != "enroute" || string(r.Status) != "stat" || r.At == 0 {
		t.Errorf("the receipts are told as %+v", s.Receipts)
	}
	if s.Account != "acme" || s.Standing.Sequence != one.Sequence || s.Standing.Answered == 0 || !s.Attempts[0].Told {
		t.Errorf("told as %+v", s)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	o.Metrics = prometheus.NewRegistry()
	l = open(t, o) // what is not live is found on the disk, whosoever it is
	defer l.Close()
	newESME(t, l, "acme")
	for id, want := range map[string][]string{
		"77": {"1 accepted 2", "4 accepted 0"}, "order-1": {"1 accepted 2"}, "78": {"2 accepted 0"}, flying.Key.String(): {"3 in_doubt 0"}, two.Key.String(): {"2 accepted 0"},
	} {
		if diff := cmp.Diff(want, explained(t, l, id)); diff != "" {
			t.Errorf("after a restart %q is explained as (-want +got):\n%s", id, diff)
		}
	}
}

func TestWhatIsNotLiveIsToldInDoubtAndSpentAndNotInFlight(t *testing.T) {
	s := tellStored(&Record{Attempts: []Attempt{{Number: 1, State: InFlight}}})
	if s.State != InDoubt || !s.Spent {
		t.Errorf("told as %v, spent: %v", s.State, s.Spent)
	}
	if s := tellStored(&Record{Attempts: []Attempt{{Number: 1, State: Accepted}}}); s.Spent {
		t.Error("what is accepted is told as spent")
	}
}

func TestStoriesAndTheirReceiptsAreBounded(t *testing.T) {
	o := testOptions(t, t.TempDir())
	o.RequestTags = func(account string) []uint16 { return []uint16{0x1402} }
	l := open(t, o)
	defer l.Close()
	e := newESME(t, l, "acme")
	for i := range maxStories + 20 {
		s := e.claim(e.h.Explicit(0x1402, []byte("campaign"), []byte(fmt.Sprint(i)), 0, 0), e.h.Fingerprint([]byte("text")))
		l.Settle(s.forwarded(), accepted(fmt.Sprint("id", i)))
		s.answered()
	}
	for i := range maxReceipts + 7 {
		e.receipt("acme", "id3", fmt.Sprint(i))
	}
	if got := explained(t, l, "campaign"); len(got) != maxStories {
		t.Errorf("%d stories", len(got))
	}
	stories, err := l.Explain(context.Background(), "id3")
	if err != nil || len(stories) != 1 {
		t.Fatalf("%+v, %v", stories, err)
	}
	got := stories[0].Receipts
	if len(got) != maxReceipts || got[0].State != "7" || !slices.IsSortedFunc(got, func(a, b Observation) int { return int(a.At - b.At) }) {
		t.Errorf("%d receipts, the first %q", len(got), got[0].State)
	}
}

func TestASearchEndsWithItsContextAndWithTheLedger(t *testing.T) {
	l := open(t, testOptions(t, t.TempDir()))
	e := newESME(t, l, "acme")
	s := e.submit("A")
	l.Settle(s.forwarded(), accepted("77"))
	s.answered()
	ctx, end := context.WithTimeout(context.Background(), time.Nanosecond)
	defer end()
	if _, err := l.Explain(ctx, "nothing"); err == nil {
		t.Error("no error though the time was over")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Explain(context.Background(), "nothing"); err == nil {
		t.Error("no error though the ledger was closed")
	}
}
