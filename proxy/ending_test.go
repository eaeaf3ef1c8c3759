package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
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

func TestWhenTheSMSCLegEndsTheESMEGetsWhatWasAnsweredAndIsClosed(t *testing.T) {
	for name, reset := range map[string]bool{"by FIN": false, "by reset": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(r *rig) {
				esme, smsc := r.bound()
				for i := range uint32(3) {
					esme.send(submitFrame(i, "pending"))
				}
				var answers wire.Frame
				for i := range 3 {
					f := smsc.want(wire.SubmitSM)
					if i < 2 {
						answers = append(answers, answer(f.Sequence(), "id")...)
					}
				}
				smsc.CutAfter(int64(len(answers))+int64(len("smsc\x00"))+16, reset)
				_, _ = smsc.Write(answers)
				esme.want(wire.SubmitSM | wire.Response)
				esme.want(wire.SubmitSM | wire.Response)
				if esme.wantEnd() {
					t.Error("the ESME was reset")
				}
				synctest.Wait() // its own FIN is still to come
				end := lastEnd(t, r.ledger)
				if end.How != ledger.ByProxy {
					t.Errorf("the ledger was told %v, want closed by proxy", end.How)
				}
				for _, a := range end.Answers {
					if !a.Acked || a.At == 0 {
						t.Errorf("answer %+v, want it written and acknowledged", a)
					}
				}
				if len(end.Answers) != 2 {
					t.Errorf("%d answers are reported, want 2", len(end.Answers))
				}
				told := view(r.ledger, func() []string { return slices.Clone(r.ledger.told) })
				if want := []string{"open", "close leg", "close session"}; !slices.Equal(told, want) {
					t.Errorf("the ledger was told %v, want %v", told, want)
				}
			})
		})
	}
}

func TestTheLedgerKnowsOfTheEndBeforeTheESMECanSeeIt(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		_ = smsc.Close()
		esme.wantEnd()
		if n := view(r.ledger, func() int { return len(r.ledger.ends) }); n != 1 {
			t.Errorf("the ESME saw its end, and the ledger was told of %d", n)
		}
	})
}

func TestAnswersOnTheirWayThroughTheLedgerReachTheESMEOfAnEndedSMSCLeg(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		slow := &slowSettle{fakeLedger: r.ledger, delay: 3 * time.Second}
		r.proxy.o.Ledger = slow
		esme, smsc := r.bound()
		esme.send(submitFrame(5, "pending"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		_ = smsc.Close()
		if got := esme.want(wire.SubmitSM | wire.Response); got.Sequence() != 5 {
			t.Errorf("got %x, want the answer to 5", got)
		}
		esme.wantEnd()
	})
}

// slowSettle gives answers back late, as a ledger on a slow disk does.
type slowSettle struct {
	*fakeLedger
	delay time.Duration
}

func (l *slowSettle) Settle(n ledger.Number, r ledger.Response) {
	time.AfterFunc(l.delay, func() { l.fakeLedger.Settle(n, r) })
}

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

// CASES 28: the client still sends when its session is ended, and has 400 KB of answers to read.
func TestClosingWithUnreadInputDestroysNoAnswers(t *testing.T) {
	for name, slow := range map[string]int{"all answers in its kernel": 1 << 20, "most answers in ours": 4096} {
		t.Run(name, func(t *testing.T) { closeWithUnreadInput(t, slow) })
	}
}

func closeWithUnreadInput(t *testing.T, slow int) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		const n, size = 400, 1000
		esme.Stall(0) // it does not read yet
		go func() {
			for i := range uint32(n) {
				if _, err := esme.Write(submitFrame(i, "a message")); err != nil {
					return
				}
			}
		}()
		for range n {
			f := smsc.want(wire.SubmitSM)
			smsc.send(wire.New(wire.SubmitSM|wire.Response, 0, f.Sequence(), append(bytes.Repeat([]byte("x"), size), 0)))
		}
		_ = smsc.Close()
		synctest.Wait()
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() { // it sends on and on
			defer close(stopped)
			for i := uint32(n); ; i++ {
				if _, err := esme.Write(submitFrame(i, "another message")); err != nil {
					return
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		}()
		esme.Stall(slow) // its kernel takes some of the answers, or all
		time.Sleep(lingerTime / 2)
		for i := range n {
			if i%100 == 99 {
				time.Sleep(100 * time.Millisecond)
			}
			if f := esme.want(wire.SubmitSM | wire.Response); len(f) != 16+size+1 {
				t.Fatalf("answer %d has %d octets", i, len(f))
			}
		}
		if esme.wantEnd() {
			t.Error("the ESME was reset")
		}
		close(stop)
		<-stopped
		_ = esme.Close()
	})
}

