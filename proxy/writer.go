package proxy

import (
	"errors"
	"os"
	"time"

	"smpponce/ledger"
)

// write is the writer of one leg: it sends all that is queued in as few writes as it can, and sleeps when there is
// nothing. It returns when it was told to finish and the queue is empty, when it is aborted, or when the socket
// fails; then what it has not handed over stays in batch and out.
func (l *leg) write() {
	defer l.poke() // after the close, which is what is looked for
	defer close(l.writeDone)
	for l.takeBatch() {
		l.withdrawStale()
		n, err := l.send()
		l.wrote(n, err)
		if err != nil {
			break
		}
	}
}

// takeBatch waits for frames and takes them all.
func (l *leg) takeBatch() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.out.empty() && !l.finish && !l.aborted {
		l.sleeping = true
		l.more.Wait()
	}
	l.sleeping = false
	if l.aborted || l.out.empty() {
		return false
	}
	l.batch.clear()
	l.batch, l.out = l.out, l.batch
	l.sending = len(l.batch.buf)
	return true
}

// withdrawStale takes out of the batch what may no longer be sent: a process that was paused between the verdict
// and now must not act on what was right then.
func (l *leg) withdrawStale() {
	if l.side != smsc || len(l.batch.marks) == 0 {
		return
	}
	now := l.p.o.Ledger.Now()
	dropped := l.batch.withdraw(func(m *mark) bool { return now > m.until })
	at := l.p.since(time.Now())
	l.mu.Lock()
	for _, m := range l.batch.marks {
		m.claim.sent = at
	}
	for i, m := range dropped {
		l.requests.take(m.seq)
		dropped[i].again = !m.claim.s.esme.shut
	}
	l.mu.Unlock()
	for _, m := range dropped {
		l.p.o.Ledger.Unsent(m.attempt, m.again)
	}
}

// send writes the batch and says how many of its octets the socket has taken. A peer that takes nothing for
// write_timeout fails it; one that takes little does not.
func (l *leg) send() (n int, err error) {
	l.ends = l.ends[:0]
	for n < len(l.batch.buf) {
		if err := l.arm(); err != nil {
			return n, err
		}
		took, err := l.Write(l.batch.buf[n:min(n+l.record, len(l.batch.buf))])
		n += took
		l.ends = append(l.ends, writeEnd{n, l.sent()})
		if err == nil || took > 0 && l.record == plainWrite && errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		return n, err
	}
	return n, nil
}

// arm sets the write deadline, unless a recent one will do.
func (l *leg) arm() error {
	timeout := l.p.o.WriteTimeout
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aborted {
		return os.ErrDeadlineExceeded
	}
	now := time.Now()
	if now.Sub(l.armed) < timeout/4 {
		return nil
	}
	l.armed = now
	return l.SetWriteDeadline(now.Add(timeout + timeout/4))
}

// wrote accounts for a batch of which the first n octets were written.
func (l *leg) wrote(n int, err error) {
	at := l.p.since(time.Now())
	var now ledger.Time
	if l.side == esme && len(l.batch.marks) > 0 {
		now = l.p.o.Ledger.Now()
	}
	s := l.lock()
	defer l.mu.Unlock()
	l.sending = 0
	if err != nil {
		l.unsent, l.failedAt = err, at
		l.shut = true
		if l.side == esme && causeOf(err) == stalled {
			l.end(stalled)
		}
		l.wakeAll()
	}
	if l.side == esme {
		s.trackAnswers(l, n, at, now)
	} else {
		l.placeSubmissions(n)
	}
	if err != nil {
		l.batch.keepUnwritten(n)
	} else {
		l.batch.clear()
	}
	for _, reader := range []*leg{l, l.other} {
		if reader.alive.stopped {
			reader.room.Signal()
		}
	}
}

// placeSubmissions notes where the submissions end that were among the first n octets of the batch. Caller holds the session's mutex.
func (l *leg) placeSubmissions(n int) {
	total := l.sent()
	for _, m := range l.batch.marks {
		if m.end > n {
			break
		}
		m.claim.end = total - uint64(n-m.end)
	}
}
