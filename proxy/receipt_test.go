package proxy

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

// receiptFrame is a delivery receipt for an id, with that id in text and TLV.
func receiptFrame(sequence uint32, id, status string) wire.Frame {
	m := wire.Message{
		Source: wire.Address{TON: 1, NPI: 1, Number: "491701234567"}, Destination: wire.Address{TON: 5, Number: "acme"},
		ESMClass: 4, Text: fmt.Appendf(nil, "id:%s sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:%s err:000 text:hi", id, status),
		TLVs: []wire.TLV{{Tag: wire.TagReceiptedID, Value: append([]byte(id), 0)}},
	}
	return wire.New(wire.DeliverSM, 0, sequence, m.Body())
}

func TestAReceiptWhoseIDTheESMEKnowsPassesUnchanged(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.ledger.ids["abc"] = "abc"
		esme, smsc := r.bound()
		f := receiptFrame(0xFFFFFFFF, "abc", "DELIVRD")
		smsc.send(f)
		got := esme.want(wire.DeliverSM)
		if !bytes.Equal(renumbered(got, 0), renumbered(f, 0)) {
			t.Errorf("got  %x\nwant %x", got, f)
		}
		smsc.wantNothing(time.Second) // nobody acknowledges for the ESME
		esme.send(wire.New(wire.DeliverSM|wire.Response, 0x58, got.Sequence(), []byte{0}))
		back := smsc.want(wire.DeliverSM | wire.Response)
		if back.Sequence() != 0xFFFFFFFF || back.Status() != 0x58 {
			t.Errorf("got %x, want the ESME's status under the SMSC's number", back)
		}
		if got := r.value("smpponce_receipts_total", "state", "delivered", "result", "untouched"); got != 1 {
			t.Errorf("%v counted, want 1", got)
		}
	})
}

func TestAReceiptBearsTheIDThatTheESMEWasTold(t *testing.T) {
	for name, data := range map[string]bool{"deliver_sm": false, "data_sm": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(r *rig) {
				r.ledger.ids["second"] = "the-first"
				esme, smsc := r.bound()
				f := receiptFrame(5, "second", "DELIVRD")
				if data {
					m := wire.Message{Source: wire.Address{Number: "491701234567"}, ESMClass: 4,
						TLVs: []wire.TLV{{Tag: wire.TagReceiptedID, Value: []byte("second\x00")}, {Tag: wire.TagMessageState, Value: []byte{2}}}}
					f = wire.New(wire.DataSM, 0, 5, m.DataBody())
				}
				smsc.send(f)
				got := esme.next()
				if want := bytes.ReplaceAll(f, []byte("second"), []byte("the-first")); !bytes.Contains(got, []byte("the-first")) ||
					bytes.Contains(got, []byte("second")) || len(got) != len(want) {
					t.Errorf("got %q", got)
				}
				if got := r.value("smpponce_receipts_total", "state", "delivered", "result", "translated"); got != 1 {
					t.Errorf("%v counted, want 1", got)
				}
			})
		})
	}
}

func TestInModeObserveNothingIsTranslatedAndNothingWaits(t *testing.T) {
	inBubble(t, func(o *Options) {
		o.AccountOf = func(string) Account { return Account{Mode: Observe, RaceWait: time.Minute} }
	}, func(r *rig) {
		r.ledger.parks = true
		r.ledger.ids["second"] = "first"
		esme, smsc := r.bound()
		f := receiptFrame(5, "second", "DELIVRD")
		smsc.send(f)
		if got := esme.want(wire.DeliverSM); !bytes.Equal(renumbered(got, 5), f) {
			t.Errorf("got  %x\nwant %x", got, f)
		}
		if w := r.ledger.waits; len(w) != 1 || w[0] != 0 {
			t.Errorf("waits %v, want none", w)
		}
	})
}

func TestAReceiptThatWaitsHoldsNothingElseUp(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.ledger.parks = true
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "hello"))
		sub := smsc.want(wire.SubmitSM)
		mo := wire.Message{Text: []byte("id:abc is my name")}
		smsc.send(receiptFrame(5, "abc", "DELIVRD"), wire.New(wire.DeliverSM, 0, 6, mo.Body()), answer(sub.Sequence(), "abc"))
		if got := esme.want(wire.DeliverSM); !bytes.Equal(got.Body(), mo.Body()) {
			t.Errorf("got %q, want the mobile-originated message", got)
		}
		esme.want(wire.SubmitSM | wire.Response)
		r.ledger.parked[0](ledger.Found{Known: true, ESMEID: []byte("abc")})
		if got := esme.want(wire.DeliverSM); !bytes.Contains(got, []byte("stat:DELIVRD")) {
			t.Errorf("got %q, want the receipt", got)
		}
		if w := r.ledger.waits; w[0] != 3*time.Second {
			t.Errorf("it may wait %v, want race_wait", w)
		}
	})
}

