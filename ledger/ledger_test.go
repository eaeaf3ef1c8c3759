package ledger

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
)

func testPolicy() Policy {
	return Policy{
		Content: true, Window: 24 * time.Hour, ContentWindow: 10 * time.Minute, ContentLimit: time.Hour, ClientTimeout: time.Minute,
		Settle: time.Second, HoldTimeout: 3 * time.Second, InDoubtDeadline: time.Minute, ResponseTimeout: time.Minute, RetryStatus: 0x14,
	}
}

func testOptions(t testing.TB, path string) Options {
	log := zap.NewNop()
	if testing.Verbose() {
		log = zaptest.NewLogger(t, zaptest.Level(zap.InfoLevel))
	}
	return Options{
		Path: path, Upstream: "default", LockWait: time.Second, MinFree: 1 << 20, ResponseTimeout: time.Minute, Retention: 72 * time.Hour,
		PolicyOf: func(string) Policy { return testPolicy() }, Log: log, Metrics: prometheus.NewRegistry(),
	}
}

// An esme is a client of the ledger: what a proxy is, without sockets.
type esme struct {
	t       testing.TB
	l       *Ledger
	h       *Hasher
	session SessionID
	leg     LegID
	mu      sync.Mutex
	changed *sync.Cond
	seq     uint32
}

func newESME(t testing.TB, l *Ledger, account string) *esme {
	e := &esme{t: t, l: l, h: l.Hasher(account), session: l.OpenSession(account, true)}
	e.leg = l.OpenLeg()
	e.changed = sync.NewCond(&e.mu)
	return e
}

// A sub is one submission and what it heard.
type sub struct {
	Claim
	esme     *esme
	attempts []Number // handed over
	answers  []Answer
}

func (s *sub) Forward(n Number, until Time) (uint32, bool) {
	s.esme.mu.Lock()
	defer s.esme.mu.Unlock()
	s.attempts = append(s.attempts, n)
	s.esme.seq++
	s.esme.changed.Broadcast()
	return s.esme.seq, true
}

func (s *sub) Question(other SessionID) { s.esme.l.Trust(other) }

func (s *sub) Answer(a Answer) {
	s.esme.mu.Lock()
	defer s.esme.mu.Unlock()
	s.answers = append(s.answers, a)
	s.esme.changed.Broadcast()
}

func (e *esme) submit(text string) *sub {
	f := e.h.Fingerprint([]byte(text))
	return e.claim(e.h.Content(f), f)
}

func (e *esme) submitAs(id, text string) *sub {
	return e.claim(e.h.Explicit(0x1402, []byte(id), []byte("dest"), 0, 0), e.h.Fingerprint([]byte(text)))
}

func (e *esme) claim(k Key, f Fingerprint) *sub {
	e.mu.Lock()
	e.seq++
	s := &sub{esme: e}
	s.Submission = Submission{Session: e.session, Leg: e.leg, Sequence: e.seq, At: e.l.Now(), Key: k, Fingerprint: f, ReceiptRequested: true}
	s.Waiter = s
	e.mu.Unlock()
	e.l.Claim(&s.Claim)
	return s
}

// await waits until ok holds.
func (e *esme) await(what string, ok func() bool) {
	e.t.Helper()
	stop := time.AfterFunc(20*time.Second, func() { e.mu.Lock(); e.seq |= 1 << 31; e.mu.Unlock(); e.changed.Broadcast() })
	defer stop.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for !ok() {
		if e.seq>>31 != 0 {
			e.t.Fatalf("waited in vain: %s", what)
		}
		e.changed.Wait()
	}
}

func (s *sub) forwarded() Number {
	s.esme.t.Helper()
	s.esme.await("forward", func() bool { return len(s.attempts) > 0 })
	return s.attempts[len(s.attempts)-1]
}

func (s *sub) answered() Answer {
	s.esme.t.Helper()
	s.esme.await("answer", func() bool { return len(s.answers) > 0 })
	if len(s.answers) != 1 {
		s.esme.t.Fatalf("answered %d times", len(s.answers))
	}
	return s.answers[0]
}

func accepted(id string) Response {
	return Response{MessageID: []byte(id), Body: append([]byte(id), 0)}
}

func open(t testing.TB, o Options) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAResubmissionAfterABreakIsAnsweredWithTheFirstID(t *testing.T) {
	o := testOptions(t, t.TempDir())
	l := open(t, o)
	a := newESME(t, l, "acme")
	s := a.submit("hello")
	n := s.forwarded()
	l.CloseSession(a.session, End{At: l.Now(), How: Reset}, func() {})
	l.Settle(n, accepted("77"))
	b := newESME(t, l, "acme")
	r := b.submit("hello")
	if got := r.answered(); string(got.Body) != "77\x00" || got.Verdict != Replay {
		t.Errorf("answer = %+v, want the body of 77, replayed", got)
	}
	if len(r.attempts) != 0 {
		t.Error("the resubmission was forwarded")
	}
	third := b.submit("hello")
	third.forwarded()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnEarlierProcessLeftUnansweredIsInDoubt(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(t, dir)
	o.PolicyOf = func(string) Policy {
		p := testPolicy()
		p.HoldTimeout = 20 * time.Millisecond
		return p
	}
	l := open(t, o)
	a := newESME(t, l, "acme")
	for i := range 100 {
		n := a.submit(fmt.Sprint("text ", i)).forwarded()
		if i < 50 {
			l.Settle(n, accepted(fmt.Sprint(1000+i)))
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o.Metrics = prometheus.NewRegistry()
	l = open(t, o)
	defer l.Close()
	b := newESME(t, l, "acme")
	first := b.submit("text 60")
	if got := first.answered(); got.Status != 0x14 {
		t.Errorf("in doubt: answer %+v, want retry status after the hold", got)
	}
}
