package proxy

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

// submissionFrames make an ordinary submission of each kind.
var submissionFrames = map[string]func(sequence uint32, m *wire.Message) wire.Frame{
	"submit_sm": func(sequence uint32, m *wire.Message) wire.Frame { return m.Submit(sequence) },
	"data_sm": func(sequence uint32, m *wire.Message) wire.Frame {
		return wire.New(wire.DataSM, 0, sequence, m.DataBody())
	},
	"submit_multi": func(sequence uint32, m *wire.Message) wire.Frame {
		body, to := m.Body(), "\x01\x01491701234567\x00" // the destination of a submit_sm, and of many
		list := "\x02\x01" + to + "\x02friends\x00"
		return wire.New(wire.SubmitMulti, 0, sequence, bytes.Replace(body, []byte(to), []byte(list), 1))
	},
}

func ordinary(text string) *wire.Message {
	return &wire.Message{Source: wire.Address{TON: 5, Number: "acme"}, Destination: wire.Address{TON: 1, NPI: 1, Number: "491701234567"},
		RegisteredDelivery: 1, Text: []byte(text)}
}

func eachKind(t *testing.T, test func(t *testing.T, kind string, frame func(sequence uint32, m *wire.Message) wire.Frame)) {
	for kind, frame := range submissionFrames {
		t.Run(kind, func(t *testing.T) { test(t, kind, frame) })
	}
}

func TestEverySubmissionGoesThroughTheLedgerAndGetsItsOwnAnswer(t *testing.T) {
	eachKind(t, func(t *testing.T, kind string, frame func(uint32, *wire.Message) wire.Frame) {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			f := frame(7, ordinary("hello"))
			esme.send(f)
			got := smsc.want(f.Command())
			if !bytes.Equal(renumbered(got, 7), f) {
				t.Errorf("got  %x\nwant %x", got, f)
			}
			smsc.send(wire.New(wire.QuerySM|wire.Response, 0, got.Sequence(), []byte("1\x00"))) // which answers something else
			body := []byte("0A1B\x00\x01\x01\x01491701234567\x00\x00\x00\x00\x0B")              // of a submit_multi_resp: one destination failed
			smsc.send(wire.New(f.Command()|wire.Response, 0, got.Sequence(), body))
			back := esme.want(f.Command() | wire.Response)
			if back.Sequence() != 7 || back.Status() != 0 || !bytes.Equal(back.Body(), body) {
				t.Errorf("got %x, want body %x", back, body)
			}
			if s := view(r.ledger, func() []ledger.Response { return r.ledger.settled }); len(s) != 1 || string(s[0].MessageID) != "0A1B" || !bytes.Equal(s[0].Body, body) {
				t.Errorf("the ledger was told %+v", s)
			}
			if n := r.value("smpponce_pdus_total", "leg", "smsc", "direction", "out", "command", kind); n != 1 {
				t.Errorf("%v counted, want 1", n)
			}
		})
	})
}

func TestWhatTheSMSCRefusesIsRelayedAsItIs(t *testing.T) {
	eachKind(t, func(t *testing.T, _ string, frame func(uint32, *wire.Message) wire.Frame) {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			for i, body := range [][]byte{nil, {0}, []byte("\x00\x04\x25\x00\x01\x01")} {
				f := frame(uint32(i), ordinary("hello"))
				esme.send(f)
				smsc.send(wire.New(f.Command()|wire.Response, 0x450, smsc.want(f.Command()).Sequence(), body))
				if got := esme.want(f.Command() | wire.Response); got.Status() != 0x450 || !bytes.Equal(got.Body(), body) {
					t.Errorf("got %x, want body %x", got, body)
				}
			}
			f := frame(9, ordinary("hello"))
			esme.send(f)
			smsc.send(wire.New(wire.GenericNack, 3, smsc.want(f.Command()).Sequence(), nil))
			if got := esme.want(wire.GenericNack); got.Sequence() != 9 || got.Status() != 3 {
				t.Errorf("got %x, want the generic_nack", got)
			}
		})
	})
}

