package cases

import (
	"testing"
	"time"

	"smpponce/ledger"
	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// receiptOf is a receipt about a Receipted message.
func receiptOf(id, quoted string, sequence uint32) wire.Frame {
	m := stage.Message("id:" + id + " sub:001 dlvrd:001 submit date:2501010000 done date:2501010000 stat:DELIVRD err:000 text:" + quoted)
	m.Source, m.Destination, m.ESMClass = m.Destination, m.Source, 4
	return wire.New(wire.DeliverSM, 0, sequence, m.Body())
}

// receives takes a receipt, which must be about id, and acknowledges it.
func receives(t testing.TB, esme *stage.Peer, id string) {
	t.Helper()
	f := esme.Want(wire.DeliverSM)
	m, _ := wire.ParseMessage(f.Body())
	if got := m.ReceiptID(); got != id {
		t.Errorf("the receipt is about %q, want %q", got, id)
	}
	esme.Send(wire.New(wire.DeliverSM|wire.Response, 0, f.Sequence(), []byte{0}))
}

// CASES 8, on the leg that the client gets back.
func TestTheAnswerComesBeforeTheReceiptThatCameWhileNobodyWasThere(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		first, smsc := s.Bound("acme")
		first.Submit(stage.Receipted("A"))
		a := smsc.WantSubmit()
		first.Submit(stage.Message("keeps the leg draining"))
		smsc.WantSubmit()
		_ = first.Close()
		time.Sleep(500 * time.Millisecond)
		smsc.Answer(a, "77")
		smsc.Send(receiptOf("77", "A", 5))
		time.Sleep(9 * time.Second)
		esme := s.Back("acme")
		time.Sleep(100 * time.Millisecond)
		n := esme.Submit(stage.Receipted("A"))
		if id := esme.WantAnswer(n, wire.OK); id != "77" {
			t.Errorf("answered with %q, want 77", id)
		}
		receives(t, esme, "77")
		if f := smsc.Want(wire.DeliverSM | wire.Response); f.Sequence() != 5 {
			t.Errorf("%d was acknowledged, want 5", f.Sequence())
		}
		smsc.WantNothing(time.Second)
	})
}

// CASES 8, where the leg had gone and the SMSC shows the receipt again on the new one.
func TestTheAnswerComesBeforeTheReceiptThatTheSMSCShowsAgain(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		first, smsc := s.Bound("acme")
		first.Submit(stage.Receipted("A"))
		a := smsc.WantSubmit()
		_ = first.Close()
		time.Sleep(500 * time.Millisecond)
		smsc.Answer(a, "77")
		smsc.Part()
		time.Sleep(9 * time.Second)
		esme, own := s.Bound("acme")
		own.Send(receiptOf("77", "A", 5))
		time.Sleep(100 * time.Millisecond)
		n := esme.Submit(stage.Receipted("A"))
		if id := esme.WantAnswer(n, wire.OK); id != "77" {
			t.Errorf("answered with %q, want 77", id)
		}
		receives(t, esme, "77")
		own.Want(wire.DeliverSM | wire.Response)
		own.WantNothing(time.Second)
	})
}

// CASES 9, by the same client: it gets its leg, and its repeat the answer to the first.
func TestAClientThatIsBackAtOnceIsAnsweredOnTheLegThatItHadLeft(t *testing.T) {
	t.Parallel()
	for how, leave := range map[string]func(*stage.Peer){"FIN": func(p *stage.Peer) { _ = p.Close() }, "reset": (*stage.Peer).Reset} {
		t.Run(how, func(t *testing.T) {
			s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
			defer s.Close()
			esme, smsc := s.Bound("acme")
			for range 50 {
				esme.Submit(stage.Message("A"))
				submit := smsc.WantSubmit()
				leave(esme)
				esme = s.Back("acme")
				n := esme.Submit(stage.Message("A"))
				smsc.Answer(submit, "1")
				if id := esme.WantAnswer(n, wire.OK); id != "1" {
					t.Errorf("the repeat was answered with id %q, want that of the first", id)
				}
			}
			s.WantValue(50, "smpponce_submissions_total", "verdict", "forward")
			s.WantValue(50, "smpponce_binds_total", "result", "adopted")
		})
	}
}

