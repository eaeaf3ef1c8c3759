package proxy

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"smpponce/ledger"
	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// A cut breaks a connection after a number of octets of one frame.
type cut struct {
	leg   string // "ESME" or "SMSC"
	what  string // "submit_sm" or "submit_sm_resp"
	after int    // octets of it that arrive
	of    int    // its length
	reset bool
}

func (c cut) String() string {
	how := "FIN"
	if c.reset {
		how = "reset"
	}
	return fmt.Sprintf("%s leg, %s after %d of %d octets by %s", c.leg, c.what, c.after, c.of, how)
}

// allCuts are the cuts at every octet of both frames on both legs.
func allCuts() (all []cut) {
	for _, reset := range []bool{false, true} {
		for _, leg := range []string{"ESME", "SMSC"} {
			for what, of := range map[string]int{"submit_sm": len(submitFrame(1, "hello")), "submit_sm_resp": len(answer(1, "first"))} {
				for after := range of + 1 {
					all = append(all, cut{leg, what, after, of, reset})
				}
			}
		}
	}
	return all
}

// cutSMSC accepts all that it can read, and counts it.
type cutSMSC struct {
	mu       sync.Mutex
	accepted int
	sever    map[uint32]func(*memnet.Conn) // before it answers this command, once
}

func (s *cutSMSC) serve(l *memnet.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.talk(c.(*memnet.Conn))
	}
}

func (s *cutSMSC) talk(c *memnet.Conn) {
	defer func() { _ = c.Close() }()
	in := wire.NewReader(c)
	for {
		f, err := in.Next()
		if err != nil {
			return
		}
		var body []byte
		switch f.Command() {
		case wire.BindTransceiver:
			body = []byte{0}
		case wire.SubmitSM:
			s.mu.Lock()
			s.accepted++
			body = []byte("first\x00")
			if s.accepted > 1 {
				body = []byte("second\x00")
			}
			s.mu.Unlock()
		}
		time.Sleep(5 * time.Millisecond)
		s.mu.Lock()
		if sever := s.sever[f.Command()]; sever != nil {
			sever(c)
			s.sever = nil
		}
		s.mu.Unlock()
		if _, err := c.Write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), body)); err != nil {
			return
		}
		if f.Command() == wire.Unbind {
			return
		}
	}
}

// cutESME sends one message until it is answered well, as real clients do: after a break it comes back and repeats.
type cutESME struct {
	answers []wire.Frame // to the message, of all sessions
	breaks  int
}

