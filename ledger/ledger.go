package ledger

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// SyncMode says what is synced to the disk before it counts.
type SyncMode uint8

const (
	SyncIntents SyncMode = iota // intents; outcomes go with the next intent
	SyncAll                     // every commit
	SyncNone                    // nothing: for a volume that dies with the machine anyway
)

// Options of a ledger. All but Bypass, MaxBytes and RequestTags must be set.
type Options struct {
	Path            string        // directory; made where it is missing
	Upstream        string        // part of the scope of every key
	Sync            SyncMode      //
	LockWait        time.Duration // how long to wait for another process to let go of Path
	MinFree         int64         // bytes: with less free on the volume submissions are refused
	MaxBytes        int64         // bytes: likewise where the ledger has grown to it; 0: no limit
	Bypass          bool          // forward unprotected instead of refusing, where the ledger cannot commit
	ResponseTimeout time.Duration // after this an attempt is overdue
	Retention       time.Duration // how long outcomes are kept for receipts
	PolicyOf        func(account string) Policy
	RequestTags     func(account string) []uint16 // the TLVs that carry its request ids, for Explain; nil: none
	Log             *zap.Logger
	Metrics         prometheus.Registerer
}

// commitTimeout is how long a commit may take before the ledger counts as not writable, and retryEvery how long after a failed
// one the next is tried.
const (
	commitTimeout = 5 * time.Second
	retryEvery    = 500 * time.Millisecond
	watchEvery    = time.Second // the free space
)

// markDelay is how long after an answer the ledger notes the time, if nothing else does: what was answered before is known to
// lie further back than recentAnswer then.
const markDelay = recentAnswer + 50*time.Millisecond

// A Ledger remembers every submission of an upstream's accounts and decides about it. Open starts two goroutines: run owns the
// book and decides; commit writes batches. All methods but Close may be called from any goroutine, none waits for the disk, and
// the order of one goroutine's calls is kept.
type Ledger struct {
	o      Options
	log    *zap.Logger
	m      *metrics
	clock  clock
	epoch  uint64
	secret []byte

	ids      atomic.Uint64 // sessions and legs of this epoch
	writable atomic.Pointer[error]
	queue    queue
	reads    reads
	store    *store

	work    chan job
	done    chan result
	stopped chan struct{}  // closed when run has ended
	users   sync.WaitGroup // of the store: commit, read and watch
	head    head           // of the last checkpoint; commit's, once it runs

	// The rest belongs to run.
	book         *book
	image        *image
	events       []event // taken off the queue
	taken        int     // and handled
	journals     int     // since the last checkpoint
	journalBytes int
	imageBytes   int    // of the last checkpoint
	committing   *batch // under way, or to be repeated after a failure
	started      Time
	failed       bool // its commit failed or timed out: its effects are told, and it is repeated
	retryAt      Time // when it is tried again; 0: a commit is under way
	broken       error
	full         error // no room on the volume
	mark         Time  // when the time is to be noted; 0: need not be
	toldAt       Time  // when the latest batch was done
}

// Open opens the ledger in o.Path, waiting for another process to let go of it, and rebuilds what was live. The error names the
// setting at fault.
func Open(ctx context.Context, o Options) (*Ledger, error) {
	m := newMetrics(o.Metrics)
	s, err := openStore(ctx, &o)
	if err != nil {
		return nil, err
	}
	l := &Ledger{o: o, log: o.Log, m: m, store: s, work: make(chan job, 1), done: make(chan result, 2), stopped: make(chan struct{})}
	if err := l.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger.path %s: %w", o.Path, err), s.close())
	}
	return l, nil
}

// start rebuilds the book and starts the goroutines.
func (l *Ledger) start() error {
	var err error
	if l.image, l.head, err = l.store.rebuild(); err != nil {
		return err
	}
	l.journals = int(l.image.Seq - l.head.Seq)
	l.clock = newClock(l.image.At, time.Now())
	if err := l.identify(); err != nil {
		return err
	}
	l.queue.init()
	l.reads.init()
	l.book = newBook(l)
	if err := l.book.restore(l.image, l.Now(), l.store.record); err != nil {
		return err
	}
	l.full = l.room()
	l.setWritable(nil)
	l.judge()
	go l.run()
	l.users.Go(l.commit)
	l.users.Go(l.read)
	l.users.Go(l.watch)
	return nil
}

// identify reads or makes the secret, and counts the epoch up.
func (l *Ledger) identify() error {
	secret, err := l.store.get(secretKey)
	if err != nil {
		return err
	}
	created, err := l.store.get(createdKey)
	if err != nil {
		return err
	}
	epoch, err := l.store.get(epochKey)
	if err != nil {
		return err
	}
	if secret == nil {
		secret = make([]byte, 32)
		rand.Read(secret)
		created = binary.BigEndian.AppendUint64(nil, uint64(l.Now()))
		l.log.Info("a fresh ledger: it protects nothing that was sent before", zap.String("path", l.o.Path))
	}
	if len(secret) != 32 || len(created) != 8 || epoch != nil && len(epoch) != 8 {
		return fmt.Errorf("identity: %w", errCorrupt)
	}
	if epoch == nil {
		epoch = make([]byte, 8)
	}
	l.secret = secret
	l.epoch = binary.BigEndian.Uint64(epoch) + 1
	l.m.created.Set(float64(binary.BigEndian.Uint64(created)) / 1e9)
	return l.store.set(max(l.image.Seq, 1), secretKey, secret, createdKey, created, epochKey, binary.BigEndian.AppendUint64(nil, l.epoch))
}