// CASES 10, 11 and 12: the old session's host has vanished, or is busy. Its message is unanswered, or answered into the void.
func TestOfASilentSessionOnlyTheKernelTellsWhetherItsMessageIsRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ vanished, answered, repeated bool }{
		"10: vanished":                    {true, false, true},
		"11: busy":                        {false, false, false},
		"12: vanished before its answer":  {true, true, true},
		"busy, with its answer delivered": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				first, smsc := s.Bound("acme")
				first.Submit(stage.Message("A"))
				a := smsc.WantSubmit()
				if c.vanished {
					first.Mem().Vanish()
				}
				if c.answered {
					smsc.Answer(a, "1")
				}
				time.Sleep(3 * time.Second)
				second, own := s.BoundElsewhere("acme")
				n := second.Submit(stage.Message("A"))
				if !c.repeated {
					own.Answer(own.WantSubmit(), "2")
					if id := second.WantAnswer(n, wire.OK); id != "2" {
						t.Errorf("answered with %q, want its own id: it is another message", id)
					}
					return
				}
				own.WantNothing(4 * time.Second)
				if !c.answered {
					smsc.Answer(a, "1")
				}
				if id := second.WantAnswer(n, wire.OK); id != "1" {
					t.Errorf("answered with %q, want the id of the first", id)
				}
				own.WantNothing(time.Second)
			})
		})
	}
}

// CASES 16.
func TestAReceiptOfALaterMessageDoesNotSettleWhatIsInDoubt(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		esme.Submit(stage.Receipted("A"))
		smsc.WantSubmit()
		smsc.Reset()
		esme.WantEnd()
		_ = esme.Close()
		esme, smsc = s.Bound("acme")
		n := esme.Submit(stage.Receipted("B"))
		b := smsc.WantSubmit()
		smsc.Send(receiptOf("88", "B", 5))
		receives(t, esme, "88") // it has waited race_wait in vain
		smsc.Want(wire.DeliverSM | wire.Response)
		s.WantValue(1, "smpponce_in_doubt")
		smsc.Answer(b, "88")
		esme.WantAnswer(n, wire.OK)
		s.WantValue(1, "smpponce_in_doubt")
		s.WantValue(0, "smpponce_in_doubt_settled_total")
	})
}

// CASES 17.
func TestTheReceiptOfAnIDThatWasNeverToldIsShownUnderTheOneThatWas(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, func(set *stage.Settings) { set.Policy.OnInDoubt = ledger.ForwardInDoubt }, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		unanswered := esme.Submit(stage.Receipted("A"))
		first := smsc.WantSubmit()
		esme.WantAnswer(unanswered, stage.RetryStatus) // overdue, and in doubt though the leg lives
		n := esme.Submit(stage.Receipted("A"))
		second := smsc.WantSubmit()
		smsc.Answer(second, "2")
		if id := esme.WantAnswer(n, wire.OK); id != "2" {
			t.Errorf("answered with %q, want 2", id)
		}
		smsc.Answer(first, "1") // settled late
		smsc.Send(receiptOf("1", "A", 6))
		receives(t, esme, "2")
		s.WantValue(1, "smpponce_receipts_total", "result", "translated")
	})
}

// CASES 26.
func TestAReceiverDoesNotGetTheLegOfATransmitter(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		first, smsc := s.BoundAs(wire.BindTransmitter, "acme")
		first.Submit(stage.Message("A"))
		smsc.WantSubmit()
		_ = first.Close()
		_, own := s.BoundAs(wire.BindReceiver, "acme") // comes to the SMSC
		own.WantNothing(time.Second)
		s.WantValue(0, "smpponce_binds_total", "result", "adopted")
	})
}

// CASES 27.
func TestASickLegIsClosedBeforeTheClientBindsAfresh(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		esme.Submit(stage.Message("A"))
		smsc.WantSubmit()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for {
				f, err := smsc.Within(time.Hour)
				if err != nil {
					_ = smsc.Close()
					return
				}
				if f.Command()&wire.Response == 0 { // enquire_link and unbind
					_, _ = smsc.Write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
				}
			}
		}()
		for range 7 {
			time.Sleep(9 * time.Second)
			esme.Send(wire.New(wire.EnquireLink, 0, 50, nil))
			esme.Want(wire.EnquireLink | wire.Response)
		}
		_ = esme.Close()
		s.Bound("acme") // comes to the SMSC
		select {
		case <-gone:
		default:
			t.Error("the sick leg still stood")
		}
		s.WantValue(0, "smpponce_binds_total", "result", "adopted")
	})
}