// What the ledger refuses by itself has a body that clients can read: all but a submit_sm_resp have one.
func TestARefusalOfOurOwnIsOfTheRightCommandAndShape(t *testing.T) {
	bodies := map[string][]byte{"submit_sm": nil, "data_sm": {0}, "submit_multi": {0, 0}}
	eachKind(t, func(t *testing.T, kind string, frame func(uint32, *wire.Message) wire.Frame) {
		for name, answer := range map[string]ledger.Answer{
			"retry": {Status: 0x14, Verdict: ledger.Retry}, "refuse": {Status: 0xC4, Verdict: ledger.Refuse}, "fail": {Status: 8, Verdict: ledger.Fail},
		} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, nil, func(r *rig) {
					r.ledger.stalls = true
					esme, _ := r.bound()
					f := frame(3, ordinary("hello"))
					esme.send(f)
					synctest.Wait()
					r.ledger.waiting[0].Waiter.Answer(answer)
					got := esme.want(f.Command() | wire.Response)
					if got.Sequence() != 3 || got.Status() != answer.Status || !bytes.Equal(got.Body(), bodies[kind]) {
						t.Errorf("got %x, want status %x, body %x", got, answer.Status, bodies[kind])
					}
				})
			})
		}
		t.Run("shutdown", func(t *testing.T) {
			inBubble(t, nil, func(r *rig) {
				esme, smsc := r.bound()
				f := frame(1, ordinary("pending"))
				esme.send(f)
				smsc.want(f.Command())
				ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
				defer cancel()
				over := make(chan error)
				go func() { over <- r.proxy.Shutdown(ctx) }()
				synctest.Wait()
				esme.send(frame(2, ordinary("late")))
				got := esme.want(f.Command() | wire.Response)
				if got.Sequence() != 2 || got.Status() != retryStatus || !bytes.Equal(got.Body(), bodies[kind]) {
					t.Errorf("got %x, want retry_status, body %x", got, bodies[kind])
				}
				_, _ = esme.Close(), smsc.Close()
				<-over
			})
		})
	})
}

func TestEverySubmissionKeepsAnUnbindWaitingAndCountsAsPending(t *testing.T) {
	eachKind(t, func(t *testing.T, _ string, frame func(uint32, *wire.Message) wire.Frame) {
		inBubble(t, func(o *Options) { unprobed(o); o.MaxPending = 1 }, func(r *rig) {
			esme, smsc := r.bound()
			f := frame(1, ordinary("first"))
			esme.send(f, frame(2, ordinary("second")), wire.New(wire.Unbind, 0, 3, nil))
			first := smsc.want(f.Command())
			smsc.wantNothing(10 * time.Second)
			smsc.send(wire.New(f.Command()|wire.Response, 0, first.Sequence(), []byte("1\x00")))
			second := smsc.want(f.Command())
			smsc.wantNothing(10 * time.Second)
			smsc.send(wire.New(f.Command()|wire.Response, 0, second.Sequence(), []byte("2\x00")))
			smsc.want(wire.Unbind)
		})
	})
}

func TestTheLedgerIsToldWhatASubmissionSaysOfItself(t *testing.T) {
	hasher := newFakeLedger().Hasher("acme")
	eachKind(t, func(t *testing.T, kind string, frame func(uint32, *wire.Message) wire.Frame) {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			m := ordinary("Your code is 123456. Do not tell.")
			m.Validity = "000001000000000R"
			m.TLVs = []wire.TLV{{Tag: 0x0204, Value: []byte{0x12, 0x34}}, {Tag: 0x0017, Value: []byte{0, 0, 0x0E, 0x10}},
				{Tag: 0x020C, Value: []byte{1, 2}}, {Tag: 0x020E, Value: []byte{3}}, {Tag: 0x020F, Value: []byte{2}}}
			f := frame(1, m)
			esme.send(f)
			smsc.want(f.Command())
			got := view(r.ledger, func() ledger.Submission { return r.ledger.claimed[0] })
			if got.Source != hasher.Address([]byte("acme")) || got.Destination != hasher.Address([]byte("491701234567")) || got.Masked != "********4567" {
				t.Errorf("from %x to %x, %s", got.Source, got.Destination, got.Masked)
			}
			if !got.ReceiptRequested || got.Reference != 0x1234 || got.Several != (kind == "submit_multi") {
				t.Errorf("got %+v", got)
			}
			if want := (ledger.Part{Group: got.Part.Group, Reference: 0x0102, Total: 3, Number: 2}); got.Part != want || got.Part.Group == ([8]byte{}) {
				t.Errorf("part %+v, want %+v", got.Part, want)
			}
			if want := [2]ledger.Beginning{hasher.Beginning([]byte("Yourcodeis123456")), hasher.Beginning([]byte("Yourcod"))}; got.Beginnings != want {
				t.Errorf("it begins with %x, want %x", got.Beginnings, want)
			}
			lasts := 24 * time.Hour
			if kind == "data_sm" {
				lasts = time.Hour
			}
			if got.ValidFor != lasts || got.ValidUntil != 0 {
				t.Errorf("it is of use for %v, until %d; want %v", got.ValidFor, got.ValidUntil, lasts)
			}
		})
	})
}

