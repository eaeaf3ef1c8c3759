package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/pdu"
	"smpponce/test/wire"
)

func TestAtMaxPendingTheESMEIsNotReadFrom(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "mode enforce": func(*Options) {}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(o *Options) { set(o); unprobed(o); o.MaxPending = 3 }, func(r *rig) {
				esme, smsc := r.bound()
				for i := range uint32(6) {
					esme.send(submitFrame(i, "m"))
				}
				var first wire.Frame
				for i := range 3 {
					if f := smsc.want(wire.SubmitSM); i == 0 {
						first = f
					}
				}
				smsc.wantNothing(time.Second)
				smsc.send(answer(first.Sequence(), "id"))
				esme.want(wire.SubmitSM | wire.Response)
				smsc.want(wire.SubmitSM)
				smsc.wantNothing(time.Second)
				// What is unanswered for response_timeout counts no longer.
				start := time.Now()
				smsc.want(wire.SubmitSM)
				smsc.want(wire.SubmitSM)
				if took := time.Since(start); took < 55*time.Second || took > 62*time.Second {
					t.Errorf("the others went out after %v, want response_timeout", took)
				}
				// Its answer is relayed all the same.
				smsc.send(answer(first.Sequence()+1, "late"))
				if got := esme.want(wire.SubmitSM | wire.Response).Sequence(); got != 1 {
					t.Errorf("a late answer has number %d, want 1", got)
				}
			})
		})
	}
}

func TestAQueueAtItsBoundStopsTheOtherSidesReader(t *testing.T) {
	inBubble(t, func(o *Options) { off(o); unprobed(o); o.WriteTimeout = time.Hour }, func(r *rig) {
		esme, smsc := r.bound()
		smsc.Stall(0)
		sent := make(chan int)
		go func() {
			n := 0
			_ = esme.SetWriteDeadline(time.Now().Add(time.Minute))
			for {
				if _, err := esme.Write(wire.New(0x1234, 0, 1, make([]byte, 10_000))); err != nil {
					sent <- n
					return
				}
				n++
			}
		}()
		n := <-sent
		// The queue, what the writer holds, both buffers of the network and the reader's own.
		if octets := n * 10_016; octets < queueBound || octets > queueBound+2<<20 {
			t.Errorf("%d octets were taken, want about %d", octets, queueBound)
		}
		// The other direction goes on.
		smsc.send(wire.New(wire.EnquireLink, 0, 9, nil), wire.New(wire.QuerySM, 0, 10, nil))
		esme.want(wire.QuerySM)
		// And when the SMSC reads again, so does its own answer come.
		smsc.Stall(1 << 20)
		for f := smsc.next(); f.Command() != wire.EnquireLink|wire.Response; f = smsc.next() {
		}
	})
}

func TestWhatCannotBeAnsweredIsForgottenOldestFirst(t *testing.T) {
	w := newWindow(10)
	for range 3 * w.limit {
		w.add(request{kind: relayed})
	}
	if len(w.slots) > w.limit || w.used > w.limit {
		t.Errorf("%d slots, %d used; want at most %d", len(w.slots), w.used, w.limit)
	}
	if _, ok := w.take(w.last); !ok {
		t.Error("the newest request is forgotten")
	}
	if _, ok := w.take(1); ok {
		t.Error("the oldest request is still there")
	}
}

func TestEnquireLinksOfAPeerThatReadsNothingAreNotAnsweredForEver(t *testing.T) {
	inBubble(t, func(o *Options) { unprobed(o); o.WriteTimeout = time.Hour }, func(r *rig) {
		esme, _ := r.bound()
		esme.Stall(0)
		for range 2 * queueBound / 16 / 64 {
			var many wire.Frame
			for range 64 {
				many = append(many, wire.New(wire.EnquireLink, 0, 1, nil)...)
			}
			esme.send(many)
		}
		synctest.Wait()
		var queued int
		for s := range r.proxy.sessions {
			s.mu.Lock()
			queued = s.esme.queued()
			s.mu.Unlock()
		}
		if queued > answerBound+16 {
			t.Errorf("%d octets are queued, want at most %d", queued, answerBound)
		}
	})
}

func TestAnESMEThatReadsNoAnswersSubmitsNoMoreThanItsQueueHolds(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.bound()
		for s := range r.proxy.sessions {
			s.mu.Lock()
			s.esme.parked = queueBound // as if its answers lay there
			if s.hasRoom(s.esme, pdu.Frame(submitFrame(1, "more")), 0) {
				t.Error("a submission is read though its answer has no room")
			}
			if !s.hasRoom(s.esme, pdu.Frame(wire.New(wire.DeliverSM|wire.Response, 0, 1, nil)), 0) {
				t.Error("an acknowledgement is not read")
			}
			s.esme.parked = 0
			s.mu.Unlock()
		}
	})
}

func TestASubmissionAnsweredFromTheLedgerIsNotCountedOffAgainWhenItsAttemptIsOverdue(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "lost"))
		attempt := smsc.want(wire.SubmitSM)
		synctest.Wait()
		for s := range r.proxy.sessions {
			s.mu.Lock()
			c := s.smsc.requests.find(attempt.Sequence()).claim
			s.mu.Unlock()
			c.Answer(ledger.Answer{Status: 0x14})
			s.mu.Lock()
			s.sweep(s.now() + 2*s.p.o.ResponseTimeout)
			if s.open != 0 {
				t.Errorf("%d submissions count as open, want none", s.open)
			}
			s.mu.Unlock()
		}
		esme.want(wire.SubmitSM | wire.Response)
	})
}
