package proxy

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/pdu"
	"smpponce/test/wire"
)

func TestAnUnbindWaitsForWhatAnEarlierESMELeftOnItsLeg(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		smsc, pending := left(r)
		esme := back(r, bindBody(2))
		esme.send(wire.New(wire.Unbind, 0, 3, nil))
		smsc.wantNothing(time.Second)
		start := time.Now()
		smsc.send(answer(pending.Sequence(), "id"))
		smsc.want(wire.Unbind)
		if took := time.Since(start); took > time.Second {
			t.Errorf("the unbind came %v after the last answer", took)
		}
	})
}

func TestAShutdownWaitsForWhatAnEarlierESMELeftOnItsLeg(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		smsc, pending := left(r)
		back(r, bindBody(2))
		over := make(chan error, 1)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		go func() { over <- r.proxy.Shutdown(ctx) }()
		smsc.wantNothing(5 * time.Second)
		smsc.send(answer(pending.Sequence(), "id"))
		smsc.want(wire.Unbind)
		if n := view(r.ledger, func() int { return len(r.ledger.settled) }); n != 1 {
			t.Errorf("%d answers reached the ledger, want 1", n)
		}
		_ = smsc.Close()
		<-over
	})
}

func TestALegOfWhichTheSMSCHasPartedIsNotAdopted(t *testing.T) {
	for name, first := range map[string]bool{"before its ESME left": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unprobed, func(r *rig) {
				esme, smsc := r.bound()
				esme.send(submitFrame(1, "unanswered"))
				smsc.want(wire.SubmitSM)
				unbind := wire.New(wire.Unbind, 0, 7, nil)
				if first {
					smsc.send(unbind)
					esme.want(wire.Unbind)
				}
				_ = esme.Close()
				synctest.Wait()
				if !first {
					smsc.send(unbind)
					synctest.Wait()
				}
				next := r.dial()
				next.send(bindBody(2))
				r.accept().want(wire.BindTransceiver)
			})
		})
	}
}

// A message that the SMSC has lost long ago makes no leg sick.
func TestALegThatHasAnsweredSinceIsNotSick(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "lost by the SMSC"))
		smsc.want(wire.SubmitSM)
		time.Sleep(time.Minute)
		esme.send(submitFrame(2, "answered"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		time.Sleep(10 * time.Minute)
		esme.send(submitFrame(3, "just sent"))
		smsc.want(wire.SubmitSM)
		_ = esme.Close()
		synctest.Wait()
		back(r, bindBody(2))
	})
}

// Its timer and ours run from the same message.
func TestAClientWhoseTimerIsAsLongAsOursLeavesASickLeg(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		start := time.Now()
		r.ledger.stalls = true
		esme.send(submitFrame(1, "never answered"))
		time.Sleep(5 * time.Millisecond) // of the bubble's time: its intent is written
		r.ledger.resume()
		smsc.want(wire.SubmitSM)
		time.Sleep(time.Until(start.Add(time.Minute)))
		_ = esme.Close()
		synctest.Wait()
		next := r.dial()
		next.send(bindBody(2))
		smsc.want(wire.Unbind)
	})
}

func TestASessionThatAdoptsALegIsLoggedUnderItsOwnPeer(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		left(r)
		esme := r.dialFrom("10.9.9.9:4000")
		esme.send(bindBody(2))
		esme.want(wire.BindTransceiver | wire.Response)
		synctest.Wait()
		lines := r.logs.FilterMessage("session opened").All()
		fields := lines[len(lines)-1].ContextMap()
		if fields["peer"] != "10.9.9.9:4000" || fields["upstream"] != "smsc:2775" || fields["adopted_from"] == nil {
			t.Errorf("logged %v, want the new peer, its upstream and whose leg it was", fields)
		}
	})
}

func TestADeliveryThatFindsNoRoomToBeKeptIsShownAllTheSame(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		r.bound()
		s := onlySession(r)
		s.mu.Lock()
		s.showing = true
		s.smsc.keptSize = keptBound
		m := wire.Message{Source: wire.Address{Number: "491701234567"}, Destination: wire.Address{Number: "acme"}, Text: []byte("hello")}
		s.fromSMSC(pdu.Frame(wire.New(wire.DeliverSM, 0, 5, m.Body())), s.now())
		queued := s.esme.requests.waiting[delivery]
		s.showing, s.smsc.keptSize = false, 0
		s.mu.Unlock()
		if queued != 1 {
			t.Errorf("%d deliver_sm went to the ESME, want 1", queued)
		}
	})
}

// The client that has unbound is gone; its leg drains, and is not another's.
func TestALegIsNotAdoptedAfterAnUnbindThatASubmissionHolds(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "unanswered"))
		smsc.want(wire.SubmitSM)
		esme.send(wire.New(wire.Unbind, 0, 2, nil))
		synctest.Wait()
		esme.Reset()
		synctest.Wait()
		next := r.dial()
		next.send(bindBody(3))
		r.accept().want(wire.BindTransceiver)
	})
}

