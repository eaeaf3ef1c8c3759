package ledger

import (
	"sync"
	"time"
)

type eventKind uint8

const (
	openSession eventKind = iota
	closeSession
	suspect
	trust
	openLeg
	closeLeg
	claim
	unsent
	settle
	undelivered
	look
	looked
	finished
	space
	called
)

// An event is one call of the ledger's interface, on its way to the goroutine that owns the book.
type event struct {
	kind     eventKind
	flag     bool
	final    Final
	number   Number
	session  SessionID
	leg      LegID
	claim    *Claim
	response *Response
	ticket   *Ticket
	tickets  []*Ticket
	end      *End
	name     string
	id       []byte
	receipt  *Receipt
	wait     time.Duration
	found    func(Found)
	over     func()
	lookup   *lookup
	reading  reading
	call     func(now Time)
	err      error
}

// A queue takes events from any goroutine, in order, and never makes them wait: what it holds is bounded by max_pending of
// each session.
type queue struct {
	mu     sync.Mutex
	events []event       // guarded by mu
	first  []event       // guarded by mu: what must be known before any of them
	closed bool          // guarded by mu
	signal chan struct{} // holds a token while there is something to take
}

func (q *queue) init() { q.signal = make(chan struct{}, 1) }

func (q *queue) add(e event) {
	q.mu.Lock()
	q.events = append(q.events, e)
	first := len(q.events) == 1
	q.mu.Unlock()
	if first {
		q.wake()
	}
}

// addFirst puts an event before all that wait, taken or not.
func (q *queue) addFirst(e event) {
	q.mu.Lock()
	q.first = append(q.first, e)
	q.mu.Unlock()
	q.wake()
}

// takeFirst takes those events.
func (q *queue) takeFirst() []event {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := q.first
	q.first = nil
	return first
}

func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// take exchanges the events that wait for the empty slice spare.
func (q *queue) take(spare []event) (events []event, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events, q.events = q.events, spare[:0]
	return events, q.closed
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake()
}

// reads passes look-ups to the goroutine that asks the store for them.
type reads struct {
	mu     sync.Mutex
	list   []*lookup // guarded by mu
	closed bool      // guarded by mu
	more   *sync.Cond
}

func (r *reads) init() { r.more = sync.NewCond(&r.mu) }

func (r *reads) add(q *lookup) {
	r.mu.Lock()
	r.list = append(r.list, q)
	r.mu.Unlock()
	r.more.Signal()
}

func (r *reads) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.more.Signal()
}

// take waits for look-ups; none: it was closed.
func (r *reads) take() []*lookup {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.list) == 0 && !r.closed {
		r.more.Wait()
	}
	list := r.list
	r.list = nil
	return list
}
