package ledger

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// childPath in the environment makes the test binary a process that uses the ledger there, until it is killed.
const childPath = "SMPPONCE_TEST_LEDGER"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		runChild(path)
		return
	}
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		f.Value.Set("150")
	}
	os.Exit(m.Run())
}

// A childSub says on stdout what it hears, before the ledger goes on. Every other one has a request id, every third is
// rejected, every fifth never answered.
type childSub struct {
	Claim
	l    *Ledger
	name string
	i    int
	free chan<- struct{}
}

var say sync.Mutex

func (s *childSub) say(format string, args ...any) {
	say.Lock()
	defer say.Unlock()
	fmt.Printf(format+"\n", args...)
}

func (s *childSub) Forward(n Number, _ Time) (uint32, bool) {
	s.say("forward %s %d", s.name, n)
	switch {
	case s.i%5 == 0:
		s.free <- struct{}{}
	case s.i%3 == 0:
		s.l.Settle(n, Response{Status: 0x58})
	default:
		s.l.Settle(n, accepted("id-"+s.name))
	}
	return uint32(s.i), true
}

func (s *childSub) Question(other SessionID) { s.l.Trust(other) }

func (s *childSub) Answer(a Answer) {
	if a.Status == 0 {
		s.say("answer %s", s.name)
	}
	s.free <- struct{}{}
}

func runChild(path string) {
	o := Options{Path: path, Upstream: "default", LockWait: 10 * time.Second, MinFree: 1 << 20, ResponseTimeout: time.Minute, Retention: 72 * time.Hour,
		PolicyOf: func(string) Policy { return testPolicy() }, Log: zap.NewNop(), Metrics: prometheus.NewRegistry()}
	l, err := Open(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	h := l.Hasher("acme")
	session := l.OpenSession("acme", true)
	leg := l.OpenLeg()
	free := make(chan struct{}, 50)
	for range cap(free) {
		free <- struct{}{}
	}
	for i := 1; ; i++ {
		<-free
		s := &childSub{l: l, name: fmt.Sprint(session, "-", i), i: i, free: free}
		f := h.Fingerprint([]byte(s.name))
		s.Submission = Submission{Session: session, Leg: leg, Sequence: uint32(i), At: l.Now(), Key: h.Content(f), Fingerprint: f, ReceiptRequested: true}
		if i%2 == 0 {
			s.Key = h.Explicit(0x1402, []byte(s.name), []byte("dest"), 0, 0)
		}
		s.Waiter = s
		l.Claim(&s.Claim)
	}
}

// TestWhatAKilledProcessWasToldIsKnownAfterwards kills a process under load several times: no submission that it had forwarded is
// forwarded again, no acceptance that it had told is forgotten, and no attempt's number is used twice.
func TestWhatAKilledProcessWasToldIsKnownAfterwards(t *testing.T) {
	dir := t.TempDir()
	numbers := map[string]string{}
	for round := range 3 {
		forwarded, answered := killChild(t, dir, 400+300*round)
		for name, n := range forwarded {
			if other := numbers[n]; other != "" {
				t.Fatalf("number %s was given to %s and to %s", n, other, name)
			}
			numbers[n] = name
		}
		checkKilled(t, dir, forwarded, answered)
	}
}

// killChild kills a child after it has said so many lines, and gives what it said: forwarded submissions with their number, and
// those that were accepted.
func killChild(t *testing.T, dir string, lines int) (forwarded map[string]string, answered map[string]bool) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childPath+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(time.Minute, func() { child.Process.Kill() })
	defer stop.Stop()
	forwarded, answered = map[string]string{}, map[string]bool{}
	in := bufio.NewReader(out)
	for n := 0; ; n++ {
		if n == lines {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := in.ReadString('\n') // what it said before it was killed is read to the end
		if err != nil {
			if n < lines {
				t.Errorf("the child ended by itself after %d lines: %v", n, err)
			}
			break
		}
		switch word := strings.Fields(line); word[0] {
		case "forward":
			forwarded[word[1]] = word[2]
		case "answer":
			answered[word[1]] = true
		}
	}
	child.Wait()
	return forwarded, answered
}

// checkKilled opens the ledger of a killed child and submits again all that it had forwarded.
func checkKilled(t *testing.T, dir string, forwarded map[string]string, answered map[string]bool) {
	t.Helper()
	o := testOptions(t, dir)
	o.Log = zap.NewNop()
	o.PolicyOf = func(string) Policy {
		p := testPolicy()
		p.HoldTimeout = time.Millisecond
		return p
	}
	l := open(t, o)
	defer l.Close()
	e := newESME(t, l, "acme")
	again := map[string]*sub{}
	var found sync.WaitGroup
	for name := range forwarded {
		var i int
		if _, err := fmt.Sscanf(name[strings.Index(name, "-")+1:], "%d", &i); err != nil {
			t.Fatal(err)
		}
		if answered[name] {
			found.Add(1)
			l.Lookup("acme", &Receipt{ID: []byte("id-" + name), Destination: Address{}}, 0, func(f Found) {
				if !f.Known {
					t.Errorf("%s was accepted, and its message id is not known", name)
				}
				found.Done()
			})
		}
		if i%5 != 0 && i%3 == 0 {
			continue // rejected, or about to be
		}
		switch {
		case i%2 == 0:
			again[name] = e.submitAs(name, name)
		case !answered[name]:
			again[name] = e.submit(name)
		}
	}
	found.Wait()
	e.await("what was repeated to be answered", func() bool {
		for _, s := range again {
			if len(s.answers) == 0 && len(s.attempts) == 0 {
				return false
			}
		}
		return true
	})
	doubts := 0
	for name, s := range again {
		switch {
		case len(s.attempts) != 0:
			t.Errorf("%s was forwarded again", name)
		case answered[name] && string(s.answers[0].Body) != "id-"+name+"\x00":
			t.Errorf("%s was accepted, and its repeat got %+v", name, s.answers[0])
		case s.answers[0].Status != 0:
			doubts++
		}
	}
	if len(again) == 0 || doubts == 0 || doubts == len(again) {
		t.Errorf("%d repeated and %d of them in doubt: the test proves too little", len(again), doubts)
	}
}
