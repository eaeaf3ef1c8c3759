package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

func TestWhenTheESMEEndsTheSMSCLegStaysUntilItsSubmissionsAreAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(*peer)
		how   ledger.HowEnded
	}{
		"by FIN":   {func(p *peer) { _ = p.Close() }, ledger.Closed},
		"by reset": {func(p *peer) { p.Reset() }, ledger.Reset},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(r *rig) {
				esme, smsc := r.bound()
				esme.send(submitFrame(1, "one"), submitFrame(2, "two"))
				one, two := smsc.want(wire.SubmitSM), smsc.want(wire.SubmitSM)
				c.leave(esme)
				synctest.Wait()
				if end := lastEnd(t, r.ledger); end.How != c.how {
					t.Errorf("the ledger was told %v, want %v, and at once", end.How, c.how)
				}
				mo := wire.Message{Text: []byte("hi")}
				smsc.send(wire.New(wire.DeliverSM, 0, 5, mo.Body()), wire.New(wire.EnquireLink, 0, 6, nil))
				smsc.want(wire.EnquireLink | wire.Response) // and no deliver_sm_resp before it
				time.Sleep(20 * time.Second)
				smsc.send(answer(one.Sequence(), "first"), answer(two.Sequence(), "second"))
				unbind := smsc.want(wire.Unbind)
				smsc.send(wire.New(wire.Unbind|wire.Response, 0, unbind.Sequence(), nil))
				if smsc.wantEnd() {
					t.Error("the SMSC was reset")
				}
				_ = smsc.Close()
				synctest.Wait()
				settled := view(r.ledger, func() []ledger.Response { return r.ledger.settled })
				if len(settled) != 2 || string(settled[0].MessageID) != "first" || string(settled[1].MessageID) != "second" {
					t.Errorf("settled %v, want both outcomes", settled)
				}
				if got := r.value("smpponce_session_ends_total", "reason", "esme_"+map[ledger.HowEnded]string{ledger.Closed: "closed", ledger.Reset: "reset"}[c.how]); got != 1 {
					t.Errorf("%v session ends counted, want 1", got)
				}
			})
		})
	}
}

func TestADrainEndsWithResponseTimeout(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "never answered"))
		smsc.want(wire.SubmitSM)
		start := time.Now()
		_ = esme.Close()
		smsc.want(wire.Unbind)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("unbind after %v, want response_timeout", took)
		}
		smsc.wantEnd()
	})
}

func TestNothingPendingMeansNoDrain(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		start := time.Now()
		_ = esme.Close()
		smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
		smsc.wantEnd()
		if took := time.Since(start); took != 0 {
			t.Errorf("the SMSC leg ended after %v, want at once", took)
		}
	})
}

func TestInModeOffNothingIsLearntSoNothingDrains(t *testing.T) {
	inBubble(t, off, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "pending"))
		smsc.want(wire.SubmitSM)
		start := time.Now()
		_ = esme.Close()
		smsc.want(wire.Unbind)
		if took := time.Since(start); took != 0 {
			t.Errorf("unbind after %v, want at once", took)
		}
	})
}

func TestWhatAnESMESubmitsBeforeItHangsUpIsForwarded(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "mode enforce": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, set, func(r *rig) {
				esme, smsc := r.bound()
				r.ledger.stalls = true
				for i := range uint32(3) {
					esme.send(submitFrame(i, "fire and forget"))
				}
				_ = esme.Close()
				synctest.Wait()
				go r.ledger.resume()
				for range 3 {
					smsc.want(wire.SubmitSM)
				}
			})
		})
	}
}
