package proxy

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/linxGnu/gosmpp/data"
	"go.uber.org/zap"

	"smpponce/ledger"
	"smpponce/pdu"
)

// read is the reader of one leg. It never writes to a socket and never waits for the ledger: it puts frames into
// queues. It returns when the peer's stream has ended or the connection is closed.
func (l *leg) read() {
	defer l.poke() // after the close, which is what is looked for
	defer close(l.readDone)
	var err error
	for err == nil {
		err = l.readBatch()
	}
	l.readEnded(err)
	if causeOf(err) == garbled {
		// What follows cannot be framed. It is read all the same: closing with input unread would destroy the
		// generic_nack and the answers before it.
		_, _ = io.Copy(io.Discard, l.Conn)
	}
}

// readBatch waits for a frame and handles it, and all that came with it, under one hold of the lock.
func (l *leg) readBatch() error {
	f, err := l.nextFrame()
	if err != nil {
		return err
	}
	at := l.p.since(time.Now())
	s := l.lock()
	for {
		l.alive.heard, l.alive.probed = at, 0
		if !s.hasRoom(l, f, at) {
			s.tellAndRelock(l)
			s = l.awaitRoom(f)
			if l.detached {
				l.arrear = append(pdu.Frame(nil), f...)
				l.mu.Unlock()
				return errDetached
			}
			at = s.p.since(time.Now())
		}
		s.t.in[l.side][indexOf(f.Command())]++
		if l.side == esme {
			s.fromESME(f, at)
		} else {
			s.fromSMSC(f, at)
		}
		if !l.in.Buffered() {
			break
		}
		if f, err = l.in.Next(); err != nil {
			break
		}
	}
	s.esme.rouse()
	s.smsc.rouse()
	s.mu.Unlock()
	s.tell(l)
	return err
}

// nextFrame gives what an earlier session of the connection had read and could not handle, and then what comes.
func (l *leg) nextFrame() (pdu.Frame, error) {
	if f := l.arrear; f != nil {
		l.arrear = nil
		return f, nil
	}
	return l.in.Next()
}

// errDetached ends a reader whose connection goes on in another session.
var errDetached = errors.New("detached")

// hasRoom says whether the reader of l may go on with frame f. Its bounds are octets queued for the other leg and, for a
// submission, octets queued for the ESME itself (answers that need no SMSC) and submissions that wait or are in flight. What the
// ESME sends behind its bind without waiting for the answer waits for that answer. Caller holds the mutex.
func (s *session) hasRoom(l *leg, f pdu.Frame, at time.Duration) bool {
	o := l.other
	switch {
	case l.side == esme && s.phase == contested && !l.aborted && !l.detached:
		return f.Command() == data.ENQUIRE_LINK
	case l.aborted, l.detached, !o.open(), l.side == esme && l.shut:
		return true // nothing of it is queued
	case o.full():
		return false
	case l.side == smsc:
		return true
	case s.phase == opening:
		return f.Command() == data.ENQUIRE_LINK
	case l.full() && pdu.IsSubmit(f.Command()):
		return false
	case s.open < s.p.o.MaxPending:
		return true
	}
	s.sweep(at)
	return s.open < s.p.o.MaxPending
}

// awaitRoom sleeps until the reader of l may go on. Its missing probe answers prove nothing meanwhile. Caller holds
// the mutex, which is released meanwhile: the leg's session may be another then.
func (l *leg) awaitRoom(f pdu.Frame) *session {
	l.alive.stopped = true
	l.session.poke() // the watcher knows when requests become overdue
	for !l.session.hasRoom(l, f, l.p.since(time.Now())) {
		l.room.Wait()
	}
	l.alive.stopped = false
	l.alive.heard = l.p.since(time.Now())
	return l.session
}

// tellAndRelock lets the writers and the ledger have what is there. Caller holds the mutex.
func (s *session) tellAndRelock(l *leg) {
	s.esme.rouse()
	s.smsc.rouse()
	s.mu.Unlock()
	s.tell(l)
	s.mu.Lock()
}

// readEnded says why the stream of l is over.
func (l *leg) readEnded(err error) {
	s := l.lock()
	if l.detached && (errors.Is(err, errDetached) || errors.Is(err, os.ErrDeadlineExceeded)) {
		s.mu.Unlock()
		return
	}
	l.end(causeOf(err))
	why := l.over
	var length *pdu.LengthError
	if errors.As(err, &length) && l.open() {
		l.out.add(pdu.GenericNack(0, data.ESME_RINVCMDLEN), length.Sequence)
		s.t.out[l.side][indexOf(data.GENERIC_NACK)]++
		l.rouse()
	}
	parted := s.esmeParted // it may only have closed its half, and wait for the answers and the unbind_resp
	if l.side == esme {
		s.leaveBy = s.now() + s.p.o.ResponseTimeout
	}
	s.mu.Unlock()
	if l.side == esme && (why == reset || why == closed && !parted) {
		// At once: the client may be back, and repeat itself, in two milliseconds.
		s.closeESME(why)
	}
	s.poke()
}

// call is one thing that a reader tells the ledger, or the log, after it has released the lock.
type call struct {
	what     telling
	claim    *claim
	number   ledger.Number
	response ledger.Response
	receipt  *receipt
	note     *note
}

type telling uint8

const (
	tellClaim telling = iota
	tellSettle
	tellLookup
	tellFinished
	tellOpened
)

// tell makes the calls that a reader has noted, in their order. Caller holds no lock: the ledger may call back.
func (s *session) tell(l *leg) {
	for i := range l.calls {
		c := &l.calls[i]
		switch c.what {
		case tellClaim:
			c.claim.s.claim(c.claim)
		case tellSettle:
			s.p.o.Ledger.Settle(c.number, c.response)
		case tellLookup:
			c.receipt.s.lookUp(c.receipt, c.receipt.s.receiptHasher)
		case tellFinished:
			s.p.o.Ledger.Finished(s.systemID, c.note.id, c.note.final)
		case tellOpened:
			s.log.Info("session opened", zap.Stringer("session", s.id))
		}
	}
	clear(l.calls)
	l.calls = l.calls[:0]
}
