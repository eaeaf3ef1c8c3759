package ledger

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"go.uber.org/zap"
)

var errSlowCommit = fmt.Errorf("no commit within %s", commitTimeout)

// run owns the book: it takes events, decides, hands batches to commit one at a time, and tells the proxy what they brought once
// they are on disk. While one batch is being committed the next one fills.
func (l *Ledger) run() {
	defer close(l.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := l.Now()
		closing := l.take(now)
		if now >= l.book.due {
			l.book.due = l.book.tick(now)
		}
		l.advance(now, closing)
		if closing && (l.failed || l.committing == nil && l.book.batch.idle()) {
			break
		}
		l.m.queue.Set(float64(len(l.book.batch.puts)))
		timer.Reset(max(0, l.wakeAt().Sub(l.Now())))
		select {
		case <-l.queue.signal:
		case r := <-l.done:
			if r.syncing {
				l.written(r.batch, l.Now())
			} else {
				l.committed(r, l.Now())
			}
		case <-timer.C:
		}
	}
	close(l.work)
	l.reads.close()
	if l.failed {
		l.log.Error("the ledger closes with outcomes that it could not commit", zap.Int("entries", len(l.committing.puts)+len(l.book.batch.puts)))
	}
}

// take handles the events that wait, until the open batch is full. While commits fail it does not stop: what was forwarded is
// still answered.
func (l *Ledger) take(now Time) (closing bool) {
	for _, e := range l.queue.takeFirst() {
		l.handle(&e, now)
	}
	for l.failed || !l.book.batch.full() {
		if l.taken == len(l.events) {
			clear(l.events)
			l.taken = 0
			if l.events, closing = l.queue.take(l.events); len(l.events) == 0 {
				return closing
			}
		}
		l.handle(&l.events[l.taken], now)
		l.taken++
	}
	return false
}

// handle applies one event to the book.
func (l *Ledger) handle(e *event, now Time) {
	b := l.book
	switch e.kind {
	case openSession:
		b.openSession(e.session, e.name, e.flag, now)
	case closeSession:
		b.closeSession(e.session, e.end, now)
		b.tell(effect{over: e.over})
	case suspect:
		b.suspect(e.session, e.tickets)
	case trust:
		b.trust(e.session, now)
	case openLeg:
		b.openLeg(e.leg)
	case closeLeg:
		b.closeLeg(e.leg, now)
	case claim:
		b.claim(e.claim, now)
	case unsent:
		b.unsent(e.number, e.flag, now)
	case settle:
		b.settle(e.number, e.response, now)
	case undelivered:
		b.reopen(e.ticket, now, true)
	case look:
		b.look(b.lookup(b.account(e.name), e.receipt, e.wait, e.found, now), now)
	case looked:
		b.looked(e.lookup, e.reading, now)
	case finished:
		b.finish(b.account(e.name), e.id, e.final, now)
	case space:
		l.full = e.err
		l.judge()
	case called:
		e.call(now)
	}
}

// advance moves batches on: it seals the open one where none is being committed, and deals with a commit that fails or takes too long.
func (l *Ledger) advance(now Time, closing bool) {
	if l.committing != nil && !l.failed && now >= l.started.Add(commitTimeout) {
		l.fail(errSlowCommit, now)
	}
	if l.failed {
		if l.retryAt != 0 && now >= l.retryAt {
			l.retryAt = 0
			l.work <- job{batch: l.committing}
		}
		l.say(l.book.batch.speak(), now)
		return
	}
	for l.committing == nil && !l.book.batch.idle() || l.markDue(now) {
		if l.book.batch.empty() && !l.markDue(now) {
			l.say(l.book.batch.speak(), now)
			continue
		}
		l.seal(now, closing)
		return
	}
}

func (l *Ledger) markDue(now Time) bool { return l.committing == nil && l.mark != 0 && now >= l.mark }

// seal gives the open batch to commit and opens another.
func (l *Ledger) seal(now Time, closing bool) {
	b := l.book.batch
	b.seal(l.image.Seq+1, now, l.toldAt)
	b.intents = b.intents || closing
	l.image.apply(&b.journal)
	l.mark = 0
	j := job{batch: b}
	if l.journals++; l.journals >= checkpointEvery || l.journalBytes >= max(checkpointBytes, 2*l.imageBytes) {
		l.image.prune(l.book.references(now))
		j.image = appendImage(nil, l.image)
		l.journals, l.journalBytes, l.imageBytes = 0, 0, len(j.image)
	}
	l.journalBytes += 32*len(b.Closed) + 64*len(b.Sessions)
	l.committing, l.started = b, now
	l.book.serials++
	l.book.batch = &batch{serial: l.book.serials, puts: make([]put, 0, len(b.puts)), effects: make([]effect, 0, len(b.effects))}
	l.work <- j
}

// written tells what needs no sync, while it goes on: outcomes that are written survive the process, and their answers need not wait for
// the intents beside them.
func (l *Ledger) written(b *batch, now Time) {
	if b != l.committing || l.o.Sync == SyncAll {
		return
	}
	var wait, rest []effect
	for _, e := range b.speak() {
		if e.forward != 0 || e.over != nil || e.resolved != nil { // a session is over after its forwards
			wait = append(wait, e)
		} else {
			rest = append(rest, e)
		}
	}
	b.effects = wait
	l.say(rest, now)
}

