package proxy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

func TestShutdownAnswersNewSubmissionsAndWaitsForTheOthers(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		idle, idleSMSC := r.bound()
		unbound := r.dial()
		esme.send(submitFrame(1, "pending"))
		pending := smsc.want(wire.SubmitSM)

		ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
		defer cancel()
		over := make(chan error)
		go func() { over <- r.proxy.Shutdown(ctx) }()
		synctest.Wait()
		if r.proxy.Ready() {
			t.Error("the proxy is still ready")
		}
		unbound.wantEnd()
		// A session with nothing pending ends at once, both legs with an unbind.
		for _, p := range []*peer{idle, idleSMSC} {
			p.send(wire.New(wire.Unbind|wire.Response, 0, p.want(wire.Unbind).Sequence(), nil))
		}
		idle.wantEnd()
		idleSMSC.wantEnd()

		esme.send(submitFrame(2, "late"))
		if got := esme.want(wire.SubmitSM | wire.Response); got.Status() != wire.QueueFull || got.Sequence() != 2 {
			t.Errorf("a late submission got %x, want retry_status", got)
		}
		mo := wire.Message{Text: []byte("hi")}
		smsc.send(wire.New(wire.DeliverSM, 0, 5, mo.Body())) // all else passes
		esme.want(wire.DeliverSM)
		smsc.wantNothing(10 * time.Second)
		smsc.send(answer(pending.Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		for _, p := range []*peer{esme, smsc} {
			p.send(wire.New(wire.Unbind|wire.Response, 0, p.want(wire.Unbind).Sequence(), nil))
		}
		esme.wantEnd()
		smsc.wantEnd()
		for _, p := range []*peer{esme, smsc, idle, idleSMSC} {
			_ = p.Close()
		}
		if err := <-over; err != nil {
			t.Errorf("Shutdown gave %v", err)
		}
		if end := lastEnd(t, r.ledger); end.How != ledger.Unbound {
			t.Errorf("the ledger was told %v, want unbound", end.How)
		}
		if n := r.ledger.legEnds; n != 2 {
			t.Errorf("the ledger was told of %d SMSC legs' ends, want 2", n)
		}
	})
}

func TestShutdownEndsWithItsGrace(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		var esmes []*peer
		for range 5 {
			esme, smsc := r.bound()
			esme.send(submitFrame(1, "never answered"))
			smsc.want(wire.SubmitSM)
			esmes = append(esmes, esme)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
		defer cancel()
		err := r.proxy.Shutdown(ctx)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown gave %v", err)
		}
		if took := time.Since(start); took > 25*time.Second {
			t.Errorf("Shutdown took %v, want at most 25s", took)
		}
		if n := len(r.ledger.ends); n != 5 || r.ledger.legEnds != 5 {
			t.Errorf("the ledger was told of %d sessions' and %d legs' ends, want 5 of each", n, r.ledger.legEnds)
		}
		for _, esme := range esmes {
			esme.wantPastProbes(wire.Unbind)
		}
	})
}