func TestASMSCThatCannotBeWrittenToIsReadToItsEnd(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "one"))
		one := smsc.want(wire.SubmitSM)
		smsc.deafen()
		esme.send(submitFrame(2, "lost"))
		synctest.Wait()
		// The write has failed by now; the answer to the first comes all the same.
		smsc.send(answer(one.Sequence(), "id"))
		if got := esme.want(wire.SubmitSM | wire.Response).Sequence(); got != 1 {
			t.Errorf("answer to %d, want to 1", got)
		}
		esme.wantEnd()
		synctest.Wait()
		if n := view(r.ledger, func() int { return len(r.ledger.unsent) }); n != 1 {
			t.Errorf("%d attempts reported as never sent, want the second", n)
		}
	})
}

func TestWhatLiesInOurBufferWhenTheSMSCLegEndsWasNeverSent(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		frame := submitFrame(1, "as long as any")
		smsc.Stall(2*len(frame) + 5) // two frames and a part of the third
		for i := range uint32(10) {
			esme.send(submitFrame(i, "as long as any"))
		}
		synctest.Wait()
		_ = smsc.Close()
		esme.wantEnd()
		synctest.Wait()
		unsent := view(r.ledger, func() []ledger.Number { return r.ledger.unsent })
		if len(unsent) != 8 || !slices.IsSorted(unsent) {
			t.Errorf("%v were never sent, want 8 in their order", unsent)
		}
		told := view(r.ledger, func() []string { return slices.Clone(r.ledger.told) })
		if !slices.Contains(told, "close leg") {
			t.Error("the leg's end was not told")
		}
	})
}

func TestAPeerThatTakesNothingForWriteTimeoutHasEnded(t *testing.T) {
	t.Run("ESME", func(t *testing.T) {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			esme.Stall(0)
			start := time.Now()
			mo := wire.Message{Text: []byte("hi")}
			smsc.send(wire.New(wire.DeliverSM, 0, 5, mo.Body()))
			sender := make(chan struct{})
			go func() { // it is alive otherwise
				defer close(sender)
				for {
					if _, err := esme.Write(wire.New(0x1234, 0, 1, nil)); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			}()
			for f := smsc.next(); f.Command() != wire.Unbind; f = smsc.next() {
			}
			if took := time.Since(start); took < 30*time.Second || took > 45*time.Second {
				t.Errorf("ended after %v, want write_timeout", took)
			}
			if end := lastEnd(t, r.ledger); end.How != ledger.Vanished {
				t.Errorf("the ledger was told %v, want vanished", end.How)
			}
			_ = esme.Close()
			<-sender
		})
	})
	t.Run("SMSC", func(t *testing.T) {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			smsc.Stall(0)
			start := time.Now()
			esme.send(submitFrame(1, "stuck"))
			for {
				f, err := esme.in.Next()
				if err != nil {
					break
				}
				esme.send(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
			}
			if took := time.Since(start); took < 30*time.Second || took > 45*time.Second {
				t.Errorf("ended after %v, want write_timeout", took)
			}
			if n := view(r.ledger, func() int { return len(r.ledger.unsent) }); n != 1 {
				t.Errorf("%d attempts reported as never sent, want 1", n)
			}
		})
	})
}

func TestAPeerThatTakesLittleHasNotEnded(t *testing.T) {
	inBubble(t, func(o *Options) { off(o); unprobed(o) }, func(r *rig) {
		esme, smsc := r.bound()
		frame := submitFrame(1, "a message")
		smsc.Stall(1)
		esme.send(frame)
		var got []byte
		for range len(frame) {
			time.Sleep(10 * time.Second)
			var one [1]byte
			if _, err := smsc.Read(one[:]); err != nil {
				t.Fatal(err)
			}
			got = append(got, one[0])
		}
		if !bytes.Equal(got[16:], frame[16:]) {
			t.Errorf("got %x", got)
		}
	})
}

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
			esme.want(wire.Unbind)
		}
	})
}

