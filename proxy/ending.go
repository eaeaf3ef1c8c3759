package proxy

import (
	"errors"
	"syscall"
	"time"

	"go.uber.org/zap"

	"smpponce/ledger"
)

// makeEnd ends the session after why. The order is the point of it: what was answered reaches the ESME, the ledger
// hears of each end before the peer can act on it, and what is unanswered is waited for where that makes sense.
func (s *session) makeEnd(why string) *session {
	if why != "refused" {
		s.setPhase(leaving)
	}
	switch why {
	case "refused":
		s.closeSMSC() // no bind stands there, and nothing is to be said: the ESME need not wait for its end
		if s.contest() {
			s.p.metrics.bind(bindRetried)
			s.p.ended(s)
			return s.p.begin(s.from)
		}
		s.relayRefusal()
	case "shutdown":
		s.sayFarewell(s.esme, s.smsc)
	case "esme_unbind", "smsc_unbind":
		// Who asked to part closes first; its peer follows.
		s.await(lingerTime, func() bool { return s.esme.over != going || s.smsc.over != going })
	}
	if s.isOver(s.smsc) {
		s.leaveSMSC()
		s.closeSMSC()
		s.await(settleAnswer, func() bool { return s.settling == 0 })
	}
	closed := make(chan struct{})
	go s.closeSocket(s.leaveESME(), closed)
	if !s.isOver(s.smsc) {
		s.drain()
		if s.heir == nil {
			s.leaveSMSC()
		}
	}
	if s.heir == nil {
		s.closeSMSC()
	}
	<-closed
	s.summarise(why)
	s.p.ended(s)
	return nil
}

func (s *session) setPhase(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = p
}

func (s *session) isOver(l *leg) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.over != going
}

// sayFarewell sends our own unbind on each leg that still lives, and waits briefly for the answers.
func (s *session) sayFarewell(legs ...*leg) {
	s.mu.Lock()
	now := s.now()
	for _, l := range legs {
		if s.accepted && l.open() && l.over == going {
			l.out.add(ownUnbind, l.requests.add(request{kind: farewell, at: now, command: unbindCommand}))
			s.t.out[l.side][unbindCommand]++
			l.rouse()
		}
	}
	s.mu.Unlock()
	s.await(lingerTime, func() bool {
		for _, l := range legs {
			if l.over == going && l.requests.waiting[farewell] > 0 {
				return false
			}
		}
		return true
	})
}

// leaveESME lets the ESME have what is queued for it, tells the ledger what became of it, and ends our side. The ledger
// must know before our FIN leaves: on seeing it the client comes back, and repeats what is unanswered. Until when the ESME's own end is
// worth waiting for, it gives as a time from now.
func (s *session) leaveESME() (linger time.Duration) {
	l := s.esme
	s.mu.Lock()
	l.shut, l.finish = true, true
	l.wakeAll()
	listens := l.listens() || s.mayRead()
	s.mu.Unlock()
	if listens {
		s.await(4*s.p.o.WriteTimeout, func() bool { return isClosed(l.writeDone) })
		s.awaitAcked()
		if l.socket.peerEnded() {
			// Its end is on its way to the reader, which tells the ledger that the ESME has ended by itself: it may have left answers unread.
			s.await(lingerTime, func() bool { return isClosed(l.readDone) })
		}
		s.closeESME(dropped)
		_ = l.closeWrite() // it fails where the peer was quicker
		return lingerTime
	}
	s.closeESME(dropped)
	return 0
}

// closeSocket closes the ESME's connection at its own end, or after linger. It is a goroutine of its own, which makeEnd waits for: meanwhile
// the client may be back for the SMSC leg.
func (s *session) closeSocket(linger time.Duration, closed chan<- struct{}) {
	defer close(closed)
	l := s.esme
	by := time.NewTimer(linger)
	defer by.Stop()
	select {
	case <-l.readDone:
	case <-by.C:
	}
	s.mu.Lock()
	l.abort(dropped)
	s.mu.Unlock()
	<-l.writeDone
	<-l.readDone
	_ = l.Close()
	s.mu.Lock()
	s.left = true
	s.mu.Unlock()
	s.release()
}

// mayRead says that the ESME has closed its half only, after its unbind, and hears what is left. Caller holds the mutex.
func (s *session) mayRead() bool {
	return s.esme.over == closed && s.esmeParted && s.esme.unsent == nil && !s.told
}

// awaitAcked waits until the ESME's kernel has all that was written, as long as it goes on taking some; and until the
// ledger has all that the ESME submitted.
func (s *session) awaitAcked() {
	l := s.esme
	last := s.now() + 4*s.p.o.WriteTimeout
	by := s.now() + lingerTime
	s.watch(func(now time.Duration) (bool, time.Duration) {
		acked, _ := l.socket.acked()
		if acked > l.acked {
			l.acked, by = acked, now+lingerTime
		}
		done := !l.listens() && !s.mayRead() || s.untold == 0 && acked >= l.sent()
		return done || now >= min(by, last), now + 5*time.Millisecond
	})
}

