package proxy

import (
	"sync"
	"testing"
	"time"

	"smpponce/ledger"
)

// fakeLedger forwards everything and gives back every answer, from within the calls that cause them: the hardest
// that a ledger may do to the proxy's locks. It notes what it is told.
type fakeLedger struct {
	mu      sync.Mutex
	next    uint64
	claims  map[ledger.Number]*ledger.Claim
	waiting []*ledger.Claim // while it stalls
	stalls  bool
	stale   bool // verdicts are too old when they come

	told     []string
	unread   []int // of each suspicion
	claimed  []ledger.Submission
	settled  []ledger.Response
	unsent   []ledger.Number
	again    int
	ends     []ledger.End
	legEnds  int
	undeliv  int
	finished map[string]ledger.Final
	lookups  []string
	receipts []ledger.Receipt
	ids      map[string]string // SMSC id → ESME id
	parked   []func(ledger.Found)
	parks    bool
	waits    []time.Duration
	closed   map[ledger.SessionID]bool
}

func newFakeLedger() *fakeLedger {
	return &fakeLedger{claims: map[ledger.Number]*ledger.Claim{}, finished: map[string]ledger.Final{},
		ids: map[string]string{}, closed: map[ledger.SessionID]bool{}}
}

func (l *fakeLedger) At(t time.Time) ledger.Time { return ledger.Time(t.UnixNano()) }
func (l *fakeLedger) Now() ledger.Time           { return l.At(time.Now()) }

func (l *fakeLedger) Hasher(account string) *ledger.Hasher {
	return ledger.NewHasher([]byte("secret"), "default", account)
}

func (l *fakeLedger) OpenSession(string, bool) ledger.SessionID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	l.told = append(l.told, "open")
	return ledger.SessionID(l.next)
}

func (l *fakeLedger) OpenLeg() ledger.LegID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return ledger.LegID(l.next)
}

func (l *fakeLedger) CloseSession(id ledger.SessionID, e ledger.End, over func()) {
	defer func() {
		if view(l, func() bool { return !l.stalls }) {
			over()
		}
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, "close session")
	l.ends = append(l.ends, e)
	l.closed[id] = true
}

func (l *fakeLedger) CloseLeg(ledger.LegID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, "close leg")
	l.legEnds++
}

func (l *fakeLedger) Claim(c *ledger.Claim) {
	l.mu.Lock()
	l.claimed = append(l.claimed, c.Submission)
	if l.stalls {
		l.waiting = append(l.waiting, c)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	l.forward(c)
}

func (l *fakeLedger) forward(c *ledger.Claim) {
	l.mu.Lock()
	l.next++
	n := ledger.Number(l.next)
	l.claims[n] = c
	until := l.Now().Add(time.Hour)
	if l.stale {
		until = l.Now() - 1
	}
	l.mu.Unlock()
	if _, ok := c.Waiter.Forward(n, until); !ok {
		l.mu.Lock()
		l.told = append(l.told, "not forwarded")
		l.mu.Unlock()
	}
}

// resume lets what has waited go on.
func (l *fakeLedger) resume() {
	l.mu.Lock()
	l.stalls = false
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, c := range waiting {
		l.forward(c)
	}
}

func (l *fakeLedger) Unsent(n ledger.Number, again bool) {
	l.mu.Lock()
	l.unsent = append(l.unsent, n)
	c := l.claims[n]
	delete(l.claims, n)
	if again {
		l.again++
		l.stale = false
	}
	l.mu.Unlock()
	if again {
		l.forward(c)
	}
}

func (l *fakeLedger) Settle(n ledger.Number, r ledger.Response) {
	l.mu.Lock()
	c := l.claims[n]
	delete(l.claims, n)
	l.settled = append(l.settled, r)
	over := c == nil || l.closed[c.Session]
	l.mu.Unlock()
	if !over {
		c.Waiter.Answer(ledger.Answer{Nack: r.Nack, Status: r.Status, Body: r.Body, Ticket: new(ledger.Ticket)})
	}
}

func (l *fakeLedger) Undelivered(*ledger.Ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.undeliv++
}

func (l *fakeLedger) Lookup(_ string, r *ledger.Receipt, wait time.Duration, found func(ledger.Found)) {
	l.mu.Lock()
	l.lookups = append(l.lookups, string(r.ID))
	l.receipts = append(l.receipts, *r)
	l.waits = append(l.waits, wait)
	told, known := l.ids[string(r.ID)]
	parks := l.parks && wait > 0
	if parks {
		l.parked = append(l.parked, found)
	}
	l.mu.Unlock()
	if !parks {
		found(ledger.Found{Known: known, ESMEID: []byte(told)})
	}
}

func (l *fakeLedger) Suspect(_ ledger.SessionID, unread []*ledger.Ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, "suspect")
	l.unread = append(l.unread, len(unread))
}

func (l *fakeLedger) Trust(ledger.SessionID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, "trust")
}

func (l *fakeLedger) Finished(_ string, id []byte, f ledger.Final) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished[string(id)] = f
}

// view looks at what was noted, under the lock.
func view[T any](l *fakeLedger, look func() T) T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return look()
}

func lastEnd(t *testing.T, l *fakeLedger) ledger.End {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ends) == 0 {
		t.Fatal("the ledger was told of no session's end")
	}
	return l.ends[len(l.ends)-1]
}
