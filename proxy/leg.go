package proxy

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"smpponce/ledger"
	"smpponce/pdu"
)

// side names a leg by who is at its other end.
type side uint8

const (
	esme side = iota
	smsc
	sides
)

func (d side) String() string { return [...]string{"esme", "smsc"}[d] }

// cause says why a leg is over.
type cause uint8

const (
	going   cause = iota // it is not over
	closed               // the peer's FIN
	reset                // the peer's reset, or another error of the connection
	silent               // a probe was not answered
	stalled              // the peer took nothing for write_timeout
	garbled              // a frame of illegal length
	dropped              // the proxy gave it up
)

func (c cause) String() string {
	return [...]string{"going", "closed", "reset", "silent", "stalled", "bad_pdu", "dropped"}[c]
}

// leg is one TCP connection of a session, with its reader's and its writer's state.
type leg struct {
	*socket
	p    *Proxy
	side side
	in   *pdu.Reader // the reader's
	mu   *sync.Mutex // of the session, and of the one that takes an SMSC leg over

	address string // SMSC leg: which upstream it is

	// calls are what the reader has to tell the ledger once it holds no lock. The reader's.
	calls []call
	// batch is what the writer is sending, and ends where its writes ended. The writer's, but for the swap.
	batch outbox
	ends  []writeEnd

	readDone, writeDone chan struct{} // closed when reader and writer have returned

	// The mutex guards the rest.

	session  *session // whose leg it is now
	other    *leg
	out      outbox
	requests window
	alive    alive
	more     *sync.Cond    // the writer sleeps on it
	room     *sync.Cond    // the reader sleeps on it
	sleeping bool          // the writer sleeps
	sending  int           // octets in batch
	kept     []pdu.Frame   // SMSC leg: deliver_sm that came while no ESME was there
	keptSize int           // octets in them
	parting  bool          // SMSC leg: the SMSC has sent unbind
	answered time.Duration // SMSC leg: when the newest answer to a submission came
	parked   int           // octets of receipts that wait for their answers, to be queued here
	over     cause         // why nothing more comes from the peer that counts
	shut     bool          // nothing more is queued
	detached bool          // the reader is to leave the connection as it is: another session goes on with it
	arrear   pdu.Frame     // read and not handled when it did
	finish   bool          // the writer returns when the queue is empty
	aborted  bool          // the writer returns at once
	unsent   error         // why the writer gave up
	failedAt time.Duration
	answers  []answered // ESME leg: those that may be unread
	checked  time.Duration
	acked    uint64      // octets acknowledged when last asked
	lastAsk  ledger.Time // ESME leg: when the newest probe that was answered had been queued
	asked    uint32      // number of the outstanding probe
	askedAt  ledger.Time // and when it was queued
}

// answered is an answer that was written to an ESME leg.
type answered struct {
	ticket *ledger.Ticket
	at     ledger.Time
	offset uint64 // of its end, among the octets given to the kernel
}

// writeEnd says that the first plain octets of a batch were all on the wire when wire octets had been sent.
type writeEnd struct {
	plain int
	wire  uint64
}

func newLeg(s *session, d side, c *socket, in *pdu.Reader, pending int, now time.Duration) *leg {
	return &leg{
		p: s.p, session: s, mu: s.mu, side: d, socket: c, in: in,
		readDone: make(chan struct{}), writeDone: make(chan struct{}),
		requests: newWindow(pending),
		more:     sync.NewCond(s.mu), room: sync.NewCond(s.mu),
		alive: alive{heard: now},
	}
}

// lock takes the mutex and gives the session whose leg it is: an SMSC leg can pass from one to the next.
func (l *leg) lock() *session {
	l.mu.Lock()
	return l.session
}

// poke has the watcher look.
func (l *leg) poke() {
	l.lock().poke()
	l.mu.Unlock()
}

// queued is how many octets wait for the socket, with what each mark keeps in memory beside them. Caller holds the session's mutex.
func (l *leg) queued() int { return len(l.out.buf) + l.sending + l.parked + markCost*len(l.out.marks) }

// full says that the leg's queue has reached its hard bound. Caller holds the session's mutex.
func (l *leg) full() bool { return l.queued() >= queueBound }

// open says that frames may be queued. Caller holds the session's mutex.
func (l *leg) open() bool { return !l.shut }

// listens says whether the peer may still read what is queued. Caller holds the session's mutex.
func (l *leg) listens() bool { return l.unsent == nil && (l.over == going || l.over == garbled) }

// rouse wakes the writer where there is something for it. Caller holds the session's mutex.
func (l *leg) rouse() {
	if l.sleeping && !l.out.empty() {
		l.sleeping = false
		l.more.Signal()
	}
}

// end marks the leg as over, once, and lets nobody wait for it. Caller holds the session's mutex.
func (l *leg) end(why cause) {
	if l.over == going {
		l.over = why
	}
}

// abort makes reader and writer return as soon as they can. Caller holds the session's mutex.
func (l *leg) abort(why cause) {
	l.abortWriter(why)
	_ = l.SetReadDeadline(longAgo) // fails only on a closed connection, whose users return by themselves
}

// abortWriter makes the writer return as soon as it can; the reader may go on reading to the peer's end. Caller holds
// the session's mutex.
func (l *leg) abortWriter(why cause) {
	l.end(why)
	l.shut, l.aborted = true, true
	_ = l.SetWriteDeadline(longAgo)
	l.wakeAll()
}

var longAgo = time.Unix(1, 0)

// wakeAll has everybody look again who sleeps on account of l. Caller holds the session's mutex.
func (l *leg) wakeAll() {
	l.sleeping = false
	l.more.Broadcast()
	l.room.Broadcast()
	l.other.room.Broadcast()
}

// causeOf tells from a reader's or writer's error why the leg is over.
func causeOf(err error) cause {
	var length *pdu.LengthError
	switch {
	case errors.As(err, &length):
		return garbled
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.EPIPE):
		return closed // what EPIPE tells came after a FIN
	case errors.Is(err, os.ErrDeadlineExceeded):
		return stalled
	case errors.Is(err, net.ErrClosed):
		return dropped
	}
	return reset
}
