package proxy

import (
	"bytes"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/corpus"
	"smpponce/test/wire"
)

func renumbered(f []byte, n uint32) []byte {
	g := bytes.Clone(f)
	binary.BigEndian.PutUint32(g[12:], n)
	return g
}

func TestEveryFrameOfTheCorpusPassesUnchangedButForItsNumber(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "a ledger that stores nothing": nil} {
		t.Run(name, func(t *testing.T) { inBubble(t, set, (*rig).passCorpus) })
	}
	for _, mode := range []ledger.Mode{ledger.Enforce, ledger.Observe} {
		t.Run("mode "+mode.String(), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				book := openLedger(t, dir, mode)
				defer func() {
					if err := book.Close(); err != nil {
						t.Error(err)
					}
				}()
				// Receipts to a number with something outstanding wait for race_wait; a probe would come first.
				r := newRig(t, func(o *Options) { o.Ledger = book; unprobed(o) })
				defer r.stop()
				r.passCorpus()
			})
		})
	}
}

// passCorpus sends every frame of the corpus through, each in its direction; a response answers its request.
func (r *rig) passCorpus() {
	r.t.Helper()
	esme, smsc := r.bound()
	for _, e := range corpus.All() {
		from, to := esme, smsc
		if e.Direction == corpus.ToESME {
			from, to = smsc, esme
		}
		if e.Request == nil {
			from.send(e.Frame)
			got := to.next()
			if !bytes.Equal(renumbered(got, 0), renumbered(e.Frame, 0)) {
				r.t.Fatalf("%s: got\n%x, want\n%x", e.Name, got, e.Frame)
			}
			if n := got.Sequence(); n == 0 || n > 0x7FFFFFFF {
				r.t.Fatalf("%s went out as number %#x", e.Name, n)
			}
			continue
		}
		to.send(e.Request)
		asked := from.next()
		from.send(renumbered(e.Frame, asked.Sequence()))
		got := to.next()
		if want := renumbered(e.Frame, wire.Frame(e.Request).Sequence()); !bytes.Equal(got, want) {
			r.t.Fatalf("%s: got\n%x, want\n%x", e.Name, got, want)
		}
	}
}

func TestTheNumberOfTheOtherSideIsPutBackWhateverItIs(t *testing.T) {
	inBubble(t, off, func(r *rig) {
		esme, smsc := r.bound()
		theirs := []uint32{0, 1, 1, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0}
		var ours []uint32
		for _, n := range theirs {
			esme.send(submitFrame(n, "hello"))
			ours = append(ours, smsc.want(wire.SubmitSM).Sequence())
		}
		for i, n := range ours {
			if want := uint32(i + 2); n != want { // 1 was the bind
				t.Errorf("submission %d went out under %d, want %d", i, n, want)
			}
		}
		for i := len(ours) - 1; i >= 0; i-- {
			smsc.send(answer(ours[i], "id"))
			if got := esme.want(wire.SubmitSM | wire.Response).Sequence(); got != theirs[i] {
				t.Errorf("answer %d has number %#x, want %#x", i, got, theirs[i])
			}
		}
	})
}

func TestTheSMSCMayUseTheNumbersOfTheESME(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(7, "hello"))
		sub := smsc.want(wire.SubmitSM)
		mo := wire.Message{Text: []byte("hi")}
		smsc.send(wire.New(wire.DeliverSM, 0, sub.Sequence(), mo.Body()))
		got := esme.want(wire.DeliverSM)
		esme.send(wire.New(wire.DeliverSM|wire.Response, 0, got.Sequence(), []byte{0}))
		if back := smsc.want(wire.DeliverSM | wire.Response); back.Sequence() != sub.Sequence() {
			t.Errorf("deliver_sm_resp has number %d, want %d", back.Sequence(), sub.Sequence())
		}
		smsc.send(answer(sub.Sequence(), "id"))
		if back := esme.want(wire.SubmitSM | wire.Response); back.Sequence() != 7 {
			t.Errorf("submit_sm_resp has number %d, want 7", back.Sequence())
		}
	})
}

func TestARepeatedResponseIsDroppedAndCounted(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "mode enforce": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, set, func(r *rig) {
				esme, smsc := r.bound()
				esme.send(submitFrame(7, "hello"))
				sub := smsc.want(wire.SubmitSM)
				a := answer(sub.Sequence(), "id")
				smsc.send(a, a, a, answer(99, "never asked"), answer(0, ""), answer(0xFFFFFFFF, ""))
				esme.want(wire.SubmitSM | wire.Response)
				esme.wantNothing(time.Second)
				if got := r.value("smpponce_unmatched_responses_total", "leg", "smsc"); got != 5 {
					t.Errorf("%v unmatched responses counted, want 5", got)
				}
			})
		})
	}
}