// tryOnce has one session, and says whether the message was answered well. sever cuts the connection before the message
// is sent, or after that.
func (e *cutESME) tryOnce(r *rig, before, after func(*memnet.Conn)) bool {
	p := r.dial()
	defer func() { _ = p.Close() }()
	_, _ = p.Write(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
	if f, err := p.in.Next(); err != nil || f.Status() != 0 {
		e.breaks++
		return false
	}
	if before != nil {
		before(p.Conn)
	}
	_, _ = p.Write(submitFrame(2, "hello"))
	if after != nil {
		after(p.Conn)
	}
	_ = p.SetReadDeadline(time.Now().Add(30 * time.Second)) // its own response timer
	for {
		f, err := p.in.Next()
		if err != nil {
			e.breaks++
			return false
		}
		switch f.Command() {
		case wire.SubmitSM | wire.Response:
			e.answers = append(e.answers, f.Clone())
			// Whoever is answered twice would hear it now.
			_ = p.SetReadDeadline(time.Now().Add(time.Second))
			if g, err := p.in.Next(); err == nil && g.Command() == wire.SubmitSM|wire.Response {
				e.answers = append(e.answers, g.Clone())
			}
			return f.Status() == 0
		case wire.EnquireLink:
			_, _ = p.Write(wire.New(wire.EnquireLink|wire.Response, 0, f.Sequence(), nil))
		}
	}
}

// sends cuts what own is about to send, hears what it is about to be sent.
func (c cut) sends(own *memnet.Conn) { own.CutAfter(own.Sent()+int64(c.after), c.reset) }
func (c cut) hears(own *memnet.Conn) { own.CutPeerAfter(int64(c.after), c.reset) }

func TestACutAtAnyOctetCostsNoDuplicateAndNoMessage(t *testing.T) {
	cuts := allCuts()
	if testing.Short() {
		cuts = cuts[:40]
	}
	for _, c := range cuts {
		t.Run(c.String(), func(t *testing.T) { cutOnce(t, c) })
	}
}

// openLedger is the real ledger, with its default rules.
func openLedger(t *testing.T, dir string, mode ledger.Mode) *ledger.Ledger {
	t.Helper()
	book, err := ledger.Open(t.Context(), ledger.Options{
		Path: dir, Upstream: "default", LockWait: time.Second, MinFree: 1 << 20, ResponseTimeout: time.Minute, Retention: 72 * time.Hour,
		Log: zap.NewNop(), Metrics: prometheus.NewRegistry(), Sync: ledger.SyncNone,
		PolicyOf: func(string) ledger.Policy {
			return ledger.Policy{Mode: mode, Content: true, Window: 24 * time.Hour, ContentWindow: 10 * time.Minute, ContentLimit: time.Hour,
				ClientTimeout: time.Minute, Settle: time.Second, HoldTimeout: 3 * time.Second, InDoubtDeadline: time.Minute,
				ResponseTimeout: time.Minute, RetryStatus: wire.QueueFull}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func cutOnce(t *testing.T, c cut) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		book := openLedger(t, dir, ledger.Enforce)
		r := newRig(t, func(o *Options) { o.Ledger = book })
		smsc := new(cutSMSC)
		esme := new(cutESME)
		var before, after func(*memnet.Conn)
		switch c.leg + " " + c.what {
		case "ESME submit_sm":
			before = c.sends
		case "ESME submit_sm_resp":
			after = c.hears
		case "SMSC submit_sm":
			smsc.sever = map[uint32]func(*memnet.Conn){wire.BindTransceiver: c.hears}
		case "SMSC submit_sm_resp":
			smsc.sever = map[uint32]func(*memnet.Conn){wire.SubmitSM: c.sends}
		}
		go smsc.serve(r.smsc)

		start, done := time.Now(), esme.tryOnce(r, before, after)
		for tries := 1; !done && tries < 40; tries++ {
			time.Sleep(2 * time.Second)
			done = esme.tryOnce(r, nil, nil)
		}
		took := time.Since(start)
		check(t, c, esme, smsc, done, took)

		r.stop()
		if err := book.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// check says what must have come of a cut.
func check(t *testing.T, c cut, esme *cutESME, smsc *cutSMSC, done bool, took time.Duration) {
	t.Helper()
	smsc.mu.Lock()
	defer smsc.mu.Unlock()
	if !done {
		t.Fatalf("the message was not answered within %v", took)
	}
	// Accepted or not, nobody knows: the SMSC had all of it, and its answer did not arrive.
	inDoubt := c.leg == "SMSC" && (c.what == "submit_sm" && c.after == c.of || c.what == "submit_sm_resp" && c.after < c.of)
	want, id := 1, "first"
	if inDoubt {
		want, id = 2, "second" // sent again, but not before the deadline
		if took < time.Minute {
			t.Errorf("what was in doubt was sent again after %v", took)
		}
	}
	if smsc.accepted != want {
		t.Errorf("the SMSC has the message %d times, want %d", smsc.accepted, want)
	}
	good := 0
	for _, a := range esme.answers {
		switch {
		case a.Status() == 0:
			good++
			if a.ID() != id {
				t.Errorf("answered with id %q, want %q", a.ID(), id)
			}
		case a.Status() != wire.QueueFull || !inDoubt:
			t.Errorf("answered with status %#x", a.Status())
		}
	}
	if good != 1 {
		t.Errorf("%d good answers, want 1", good)
	}
}