// Nothing is pending on it, so it would be closed.
func TestALegThatIsWaitedForGoesToWhoWaits(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.Stall(0)
		esme.send(wire.Frame{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) // its end takes as long as the generic_nack
		synctest.Wait()
		time.AfterFunc(time.Second, func() { esme.Stall(1 << 10) })
		back(r, bindBody(2))
		smsc.wantNothing(time.Second)
	})
}

func TestAnAdoptionMakesTheOthersSuspect(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		colleague, own := r.boundAs("a colleague")
		colleague.send(submitFrame(1, "a colleague's"))
		own.want(wire.SubmitSM)
		left(r)
		time.Sleep(time.Second) // it has proved that it lives
		before := len(told(r))
		back(r, bindBody(2))
		if got := told(r)[before:]; len(got) < 2 || got[0] != "open" || got[1] != "suspect" {
			t.Errorf("the ledger was told %v, want open and suspect", got)
		}
	})
}

// A receipt waits in the ledger when its ESME leaves; it is found before the next is there, or after.
func TestAReceiptThatTheLedgerFindsLateReachesTheNextESME(t *testing.T) {
	for name, late := range map[string]bool{"before it is back": false, "when it is back": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unprobed, func(r *rig) {
				r.ledger.parks = true
				esme, smsc := r.bound()
				esme.send(submitFrame(1, "unanswered"))
				smsc.want(wire.SubmitSM)
				m := wire.Message{Source: wire.Address{Number: "491701234567"}, Destination: wire.Address{Number: "acme"}, ESMClass: 4,
					Text: []byte("id:77 sub:001 dlvrd:001 submit date:2501010000 done date:2501010000 stat:DELIVRD err:000 text:")}
				smsc.send(wire.New(wire.DeliverSM, 0, 11, m.Body()))
				synctest.Wait()
				_ = esme.Close()
				synctest.Wait()
				find := func() {
					synctest.Wait()
					found := view(r.ledger, func() []func(ledger.Found) {
						list := r.ledger.parked
						r.ledger.parked, r.ledger.parks = nil, false
						return list
					})
					for _, f := range found {
						f(ledger.Found{Known: true, ESMEID: []byte("77")})
					}
				}
				if !late {
					find()
				}
				next := back(r, bindBody(2))
				if late {
					find()
				}
				f := next.want(wire.DeliverSM)
				next.send(wire.New(wire.DeliverSM|wire.Response, 0, f.Sequence(), []byte{0}))
				if f := smsc.want(wire.DeliverSM | wire.Response); f.Sequence() != 11 {
					t.Errorf("the SMSC got the answer to %d, want 11", f.Sequence())
				}
				next.wantNothing(time.Second)
			})
		})
	}
}

// The verdict to forward it has become too old while the SMSC took nothing; the ESME that had sent it is gone.
func TestAStaleVerdictOfAnEarlierESMEIsNotAskedForAgain(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		smsc.Stall(0)
		esme.send(submitFrame(1, "is being written"))
		synctest.Wait()
		view(r.ledger, func() bool { r.ledger.stale = true; return true })
		esme.send(submitFrame(2, "is queued"))
		synctest.Wait()
		_ = esme.Close()
		synctest.Wait()
		back(r, bindBody(2))
		smsc.Stall(1 << 20)
		smsc.want(wire.SubmitSM)
		smsc.wantNothing(time.Second)
		unsent, again := view(r.ledger, func() int { return len(r.ledger.unsent) }), view(r.ledger, func() int { return r.ledger.again })
		if unsent != 1 || again != 0 {
			t.Errorf("%d were never sent, %d asked for again; want 1 and 0", unsent, again)
		}
	})
}

func TestKeptFramesComeOutInTheirOrderWhereverTheNumbersWrap(t *testing.T) {
	w := newWindow(10)
	w.last = lastNumber - 5
	for i := range 100 {
		seq := w.add(request{kind: delivery, frame: pdu.Frame{byte(i)}})
		if i < 90 {
			w.take(seq)
		}
	}
	early := newWindow(10)
	early.last = lastNumber - 5
	for i := range 10 {
		early.add(request{kind: delivery, frame: pdu.Frame{byte(90 + i)}})
	}
	for name, w := range map[string]*window{"the ring": &w, "the numbers": &early} {
		var got []byte
		for _, f := range w.frames() {
			got = append(got, f[0])
		}
		if want := []byte{90, 91, 92, 93, 94, 95, 96, 97, 98, 99}; !bytes.Equal(got, want) {
			t.Errorf("wrapped in %s: %d, want %d", name, got, want)
		}
	}
}
