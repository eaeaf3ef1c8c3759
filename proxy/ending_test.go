package proxy

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

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