// Messages that differ in what counts have different groups, parts of one message have one.
func TestTheGroupOfAPartIsThatOfItsMessage(t *testing.T) {
	part := func(change func(*wire.Message)) *wire.Message {
		m := ordinary("\x05\x00\x03\x2A\x03\x01text")
		m.ESMClass = 0x40
		change(m)
		return m
	}
	frames := []struct {
		name, group string
		f           wire.Frame
	}{
		{"first", "a", part(func(*wire.Message) {}).Submit(1)},
		{"second", "a", part(func(m *wire.Message) { m.Text = []byte("\x05\x00\x03\x2A\x03\x02more text") }).Submit(2)},
		{"under another reference", "a", part(func(m *wire.Message) { m.Text[3]++ }).Submit(3)},
		{"of another total", "b", part(func(m *wire.Message) { m.Text[4]++ }).Submit(4)},
		{"to another destination", "c", part(func(m *wire.Message) { m.Destination.Number += "0" }).Submit(5)},
		{"from another source", "d", part(func(m *wire.Message) { m.Source.NPI++ }).Submit(6)},
		{"in another form", "e", part(func(m *wire.Message) { m.Text = []byte("\x06\x08\x04\x00\x2A\x03\x01text") }).Submit(7)},
		{"to several", "f", submissionFrames["submit_multi"](8, part(func(*wire.Message) {}))},
		{"no part", "", part(func(m *wire.Message) { m.ESMClass = 0 }).Submit(9)},
		{"two references", "", part(func(m *wire.Message) {
			m.TLVs = []wire.TLV{{Tag: 0x020C, Value: []byte{1, 2}}, {Tag: 0x020E, Value: []byte{3}}, {Tag: 0x020F, Value: []byte{1}}}
		}).Submit(10)},
	}
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		groups := map[string][8]byte{}
		for i, f := range frames {
			esme.send(f.f)
			smsc.want(f.f.Command())
			got := view(r.ledger, func() ledger.Part { return r.ledger.claimed[i].Part })
			if f.group == "" {
				if got != (ledger.Part{}) {
					t.Errorf("%s: got %+v, want none", f.name, got)
				}
				continue
			}
			if known, ok := groups[f.group]; ok && got.Group != known {
				t.Errorf("%s is of a group of its own", f.name)
			} else if !ok {
				for other, g := range groups {
					if g == got.Group {
						t.Errorf("%s is of group %s", f.name, other)
					}
				}
			}
			groups[f.group] = got.Group
		}
	})
}

// The ledger says under which reference a part is to go out, and may say so anew each time.
func TestAPartGoesOutUnderTheReferenceOfItsGroup(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		r.ledger.stalls = true
		esme, smsc := r.bound()
		m := ordinary("\x05\x00\x03\x2A\x03\x01text")
		m.ESMClass = 0x40
		f := m.Submit(1)
		esme.send(f)
		synctest.Wait()
		c := r.ledger.waiting[0]
		for _, reference := range []uint16{7, 0x2A, 0x2A, 0x80} {
			c.Part.Reference = reference
			r.ledger.forward(c)
			m.Text[3] = byte(reference)
			if got := smsc.want(wire.SubmitSM); !bytes.Equal(renumbered(got, 1), m.Submit(1)) {
				t.Errorf("got  %x\nwant %x", got, m.Submit(1))
			}
		}
	})
}

func TestTheLedgerIsToldWhatAReceiptSaysOfItsMessage(t *testing.T) {
	hasher := newFakeLedger().Hasher("acme")
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		m := wire.Message{Source: wire.Address{TON: 1, NPI: 1, Number: "491701234567"}, Destination: wire.Address{TON: 5, Number: "acme"}, ESMClass: 4,
			Text: []byte("id:77 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:Your code is 123456. D"),
			TLVs: []wire.TLV{{Tag: 0x0204, Value: []byte{0x12, 0x34}}}}
		smsc.send(wire.New(wire.DeliverSM, 0, 5, m.Body()))
		esme.want(wire.DeliverSM)
		got := view(r.ledger, func() ledger.Receipt { return r.ledger.receipts[0] })
		if got.Reference != 0x1234 || got.Beginnings != [2]ledger.Beginning{hasher.Beginning([]byte("Yourcodeis123456")), hasher.Beginning([]byte("Yourcod"))} {
			t.Errorf("got %+v", got)
		}
		if got.Source != hasher.Address([]byte("acme")) || got.Destination != hasher.Address([]byte("491701234567")) || string(got.ID) != "77" {
			t.Errorf("got %+v", got)
		}
	})
}
