package proxy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/pdu"
	"smpponce/test/wire"
)

func TestAnUnbindWaitsForWhatAnEarlierESMELeftOnItsLeg(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		smsc, pending := left(r)
		esme := back(r, bindBody(2))
		esme.send(wire.New(wire.Unbind, 0, 3, nil))
		smsc.wantNothing(time.Second)
		smsc.send(answer(pending.Sequence(), "id"))
		if f := smsc.want(wire.Unbind); f == nil {
			t.Error("no unbind")
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