func TestParkedReceiptsAreBounded(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.ledger.parks = true
		esme, smsc := r.bound()
		for i := range uint32(maxParked + 5) {
			smsc.send(receiptFrame(i, "abc", "DELIVRD"))
		}
		for range 5 { // the surplus does not wait
			esme.want(wire.DeliverSM)
		}
		esme.wantNothing(time.Second)
		for _, found := range r.ledger.parked {
			found(ledger.Found{})
		}
		for range maxParked {
			esme.want(wire.DeliverSM)
		}
		if got := r.value("smpponce_receipts_total", "state", "delivered", "result", "unmatched"); got != maxParked+5 {
			t.Errorf("%v counted, want all", got)
		}
	})
}

func TestAReceiptFoundAfterTheESMELegsEndIsNotAcknowledged(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.ledger.parks = true
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "pending"))
		smsc.want(wire.SubmitSM)
		smsc.send(receiptFrame(5, "abc", "DELIVRD"))
		synctest.Wait()
		_ = esme.Close()
		synctest.Wait()
		r.ledger.parked[0](ledger.Found{Known: true, ESMEID: []byte("abc")})
		smsc.wantNothing(time.Second)
	})
}

func TestTheLedgerHearsOfAMessageThatFailedWhenTheESMEKnows(t *testing.T) {
	for _, c := range []struct {
		status string
		want   ledger.Final
	}{
		{"UNDELIV", ledger.Failed}, {"REJECTD", ledger.Failed}, {"EXPIRED", ledger.Expired}, {"DELETED", ledger.Deleted},
		{"DELIVRD", ledger.NotFinal}, {"ENROUTE", ledger.NotFinal}, {"ACCEPTD", ledger.NotFinal}, {"WHAT", ledger.NotFinal},
	} {
		inBubble(t, nil, func(r *rig) {
			r.ledger.ids["abc"] = "told"
			esme, smsc := r.bound()
			for _, status := range []uint32{0x58, 0} {
				smsc.send(receiptFrame(5, "abc", c.status))
				got := esme.want(wire.DeliverSM)
				if len(r.ledger.finished) != 0 {
					t.Errorf("%s: told %v before an acknowledgement", c.status, r.ledger.finished)
				}
				esme.send(wire.New(wire.DeliverSM|wire.Response, status, got.Sequence(), []byte{0}))
				smsc.want(wire.DeliverSM | wire.Response)
			}
			synctest.Wait()
			if got := r.ledger.finished["abc"]; got != c.want {
				t.Errorf("%s: the ledger was told %v, want %v", c.status, got, c.want)
			}
		})
	}
}

func TestACancelThatSucceededFinishesItsMessage(t *testing.T) {
	for status, want := range map[uint32]ledger.Final{0: ledger.Cancelled, 0x11: ledger.NotFinal} {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			esme.send(wire.New(8, 0, 3, []byte("\x00abc\x00\x00\x00\x00\x00\x00\x00")))
			smsc.send(wire.New(8|wire.Response, status, smsc.want(8).Sequence(), nil))
			esme.want(8 | wire.Response)
			synctest.Wait()
			if got := r.ledger.finished["abc"]; got != want {
				t.Errorf("status %#x: the ledger was told %v, want %v", status, got, want)
			}
		})
	}
}

func TestAReceiptWithoutIDPassesAndIsCounted(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		m := wire.Message{ESMClass: 4, Text: []byte("stat:UNDELIV err:001")}
		f := wire.New(wire.DeliverSM, 0, 5, m.Body())
		smsc.send(f)
		if got := esme.want(wire.DeliverSM); !bytes.Equal(got.Body(), f.Body()) {
			t.Errorf("got %q", got)
		}
		if got := r.value("smpponce_receipts_total", "state", "failed_permanent", "result", "unmatched"); got != 1 {
			t.Errorf("%v counted, want 1", got)
		}
		if len(r.ledger.lookups) != 0 {
			t.Errorf("looked up %v", r.ledger.lookups)
		}
	})
}

func TestAReceiptThatWaitsKeepsItsOwnFrame(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.ledger.parks = true
		esme, smsc := r.bound()
		smsc.send(receiptFrame(5, "abc", "DELIVRD"))
		synctest.Wait()
		for i := range uint32(50) { // they take its place in the reader's buffer
			smsc.send(wire.New(wire.DeliverSM, 0, i, bytes.Repeat([]byte{0xAA}, 300)))
			esme.want(wire.DeliverSM)
		}
		r.ledger.parked[0](ledger.Found{Known: true, ESMEID: []byte("told")})
		got := esme.want(wire.DeliverSM)
		if !bytes.Contains(got, []byte("id:told sub:001")) || !bytes.HasSuffix(got, []byte("told\x00")) || bytes.Contains(got, []byte{0xAA}) {
			t.Errorf("got %q", got)
		}
	})
}
