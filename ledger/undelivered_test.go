package ledger

import (
	"path/filepath"
	"testing"
)

// A leaver is gone when its answer comes, and is back and has repeated itself before the proxy can say so.
type leaver struct {
	*sub
	back func(Answer)
}

func (w leaver) Answer(a Answer) { w.back(a) }

func TestAnAnswerThatFoundNobodyIsKnownBeforeTheRepeatIsDecided(t *testing.T) {
	l := open(t, testOptions(t, filepath.Join(t.TempDir(), "ledger")))
	first, second := newESME(t, l, "acme"), (*esme)(nil)
	var repeat *sub
	told := make(chan struct{})
	s := &sub{esme: first}
	f := first.h.Fingerprint([]byte("A"))
	s.Session, s.Leg, s.At, s.Key, s.Fingerprint = first.session, first.leg, l.Now(), first.h.Content(f), f
	s.Waiter = leaver{s, func(a Answer) {
		l.CloseSession(first.session, End{At: l.Now(), How: Closed}, func() {})
		second = newESME(t, l, "acme")
		repeat = second.submit("A")
		l.Undelivered(a.Ticket)
		close(told)
	}}
	l.Claim(&s.Claim)
	l.Settle(s.forwarded(), accepted("1"))
	<-told
	if a := repeat.answered(); a.Verdict != Replay || string(a.Body) != string(accepted("1").Body) {
		t.Errorf("the repeat got %v with %q, want a replay of the first answer", a.Verdict, a.Body)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