// Now is the time on the ledger's clock, and At what that clock showed at t, which carries a monotonic reading.
func (l *Ledger) Now() Time           { return l.clock.at(time.Now()) }
func (l *Ledger) At(t time.Time) Time { return l.clock.at(t) }

// Writable is nil while submissions are decided under protection, and else says why they are not.
func (l *Ledger) Writable() error { return *l.writable.Load() }

func (l *Ledger) setWritable(err error) {
	l.writable.Store(&err)
	if err == nil {
		l.m.writable.Set(1)
	} else {
		l.m.writable.Set(0)
	}
}

// Hasher makes the keys of an account's submissions. Each goroutine needs its own.
func (l *Ledger) Hasher(account string) *Hasher {
	return NewHasher(l.secret, l.o.Upstream, account)
}

func (l *Ledger) newID() uint64 { return l.epoch<<32 | l.ids.Add(1)&0xFFFFFFFF }

// OpenSession begins a session of an account that the SMSC accepted. canSubmit: not a bind_receiver.
func (l *Ledger) OpenSession(account string, canSubmit bool) SessionID {
	id := SessionID(l.newID())
	l.queue.add(event{kind: openSession, session: id, name: account, flag: canSubmit})
	return id
}

// CloseSession ends a session: no claim of it is answered any more. What was claimed before is still forwarded; over is called,
// on the ledger's goroutine, when the last of it has been. It must not block.
func (l *Ledger) CloseSession(id SessionID, e End, over func()) {
	l.queue.add(event{kind: closeSession, session: id, end: &e, over: over})
}

// Suspect says that the ESME of a session may be dead; unread are the answers that its TCP has not acknowledged. Submissions of other
// sessions of its account that equal one of these, or one that is unanswered on it, wait until Trust or CloseSession says what it is.
func (l *Ledger) Suspect(id SessionID, unread []*Ticket) {
	l.queue.add(event{kind: suspect, session: id, tickets: unread})
}

// Trust says that a suspected ESME lives.
func (l *Ledger) Trust(id SessionID) { l.queue.add(event{kind: trust, session: id}) }

// OpenLeg begins an SMSC leg.
func (l *Ledger) OpenLeg() LegID {
	id := LegID(l.newID())
	l.queue.add(event{kind: openLeg, leg: id})
	return id
}

// CloseLeg ends an SMSC leg, after everything that it brought was settled and what never left was Unsent: the attempts that it
// leaves unanswered are in doubt.
func (l *Ledger) CloseLeg(id LegID) { l.queue.add(event{kind: closeLeg, leg: id}) }

// Claim asks what is to become of a submission; its Waiter hears it.
func (l *Ledger) Claim(c *Claim) { l.queue.add(event{kind: claim, claim: c}) }

// Unsent says that attempt n was never handed to the socket. again: its verdict was too old, and it is to be decided anew; else
// its leg is gone.
func (l *Ledger) Unsent(n Number, again bool) {
	l.queue.add(event{kind: unsent, number: n, flag: again})
}

// Settle says what the SMSC answered to attempt n. Answers to unknown or settled attempts are ignored.
func (l *Ledger) Settle(n Number, r Response) {
	l.queue.add(event{kind: settle, number: n, response: &r})
}

// Undelivered says that an answer could not be given: its ESME leg was gone.
func (l *Ledger) Undelivered(t *Ticket) {
	if t != nil {
		// The end of its session, and a repeat in another, may be waiting: they were told while the answer was.
		l.queue.addFirst(event{kind: undelivered, ticket: t})
	}
}

// Lookup finds the message that a receipt is about. Where its id is unknown and submissions to its destination are outstanding, the
// answer waits for theirs, at most wait. found is called once, on the ledger's goroutine, and must not block. The ledger keeps r.
func (l *Ledger) Lookup(account string, r *Receipt, wait time.Duration, found func(Found)) {
	l.queue.add(event{kind: look, name: account, receipt: r, wait: wait, found: found})
}

// Finished says that the message with this SMSC message id was accepted and then failed, expired, was deleted or cancelled.
func (l *Ledger) Finished(account string, id []byte, f Final) {
	l.queue.add(event{kind: finished, name: account, id: id, final: f})
}

// Close commits what waits, ends the goroutines and closes the directory. No other call may follow.
func (l *Ledger) Close() error {
	l.queue.close()
	<-l.stopped
	ended := make(chan struct{})
	go func() {
		l.users.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return l.store.close()
	case <-time.After(commitTimeout):
		return fmt.Errorf("ledger.path %s: the disk hangs; left as it is", l.o.Path)
	}
}
