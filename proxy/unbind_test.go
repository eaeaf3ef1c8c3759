package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

func TestAnUnbindWaitsForTenPendingSubmissions(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "mode enforce": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, set, func(r *rig) {
				esme, smsc := r.bound()
				for i := range uint32(10) {
					esme.send(submitFrame(i, "pending"))
				}
				esme.send(wire.New(wire.Unbind, 0, 99, nil))
				var pending []wire.Frame
				for range 10 {
					pending = append(pending, smsc.want(wire.SubmitSM))
				}
				smsc.wantNothing(20 * time.Second)
				for i, f := range pending {
					smsc.send(answer(f.Sequence(), "id"))
					if got := esme.want(wire.SubmitSM | wire.Response).Sequence(); got != uint32(i) {
						t.Errorf("answer %d has number %d", i, got)
					}
				}
				unbind := smsc.want(wire.Unbind)
				esme.wantNothing(time.Second) // the answer is the SMSC's to give
				smsc.send(wire.New(wire.Unbind|wire.Response, 0, unbind.Sequence(), nil))
				if got := esme.want(wire.Unbind | wire.Response).Sequence(); got != 99 {
					t.Errorf("unbind_resp has number %d, want 99", got)
				}
				_ = esme.Close()
				smsc.wantEnd()
				_ = smsc.Close()
				synctest.Wait()
				if got := r.value("smpponce_session_ends_total", "reason", "esme_unbind"); got != 1 {
					t.Errorf("%v sessions ended by the ESME's unbind, want 1", got)
				}
				if name == "mode enforce" {
					if end := lastEnd(t, r.ledger); end.How != ledger.Unbound {
						t.Errorf("the ledger was told %v, want unbound", end.How)
					}
				}
			})
		})
	}
}

func TestAnUnbindWaitsNoLongerThanResponseTimeout(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		start := time.Now()
		esme.send(submitFrame(1, "never answered"), wire.New(wire.Unbind, 0, 2, nil))
		smsc.want(wire.SubmitSM)
		smsc.want(wire.Unbind)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the unbind came after %v, want response_timeout", took)
		}
	})
}

func TestAnUnbindOfTheSMSCIsRelayedAndItsAnswerToo(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		smsc.send(wire.New(wire.Unbind, 0, 40, nil))
		got := esme.want(wire.Unbind)
		esme.send(wire.New(wire.Unbind|wire.Response, 0, got.Sequence(), nil))
		if got := smsc.want(wire.Unbind | wire.Response).Sequence(); got != 40 {
			t.Errorf("unbind_resp has number %d, want 40", got)
		}
		_ = smsc.Close()
		if esme.wantEnd() {
			t.Error("the ESME was reset")
		}
		_ = esme.Close()
		synctest.Wait()
		if got := r.value("smpponce_session_ends_total", "reason", "smsc_unbind"); got != 1 {
			t.Errorf("%v sessions ended by the SMSC's unbind, want 1", got)
		}
		if end := lastEnd(t, r.ledger); end.How != ledger.Unbound {
			t.Errorf("the ledger was told %v, want unbound", end.How)
		}
	})
}

func TestAfterUnbindRespBothLegsAreClosedThoughNobodyElseDoes(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(wire.New(wire.Unbind, 0, 2, nil))
		smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
		esme.want(wire.Unbind | wire.Response)
		start := time.Now()
		esme.wantEnd()
		smsc.wantEnd()
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("closed after %v", took)
		}
	})
}

func TestASecondUnbindWaitsForWhatCameBeforeIt(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "mode enforce": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, set, func(r *rig) {
				esme, smsc := r.bound()
				esme.send(submitFrame(1, "first"), wire.New(wire.Unbind, 0, 2, nil), submitFrame(3, "second"), wire.New(wire.Unbind, 0, 4, nil))
				for _, text := range []string{"first", "second"} {
					smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), text))
					esme.want(wire.SubmitSM | wire.Response)
				}
				for _, number := range []uint32{2, 4} {
					smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
					if got := esme.want(wire.Unbind | wire.Response).Sequence(); got != number {
						t.Errorf("unbind_resp has number %d, want %d", got, number)
					}
				}
			})
		})
	}
}

func TestAnESMEThatUnbindsAndClosesItsHalfHearsTheRest(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "last"), wire.New(wire.Unbind, 0, 2, nil))
		if err := esme.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		pending := smsc.want(wire.SubmitSM)
		synctest.Wait()
		if n := len(r.ledger.ends); n > 0 {
			t.Error("the ledger was told of the end before it came")
		}
		smsc.send(answer(pending.Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
		esme.want(wire.Unbind | wire.Response)
		if esme.wantEnd() {
			t.Error("the ESME was reset")
		}
		synctest.Wait()
		if end := lastEnd(t, r.ledger); end.How != ledger.Unbound {
			t.Errorf("the ledger was told %v, want unbound", end.How)
		}
	})
}

func TestAnESMEThatUnbindsAndIsGoneHoldsNothingUp(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "last"), wire.New(wire.Unbind, 0, 2, nil))
		pending := smsc.want(wire.SubmitSM)
		_ = esme.Close()
		smsc.send(answer(pending.Sequence(), "id")) // its answer meets a closed socket
		smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
		smsc.wantEnd()
		if end := lastEnd(t, r.ledger); end.How != ledger.Unbound {
			t.Errorf("the ledger was told %v, want unbound", end.How)
		}
	})
}
