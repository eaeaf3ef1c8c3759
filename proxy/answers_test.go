package proxy

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

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

// Both sides break at once: the ESME's end is not read yet when that of the SMSC's leg is.
func TestAnESMEThatHasEndedByItselfIsNotEndedByTheProxy(t *testing.T) {
	for how, end := range map[ledger.HowEnded]func(*peer){ledger.Closed: func(e *peer) { _ = e.Close() }, ledger.Reset: func(e *peer) { e.Reset() }} {
		inBubble(t, func(o *Options) { unprobed(o); o.MaxPending = 1 }, func(r *rig) {
			esme, smsc := r.bound()
			esme.send(submitFrame(1, "in flight"), submitFrame(2, "not read yet"))
			smsc.want(wire.SubmitSM)
			synctest.Wait()
			end(esme)
			_ = smsc.Close()
			time.Sleep(time.Minute)
			if got := view(r.ledger, func() ledger.HowEnded { return r.ledger.ends[0].How }); got != how {
				t.Errorf("the ledger heard that the ESME's leg was %s, want %s", got, how)
			}
		})
	}
}

// slowSettle gives answers back late, as a ledger on a slow disk does.
type slowSettle struct {
	*fakeLedger
	delay time.Duration
}

func (l *slowSettle) Settle(n ledger.Number, r ledger.Response) {
	time.AfterFunc(l.delay, func() { l.fakeLedger.Settle(n, r) })
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