func TestGenericNackAnswersARequest(t *testing.T) {
	for name, set := range map[string]func(*Options){"mode off": off, "mode enforce": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, set, func(r *rig) {
				esme, smsc := r.bound()
				for i, f := range []wire.Frame{submitFrame(7, "hello"), wire.New(wire.QuerySM, 0, 8, []byte("id\x00\x00\x00\x00"))} {
					esme.send(f)
					smsc.send(wire.New(wire.GenericNack, wire.InvCmdID, smsc.next().Sequence(), nil))
					if got := esme.want(wire.GenericNack); got.Sequence() != uint32(7+i) || got.Status() != wire.InvCmdID {
						t.Errorf("got %x, want number %d and ESME_RINVCMDID", got, 7+i)
					}
				}
			})
		})
	}
}

func TestAResponseOfAnotherCommandSettlesNoSubmission(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(7, "hello"))
		sub := smsc.want(wire.SubmitSM)
		smsc.send(wire.New(wire.QuerySM|wire.Response, 0, sub.Sequence(), []byte("id\x00\x00\x02\x00")))
		esme.wantNothing(time.Second)
		smsc.send(answer(sub.Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
	})
}

func TestFramesAreFoundHoweverTheStreamIsCut(t *testing.T) {
	inBubble(t, off, func(r *rig) {
		esme, smsc := r.bound()
		for _, b := range submitFrame(1, "octet by octet") {
			esme.send(wire.Frame{b})
			synctest.Wait()
		}
		smsc.want(wire.SubmitSM)
		var many wire.Frame
		for i := range uint32(50) {
			many = append(many, submitFrame(i, "all at once")...)
		}
		esme.send(many)
		for range 50 {
			smsc.want(wire.SubmitSM)
		}
	})
}

func TestEnquireLinkIsAnsweredOnItsLegWhileTheLedgerStalls(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		r.ledger.stalls = true
		esme.send(submitFrame(1, "waits"), wire.New(wire.EnquireLink, 0, 0xFFFFFFFE, nil))
		if got := esme.want(wire.EnquireLink | wire.Response); got.Sequence() != 0xFFFFFFFE || got.Status() != 0 {
			t.Errorf("got %x, want the number 0xFFFFFFFE", got)
		}
		smsc.send(wire.New(wire.EnquireLink, 0, 5, nil))
		if got := smsc.want(wire.EnquireLink | wire.Response); got.Sequence() != 5 {
			t.Errorf("got %x, want number 5", got)
		}
		// Everything else passes too.
		esme.send(wire.New(wire.QuerySM, 0, 8, []byte("id\x00\x00\x00\x00")))
		smsc.want(wire.QuerySM)
		r.ledger.resume()
		smsc.want(wire.SubmitSM)
	})
}

func TestAlertNotificationTakesNoPlaceAmongPendingRequests(t *testing.T) {
	inBubble(t, off, func(r *rig) {
		esme, smsc := r.bound()
		for range 10 {
			smsc.send(wire.New(0x102, 0, 3, []byte{0, 0, 0, 0, 0, 0}))
			esme.want(0x102)
		}
		if got := r.value("smpponce_in_flight_requests", "leg", "esme"); got != 0 {
			t.Errorf("%v requests count as in flight, want 0", got)
		}
	})
}

func TestAFrameOfIllegalLengthIsRefusedAndItsLegClosed(t *testing.T) {
	for _, length := range []uint32{0, 15, 131073, 0xFFFFFFFF} {
		for _, side := range []string{"ESME", "SMSC"} {
			inBubble(t, nil, func(r *rig) {
				esme, smsc := r.bound()
				bad, other := esme, smsc
				if side == "SMSC" {
					bad, other = smsc, esme
				}
				f := wire.New(wire.DeliverSM, 0, 77, nil)
				binary.BigEndian.PutUint32(f, length)
				bad.send(f)
				time.Sleep(lingerTime / 2)
				bad.send(make(wire.Frame, 1000)) // it goes on; this cannot be framed
				nack := bad.want(wire.GenericNack)
				if nack.Status() != wire.InvCmdLen || nack.Sequence() != 77 {
					t.Errorf("length %d from the %s: got %x, want ESME_RINVCMDLEN for number 77", length, side, nack)
				}
				if bad.wantEnd() {
					t.Errorf("length %d from the %s: its leg was reset", length, side)
				}
				_ = bad.Close()
				if side == "ESME" { // the SMSC is taken leave of
					other.send(wire.New(wire.Unbind|wire.Response, 0, other.want(wire.Unbind).Sequence(), nil))
				}
				if other.wantEnd() {
					t.Errorf("length %d from the %s: the other leg was reset", length, side)
				}
			})
		}
	}
}