// closeESME tells the ledger, once, that the ESME leg has ended and how far its answers got. It is called as soon
// as that is known: by the leg's reader at the end of its stream, or by the watcher.
func (s *session) closeESME(why cause) {
	l := s.esme
	s.mu.Lock()
	if s.told {
		s.mu.Unlock()
		return
	}
	s.told = true
	defer close(s.esmeEnded)
	s.endSuspicion()
	l.abortWriter(why)
	id := s.id
	s.mu.Unlock()
	<-l.writeDone // it was aborted, so what it has handed over is settled now
	if id == 0 {
		return
	}
	end := ledger.End{At: s.p.o.Ledger.Now(), How: s.howEnded()}
	s.mu.Lock()
	var acked uint64
	acked, end.RoundTrip = l.socket.acked()
	_, end.DeliverUnanswered = l.requests.oldest(func(r *request) bool { return r.kind == delivery })
	end.LastSubmission, end.LastProbe = s.lastSubmission, l.lastAsk
	for _, a := range l.answers {
		end.Answers = append(end.Answers, ledger.Answered{Ticket: a.ticket, At: a.at, Acked: a.at != 0 && a.offset <= acked})
	}
	for _, m := range l.out.marks {
		if m.ticket != nil {
			end.Answers = append(end.Answers, ledger.Answered{Ticket: m.ticket})
		}
	}
	l.answers = nil
	s.mu.Unlock()
	s.p.o.Ledger.CloseSession(id, end, s.allForwarded)
}

// howEnded puts the cause into the ledger's words. Reader and writer have both returned, or never will say more.
func (s *session) howEnded() ledger.HowEnded {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.esme.over == closed && errors.Is(s.esme.unsent, syscall.ECONNRESET) {
		s.esme.over = reset // a reset is told once: here to the writer, and then the reader finds just an end
	}
	why := s.esme.over
	switch {
	case s.esmeParted:
		return ledger.Unbound
	case why == closed:
		return ledger.Closed
	case why == reset:
		return ledger.Reset
	case why == silent, why == stalled:
		return ledger.Vanished
	}
	return ledger.ByProxy
}

// allForwarded notes that the ledger has handed over the last submission of the ESME that is gone.
func (s *session) allForwarded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forwardedAll = true
	s.poke()
}

// drain keeps the SMSC leg after its ESME is gone, until what the ESME has sent is forwarded and answered, so that its
// outcome is known when the client repeats it; or until that client is back, and another session takes the leg over (heir). Where the
// ledger does not learn from it there is nothing to wait for.
func (s *session) drain() {
	s.mu.Lock()
	id := s.id
	s.mu.Unlock()
	if id == 0 || !s.p.mayDrain() {
		s.setPhase(parted)
		return
	}
	defer s.p.drained()
	s.setPhase(draining)
	close(s.drains)
	by := s.now() + s.p.o.ResponseTimeout
	s.watch(func(now time.Duration) (bool, time.Duration) {
		if s.heir != nil {
			return true, 0
		}
		s.sweep(now)
		until := by
		if s.refusing {
			until = min(by, s.drainBy)
		}
		settled := s.forwardedAll && s.smsc.requests.waiting[submission] == 0 && !s.expected
		done := s.smsc.over != going || settled || s.sick || now >= until
		if done {
			s.phase = parted // nobody takes it over any more
		}
		return done, until
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heir == nil {
		s.phase = parted
	}
}

// leaveSMSC takes leave of an SMSC that still listens.
func (s *session) leaveSMSC() {
	l := s.smsc
	s.mu.Lock()
	polite := s.accepted && !s.done && l.open() && l.over == going
	s.mu.Unlock()
	if polite {
		s.sayFarewell(l)
	}
	s.mu.Lock()
	l.shut, l.finish = true, true
	l.wakeAll()
	listens := l.listens()
	s.mu.Unlock()
	if !listens {
		return
	}
	s.await(lingerTime, func() bool { return isClosed(l.writeDone) || !l.listens() })
	if err := l.closeWrite(); err == nil {
		s.await(lingerTime, func() bool { return isClosed(l.readDone) })
	}
}

// closeSMSC closes the SMSC leg and tells the ledger which attempts never left, for they lie in our own buffers or still
// in the kernel's, and that the others are in doubt.
func (s *session) closeSMSC() {
	l := s.smsc
	s.mu.Lock()
	already := s.smscClosed
	s.smscClosed = true
	l.abort(dropped)
	s.mu.Unlock()
	if already {
		return
	}
	defer close(s.smscEnded)
	<-l.writeDone
	<-l.readDone
	tail := l.socket.neverSent() // a closed one cannot be asked
	_ = l.Close()
	s.mu.Lock()
	leg := s.leg
	var never []ledger.Number
	if tail > 0 {
		never = l.requests.neverSent(l.sent() - min(tail, l.sent()))
	}
	for _, m := range append(l.batch.marks, l.out.marks...) {
		never = append(never, m.attempt)
	}
	l.batch, l.out = outbox{}, outbox{}
	s.mu.Unlock()
	if leg == 0 {
		return
	}
	for _, n := range never {
		s.p.o.Ledger.Unsent(n, false)
	}
	s.p.o.Ledger.CloseLeg(leg)
	s.log.Debug("smsc leg closed", zap.Stringer("leg", leg), zap.Int("never_sent", len(never)))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