func TestWhatAnEndSaysOfTheAnswers(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		submitAndAnswer := func(i uint32) {
			esme.send(submitFrame(i, fmt.Sprint("message ", i)))
			smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		}
		submitAndAnswer(1) // acknowledged, and older than settle when the leg ends
		esme.want(wire.SubmitSM | wire.Response)
		time.Sleep(10 * time.Second)
		before := r.ledger.Now()
		submitAndAnswer(2) // acknowledged and young
		esme.want(wire.SubmitSM | wire.Response)
		time.Sleep(100 * time.Millisecond)
		esme.send(submitFrame(3, "message 3"), submitFrame(4, "message 4"))
		three, four := smsc.want(wire.SubmitSM), smsc.want(wire.SubmitSM)
		mo := wire.Message{Text: []byte("hi")}
		smsc.send(wire.New(wire.DeliverSM, 0, 5, mo.Body()))
		synctest.Wait()
		esme.Vanish()
		smsc.send(answer(three.Sequence(), "id")) // written, and never acknowledged
		time.Sleep(10 * time.Second)
		smsc.send(answer(four.Sequence(), "id")) // likewise; the one before is still of interest
		for f := smsc.next(); f.Command() != wire.Unbind; f = smsc.next() {
			smsc.send(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
		}
		end := lastEnd(t, r.ledger)
		if end.How != ledger.Vanished || !end.DeliverUnanswered || end.RoundTrip != time.Millisecond {
			t.Errorf("got %+v, want vanished, a deliver_sm unanswered and a round trip of 1ms", end)
		}
		if got := end.LastSubmission.Sub(before); got != 100*time.Millisecond {
			t.Errorf("the newest submission is said to be %v after the second, want 100ms", got)
		}
		// Of the first two nothing is left to say.
		if len(end.Answers) != 2 {
			t.Fatalf("answers %+v, want the last two", end.Answers)
		}
		for _, a := range end.Answers {
			if a.Acked || a.At == 0 {
				t.Errorf("answer %+v, want it written and not acknowledged", a)
			}
		}
	})
}

func TestAnAnswerThatWasNeverWrittenIsReportedSo(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		for i := range uint32(2) {
			esme.send(submitFrame(i, "m"))
			smsc.want(wire.SubmitSM)
		}
		one := answer(2, "id")
		esme.Stall(len(one) + 3) // the first fits, the second does not
		smsc.send(one, answer(3, "id"))
		synctest.Wait()
		esme.Reset()
		synctest.Wait()
		end := lastEnd(t, r.ledger)
		if len(end.Answers) != 2 || end.Answers[0].At == 0 || end.Answers[1].At != 0 {
			t.Errorf("answers %+v, want the first written and the second not", end.Answers)
		}
	})
}

func TestAnAnswerAfterTheESMELegsEndIsGivenBack(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		slow := &slowSettle{fakeLedger: r.ledger, delay: time.Second}
		r.proxy.o.Ledger = slow
		esme, smsc := r.bound()
		esme.send(submitFrame(5, "pending"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		_ = esme.Close()
		synctest.Wait()
		view(r.ledger, func() int { clear(r.ledger.closed); return 0 }) // a ledger that answers all the same
		time.Sleep(2 * time.Second)
		if n := view(r.ledger, func() int { return r.ledger.undeliv }); n != 1 {
			t.Errorf("%d answers were given back, want 1", n)
		}
	})
}

func TestAnAnsweredProbeIsReportedByTheTimeOfItsSending(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		go func() {
			for {
				f, err := smsc.in.Next()
				if err != nil {
					return
				}
				_, _ = smsc.Write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
			}
		}()
		start := r.ledger.Now()
		probe := esme.want(wire.EnquireLink)
		time.Sleep(3 * time.Second)
		esme.send(wire.New(wire.EnquireLink|wire.Response, 0, probe.Sequence(), nil))
		synctest.Wait()
		_ = esme.Close()
		synctest.Wait()
		if got := lastEnd(t, r.ledger).LastProbe.Sub(start); got != 30*time.Second {
			t.Errorf("the newest answered probe was sent at %v, want 30s", got)
		}
	})
}

func TestAStaleVerdictIsAskedForAgainByTheWriter(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		r.ledger.stale = true
		esme.send(submitFrame(1, "one"))
		got := smsc.want(wire.SubmitSM)
		smsc.wantNothing(time.Second)
		if r.ledger.again != 1 {
			t.Errorf("%d verdicts were asked for again, want 1", r.ledger.again)
		}
		smsc.send(answer(got.Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		if n := r.value("smpponce_in_flight_requests", "leg", "smsc"); n != 0 {
			t.Errorf("%v requests in flight, want 0", n)
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