// committed takes the result of a commit, its sync included.
func (l *Ledger) committed(r result, now Time) {
	if r.err != nil {
		l.m.errors("commit").Inc()
		if !l.failed {
			l.log.Error("the ledger cannot commit", zap.Error(r.err))
			l.fail(r.err, now)
		}
		l.retryAt = now.Add(retryEvery)
		return
	}
	b := l.committing
	l.committing = nil
	if l.toldAt = now; len(b.puts) > 0 {
		l.mark = now.Add(markDelay)
	}
	if l.failed {
		l.failed = false
		l.judge()
		l.log.Info("the ledger commits again")
	}
	for _, e := range b.touched {
		e.pending--
		l.book.release(e)
	}
	l.say(b.effects, now)
}

// fail makes the ledger unwritable, until the commit under way has come to a good end after all or has been repeated. No intent that is not on
// disk was sent, whatever the disk says later: their submissions are refused, and that their attempts were never sent stands
// in the open batch, which comes next. All else is told now and written when possible.
func (l *Ledger) fail(err error, now Time) {
	l.failed, l.retryAt = true, 0
	l.broken = err
	l.judge()
	l.book.batch.intents = true
	for _, e := range append(l.committing.speak(), l.book.batch.speak()...) {
		if f := l.book.flights[e.forward]; e.forward != 0 && (f == nil || l.book.refuses(f.e.account)) {
			l.book.failIntent(e.forward, now)
		} else if e.resolved != nil {
			e.resolved(err)
		} else {
			if f != nil {
				l.book.blind(f.e.account, now) // it is forwarded, and not on the disk
			}
			l.book.tell(e)
		}
	}
	l.say(l.book.batch.speak(), now)
}

// judge says whether submissions can be decided, and what becomes of them otherwise.
func (l *Ledger) judge() {
	var err error
	switch {
	case l.failed:
		err = l.broken
	case l.full != nil:
		err = l.full
	}
	if was := l.Writable(); (was == nil) != (err == nil) {
		if err != nil {
			l.log.Error("the ledger is not writable", zap.Bool("bypass", l.o.Bypass), zap.Error(err))
		} else {
			l.log.Info("the ledger is writable")
		}
	}
	l.setWritable(err)
	l.book.unwritable = err != nil
	if err == nil {
		l.book.saveUnsaved()
	}
}

// say tells the proxy what a batch brought.
func (l *Ledger) say(effects []effect, now Time) {
	for i := range effects {
		switch e := &effects[i]; {
		case e.forward != 0:
			l.book.hand(e.claim, e.forward, now)
		case e.answer != nil:
			if s := e.claim.session; s != nil {
				s.leave(e.claim)
			}
			e.claim.Waiter.Answer(*e.answer)
		case e.over != nil:
			e.over()
		case e.resolved != nil:
			e.resolved(nil)
		default:
			e.lookup.found(e.found)
		}
	}
}

// wakeAt is when run has something to do though nothing happens.
func (l *Ledger) wakeAt() Time {
	at := l.book.due
	if l.committing == nil && l.mark != 0 {
		at = min(at, l.mark)
	}
	if l.committing != nil && !l.failed {
		at = min(at, l.started.Add(commitTimeout))
	}
	if l.failed && l.retryAt != 0 {
		at = min(at, l.retryAt)
	}
	return min(at, l.Now().Add(time.Minute))
}

// A job is a batch for commit, with the checkpoint to be written after it, if any.
type job struct {
	batch *batch
	image []byte
}

// A result says that a batch is written and being synced, or that its commit has ended.
type result struct {
	batch   *batch
	syncing bool
	err     error
}

// commit is the only writer of the store.
func (l *Ledger) commit() {
	h := l.head // of the last checkpoint
	for j := range l.work {
		start := time.Now()
		err := l.store.commit(j.batch)
		if err == nil && l.store.synced(j.batch) {
			l.done <- result{batch: j.batch, syncing: true}
			err = l.store.flush()
		}
		l.m.commit.Observe(time.Since(start).Seconds())
		l.m.batchRecords.Observe(float64(len(j.batch.puts)))
		if err == nil && j.image != nil {
			next, failure := l.store.checkpoint(h, j.batch.Seq, j.image)
			if failure != nil {
				l.m.errors("checkpoint").Inc()
				l.log.Warn("a checkpoint failed: the next open takes longer", zap.Error(failure))
			}
			h = next
		}
		l.done <- result{batch: j.batch, err: err}
	}
}

// read asks the store for what look-ups want to know.
func (l *Ledger) read() {
	for list := l.reads.take(); list != nil; list = l.reads.take() {
		for _, q := range list {
			l.queue.add(event{kind: looked, lookup: q, reading: q.ask(l.store)})
		}
	}
}

// watch looks at the space that is left, once a second: statfs can hang with the disk, so run does not do it.
func (l *Ledger) watch() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-l.stopped:
			return
		case <-ticker.C:
			l.queue.add(event{kind: space, err: l.room()})
		}
	}
}

// room is nil where there is room to write, and otherwise names the setting that says there is not.
func (l *Ledger) room() error {
	free, err := freeBytes(l.o.Path)
	if err != nil {
		l.m.errors("space").Inc()
		return fmt.Errorf("ledger.path: %w", err)
	}
	size := l.store.size()
	l.m.free.Set(float64(free))
	l.m.size.Set(float64(size))
	switch {
	case free < l.o.MinFree:
		return fmt.Errorf("%s free on the ledger's volume, ledger.min_free is %s", humanize.IBytes(uint64(free)), humanize.IBytes(uint64(l.o.MinFree)))
	case l.o.MaxBytes > 0 && size >= l.o.MaxBytes:
		return fmt.Errorf("the ledger takes %s, ledger.max_bytes is %s", humanize.IBytes(uint64(size)), humanize.IBytes(uint64(l.o.MaxBytes)))
	}
	if err := keepBallast(l.o.Path, l.o.MinFree); err != nil {
		l.m.errors("space").Inc()
	}
	return nil
}
