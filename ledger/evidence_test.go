package ledger

import (
	"fmt"
	"testing"
	"time"
)

// lose submits a message and ends its leg and session: it is in doubt.
func (r *rig) lose(text string, options ...option) *message {
	r.Helper()
	b := r.bind("acme")
	m := b.submit(text, options...).isForwarded(1)
	b.endBoth()
	return m
}

func (r *rig) isInDoubt(n float64) {
	r.Helper()
	if got := r.metric("smpponce_in_doubt"); got != n {
		r.Fatalf("in doubt %v, want %v", got, n)
	}
}

func (r *rig) isSettled(by Evidence, n float64) {
	r.Helper()
	if got := r.metric(fmt.Sprintf("smpponce_in_doubt_settled_total{evidence=%q}", by)); got != n {
		r.Fatalf("settled by %s %v times, want %v", by, got, n)
	}
}

// between is what may happen before a receipt comes.
var between = map[string]func(*rig){
	"at once":                    func(*rig) {},
	"hours later":                func(r *rig) { r.wait(30 * time.Hour) },
	"after a restart":            func(r *rig) { r.kill(0) },
	"long after a restart":       func(r *rig) { r.kill(time.Minute); r.wait(30 * time.Hour) },
	"after two restarts":         func(r *rig) { r.wait(30 * time.Hour); r.kill(0); r.wait(time.Hour); r.kill(0) },
	"restarted by a checkpoint":  func(r *rig) { r.checkpoint(); r.bind("acme"); r.wait(time.Hour); r.kill(0) },
	"after the power was cut":    func(r *rig) { r.wait(25 * time.Hour); r.bind("acme").submit("syncs"); r.cutPower(0) },
	"restarted before its sweep": func(r *rig) { r.wait(11 * time.Minute); r.kill(0) },
}

func TestAReceiptThatCanBelongToNothingElseSettlesWhatIsInDoubt(t *testing.T) {
	for when, happens := range between {
		t.Run(when, func(t *testing.T) {
			r := newRig(t)
			m := r.lose("A", withID("a"), beginning("A long text", "A lo"))
			r.lose("B", to("elsewhere"))
			happens(r)
			r.ask(m.receipt("77", func(q *Receipt) { q.Beginnings = r.bind("acme").beginnings("", "A lo") }), 0).isKnownAs("77")
			r.isSettled(ByElimination, 1)
			r.ask(m.receipt("77"), 0).isKnownAs("77")
			r.kill(0)
			r.ask(m.receipt("77"), 0).isKnownAs("77")
			r.isSettled(ByElimination, 0)
		})
	}
}

func TestWhoIsHeldGetsTheAnswerThatAReceiptProvedAndThenTheReceipt(t *testing.T) {
	for name, c := range map[string]struct {
		options []option
		body    string
	}{
		"content":              {nil, "77\x00"},
		"request id":           {[]option{withID("a")}, "77\x00"},
		"several destinations": {[]option{several, referring(5)}, "77\x00\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.lose("A", c.options...)
			s := r.bind("acme")
			m := s.submit("A", c.options...).isForwarded(0).waits()
			q := r.ask(m.receipt("77"), 3*time.Second).isKnownAs("77")
			if a := m.answer(); a.Status != 0 || string(a.Body) != c.body || a.Verdict != Replay || q.answers != 1 {
				t.Errorf("answered with %+v, and the receipt told after %d answers", a, q.answers)
			}
			r.isInDoubt(0)
		})
	}
}

func TestWhatAReceiptProvedIsReplayedAfterARestart(t *testing.T) {
	r := newRig(t)
	m := r.lose("A")
	r.ask(m.receipt("77"), 0)
	r.cutPower(time.Second) // outcomes are not synced: it is in doubt again
	r.isInDoubt(1)
	r.ask(m.receipt("77"), 0).isKnownAs("77")
	r.kill(time.Second)
	r.bind("acme").submit("A").isForwarded(0).isAnswered("77", Replay)
	r.bind("acme").submit("A").isForwarded(1)
}

func TestWhatWasLostTwiceIsSettledByOneReceipt(t *testing.T) {
	for when, happens := range between {
		t.Run(when, func(t *testing.T) {
			r := newRig(t)
			r.lose("A", withID("a"))
			r.wait(time.Minute)
			m := r.lose("A", withID("a"))
			happens(r)
			r.ask(m.receipt("77"), 0).isKnownAs("77")
			r.isSettled(ByElimination, 1)
			other := r.lose("B")
			r.ask(other.receipt("78"), 0).isUnknown() // it may be of A's other attempt
		})
	}
}

// Ids of few digits are often those of others in another form: 18 is 0x12.
func TestAnIDThatIsAnotherDestinationsInAnotherFormProvesAcceptance(t *testing.T) {
	r := newRig(t)
	r.bind("acme").submit("B", to("elsewhere")).accept("12")
	m := r.lose("A")
	r.ask(m.receipt("18"), 0).isKnownAs("18")
	r.isInDoubt(0)
}

func TestAReceiptProvesNothing(t *testing.T) {
	type change = func(*Receipt)
	for name, c := range map[string]struct {
		policy  func(*Policy)
		options []option
		happens func(*rig)
		receipt change
	}{
		"while another to its destination is in flight":                                     {happens: func(r *rig) { r.bind("acme").submit("B") }},
		"while another is in flight from another source, for the SMSC may have replaced it": {happens: func(r *rig) { r.bind("acme").submit("B", from("elsewhere")) }},
		"while another is in doubt":                                                         {happens: func(r *rig) { r.lose("B") }},
		"while another is in doubt and wants none":                                          {happens: func(r *rig) { r.lose("B", withoutReceipt) }},
		"while an attempt in doubt was superseded":                                          {happens: func(r *rig) { r.supersede("B") }},
		"while one of a request id was":                                                     {happens: func(r *rig) { r.supersede("B", withID("b")) }},
		"while it was in doubt when its time was over": {happens: func(r *rig) {
			r.lose("B")
			s := r.bind("acme")
			r.wait(20 * time.Minute)
			s.submit("B").isForwarded(1).accept("1")
		}},
		"while there is one to several destinations":  {happens: func(r *rig) { r.bind("acme").submit("B", several, to("elsewhere")) }},
		"while there was one to several destinations": {happens: func(r *rig) { r.lose("B", several, to("elsewhere")) }},
		"where none was asked for":                    {options: []option{withoutReceipt}},
		"where the text begins otherwise": {options: []option{beginning("A long text that", "A long t")},
			receipt: func(q *Receipt) { q.Beginnings = [2]Beginning{{1}, {}} }},
		"where the short text begins otherwise": {options: []option{beginning("A long text that", "A long t")},
			receipt: func(q *Receipt) { q.Beginnings[1] = Beginning{1} }},
		"of another destination":          {receipt: func(q *Receipt) { q.Destination[0]++ }},
		"of another source":               {receipt: func(q *Receipt) { q.Source[0]++ }},
		"of another reference":            {options: []option{referring(5)}, receipt: func(q *Receipt) { q.Reference = 6 }},
		"of a reference that two carried": {options: []option{referring(5)}, happens: func(r *rig) { r.bind("acme").submit("B", referring(5)).accept("1") }},
		"of a reference that another carried": {receipt: func(q *Receipt) { q.Reference = 5 },
			happens: func(r *rig) { r.bind("acme").submit("B", referring(5)).accept("1") }},
		"of a reference that one to several destinations carried": {options: []option{referring(5)},
			happens: func(r *rig) { r.bind("acme").submit("B", several, to("elsewhere"), referring(5)) }},
		"without an id":                     {receipt: func(q *Receipt) { q.ID = nil }},
		"where receipts.adopt is off":       {options: []option{referring(5)}, policy: func(p *Policy) { p.Adopt = AdoptOff }},
		"without a reference, by reference": {policy: func(p *Policy) { p.Adopt = AdoptReference }},
		"of a message that was accepted under another form of the id": {receipt: func(q *Receipt) { q.ID = []byte("00011259375") },
			happens: func(r *rig) { r.bind("acme").submit("B").accept("ABCDEF") }},
		"of one to several destinations that was accepted under another form": {receipt: func(q *Receipt) { q.ID = []byte("00011259375") },
			happens: func(r *rig) { r.bind("acme").submit("B", several, to("elsewhere")).accept("ABCDEF") }},
		"after one was accepted without an id": {happens: func(r *rig) { r.bind("acme").submit("B").accept("") }},
		"after more were live than may be": {happens: func(r *rig) {
			r.l.book.live += maxLive
			r.lose("B")
			r.l.book.live -= maxLive
		}},
	} {
		if c.policy == nil {
			c.policy = func(*Policy) {}
		}
		if c.happens == nil {
			c.happens = func(*rig) {}
		}
		if c.receipt == nil {
			c.receipt = func(*Receipt) {}
		}
		for when, happens := range between {
			t.Run(name+", "+when, func(t *testing.T) {
				r := newRig(t, func(_ *Options, p *Policy) { c.policy(p) })
				m := r.lose("A", c.options...)
				c.happens(r)
				happens(r)
				r.ask(m.receipt("11259375", c.receipt), 0).isUnknown()
				if n := r.metric(`smpponce_in_doubt_settled_total{evidence="receipt_elimination"}`) + r.metric(`smpponce_in_doubt_settled_total{evidence="receipt_reference"}`); n != 0 {
					t.Errorf("%v settled", n)
				}
			})
		}
	}
}

// supersede has a message of which one attempt is in doubt and another was accepted, and answered.
func (r *rig) supersede(text string, options ...option) {
	r.Helper()
	r.lose(text, options...)
	r.wait(time.Minute)
	r.bind("acme").submit(text, options...).isForwarded(1).accept("1")
}

func TestWhatWasSupersededStandsInTheWayForAsLongAsItsReceiptsCanCome(t *testing.T) {
	r := newRig(t)
	r.supersede("B")
	r.wait(71 * time.Hour)
	m := r.lose("A")
	r.ask(m.receipt("77"), 0).isUnknown()
	r.wait(time.Hour)
	r.ask(m.receipt("77"), 0).isKnownAs("77")
}

func TestAnEchoedReferenceProvesAcceptanceWhateverElseIsUnderWay(t *testing.T) {
	for when, happens := range between {
		for _, adopt := range []Adopt{AdoptElimination, AdoptReference} {
			t.Run(fmt.Sprint(when, ", adopt ", adopt), func(t *testing.T) {
				r := newRig(t, func(_ *Options, p *Policy) { p.Adopt = adopt })
				m := r.lose("A", referring(5), withoutReceipt)
				r.lose("B", referring(6))
				r.bind("acme").submit("C")
				r.bind("acme").submit("D", referring(5), to("elsewhere"))
				happens(r)
				r.ask(m.receipt("77"), 0).isKnownAs("77")
				r.isSettled(ByReference, 1)
			})
		}
	}
}

func TestAResubmissionsOwnReferenceCountsForItsMessage(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = ForwardInDoubt })
	first := r.lose("A", referring(5))
	second := r.lose("A", referring(6))
	r.lose("B")
	r.ask(second.receipt("2"), 0).isKnownAs("2")
	r.ask(first.receipt("1"), 0).isKnownAs("2") // of the other attempt: the ESME will be told 2
	r.isSettled(ByReference, 1)
	r.bind("acme").submit("A", referring(7)).isForwarded(0).isAnswered("2", Replay)
}

// CASES 16.
func TestAReceiptThatOvertakesItsAnswerIsNotStolenByWhatIsInDoubt(t *testing.T) {
	r := newRig(t)
	r.lose("A")
	s := r.bind("acme")
	b := s.submit("B")
	q := r.ask(b.receipt("77"), 3*time.Second).waits()
	r.at(2)
	b.accept("77")
	q.isKnownAs("77")
	again := s.submit("B")
	q = r.ask(again.receipt("78"), 3*time.Second).waits()
	r.at(5)
	q.isUnknown() // its answer is slow
	again.accept("78")
	r.ask(again.receipt("78"), 0).isKnownAs("78")
	r.isInDoubt(1)
}

func TestAReceiptIsNotStolenWhileItsAnswerIsOnItsWayToTheStore(t *testing.T) {
	for name, id := range map[string]string{"the same id": "11259375", "another form of it": "abcdef"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.lose("A")
			b := r.bind("acme").submit("B")
			r.reading = true
			q := r.ask(b.receipt("11259375"), 0).waits()
			r.hang = true
			b.accept(id) // the store is asked before, and memory has let go of it before the store's answer is heard
			reads := r.l.reads.list
			r.l.reads.list = nil
			r.release(nil)
			r.wait(time.Second)
			if len(r.l.book.ids) != 0 {
				t.Fatal("memory has not let go of it")
			}
			for _, q := range reads {
				r.l.queue.add(event{kind: looked, lookup: q})
			}
			r.reading = false
			r.run()
			if len(q.found) != 1 || q.found[0].Known != (id == "11259375") {
				t.Errorf("found %+v", q.found)
			}
			r.isInDoubt(1)
		})
	}
}

func TestAnAnswerThatIsNotWrittenYetCountsInItsOtherForms(t *testing.T) {
	r := newRig(t)
	m := r.lose("A")
	b := r.bind("acme").submit("B")
	r.hang = true
	b.accept("abcdef")
	r.ask(m.receipt("11259375"), 0)
	r.release(nil)
	r.isInDoubt(1)
}

func TestWhatIsOverdueIsSettledByItsReceiptAndTheLateAnswerChangesNothing(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(121)
	m.waits()
	q := r.ask(m.receipt("77"), 3*time.Second).waits()
	r.at(123)
	m.isSentBack()
	r.at(124)
	q.waits() // for the answer that tells it
	again := s.submit("A").isForwarded(0).isAnswered("77", Replay)
	q.isKnownAs("77")
	m.accept("4D")
	s.endBoth()
	r.isInDoubt(0)
	r.isSettled(ByElimination, 1)
	r.isSettled(ByLate, 0)
	r.ask(again.receipt("77"), 0).isKnownAs("77")
	if n := r.l.book.outstanding[m.Destination]; n != 0 {
		t.Errorf("%d outstanding", n)
	}
}

func TestALegThatEndsLeavesWhatAReceiptSettledSettled(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(125)
	r.ask(m.receipt("77"), 0).isKnownAs("77")
	s.endBoth()
	r.isInDoubt(0)
	r.kill(0)
	r.isInDoubt(0)
	r.bind("acme").submit("A").isAnswered("77", Replay)
}

func TestObserveSettlesByReceiptsAndDelaysNone(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
	s := r.bind("acme")
	m := s.submit("A")
	r.at(121)
	r.ask(m.receipt("77"), 0).isKnownAs("77")
	r.isSettled(ByElimination, 1)
	m.isForwarded(1).waits().accept("77") // the SMSC's own answer goes to the ESME
	m.isAnswered("77", Forward)
	lost := r.lose("B")
	r.ask(lost.receipt("78"), 3*time.Second).isKnownAs("78")
}

func TestBypassedMessagesLetNoReceiptProveAnything(t *testing.T) {
	for name, restart := range map[string]func(*rig){"": func(*rig) {}, "after a restart": func(r *rig) { r.kill(0) }} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *Options, _ *Policy) { o.Bypass = true })
			m := r.lose("A", referring(5))
			r.broken = errDisk
			r.bind("acme").submit("B")
			r.broken = nil
			r.wait(time.Second)
			restart(r)
			r.ask(m.receipt("77"), 0).isUnknown()
			r.wait(71 * time.Hour)
			r.ask(m.receipt("77"), 0).isUnknown()
		})
	}
}

func TestAMessageWhoseIntentCouldNotBeCommittedLetsNoReceiptProveAnything(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode = Observe })
	m := r.lose("A", referring(5))
	s := r.bind("acme")
	r.broken = errDisk
	s.submit("B", referring(5)).isForwarded(1)
	r.ask(m.receipt("77"), 0).isUnknown()
	r.broken = nil
	r.wait(time.Second)
	r.ask(m.receipt("77"), 0).isUnknown()
}

func TestTwoReceiptsOfOneMessageWaitAndTheFirstProvesForBoth(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A", referring(5))
	first, second := r.ask(m.receipt("77"), 3*time.Second).waits(), r.ask(m.receipt("77"), 3*time.Second).waits()
	s.endBoth()
	r.bind("acme")
	r.at(3)
	r.isSettled(ByReference, 1)
	first.waits() // for the answer that tells its id
	second.waits()
	r.at(6)
	first.isKnownAs("77")
	second.isKnownAs("77")
}

func TestAReceiptWhoseStoreCannotBeReadProvesNothing(t *testing.T) {
	r := newRig(t)
	m := r.lose("A", referring(5))
	r.disk.broken = errDisk
	r.ask(m.receipt("77"), 0).isUnknown()
	r.isInDoubt(1)
}

func TestOtherFormsOfAnIDAreTheOtherBaseTheOtherCaseAndLeadingZeros(t *testing.T) {
	for id, want := range map[string][]string{
		"11259375":         {"abcdef", "ABCDEF", "00abcdef", "0000000000ABCDEF", "0011259375", "287675253"},
		"ABCDEF":           {"abcdef", "11259375", "0011259375", "00ABCDEF"},
		"0011259375":       {"11259375", "ABCDEF"},
		"f-1":              {"F-1"},
		"ffffffffffffffff": {"18446744073709551615", "FFFFFFFFFFFFFFFF"},
	} {
		got := map[string]bool{}
		for _, form := range otherForms(id) {
			got[form] = true
		}
		for _, form := range want {
			if !got[form] {
				t.Errorf("%s is not known as %s", id, form)
			}
		}
		if got[id] || len(got) > 200 {
			t.Errorf("%s has %d other forms, itself among them: %v", id, len(got), got[id])
		}
	}
}

func TestTheStoreTellsWhoCarriedAReference(t *testing.T) {
	l := open(t, testOptions(t, t.TempDir()))
	defer l.Close()
	e := newESME(t, l, "acme")
	for i, reference := range []uint16{5, 6, 6, 6, 261} {
		s := &sub{esme: e}
		f := e.h.Fingerprint([]byte{byte(i)})
		s.Submission = Submission{Session: e.session, Leg: e.leg, Sequence: uint32(i), At: l.Now(), Key: e.h.Content(f), Fingerprint: f, Reference: reference}
		s.Waiter = s
		l.Claim(&s.Claim)
		s.forwarded()
	}
	for reference, want := range map[uint16]string{5: "[1]", 261: "[5]", 7: "[]"} {
		if got, err := l.store.carried(e.h.reference(Address{}, reference)); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%d was carried by %v, %v; want %s", reference, got, err, want)
		}
	}
	if got, err := l.store.carried(e.h.reference(Address{}, 6)); err != nil || len(got) != 2 || got[0] == got[1] {
		t.Errorf("6 was carried by %v, %v; want any two", got, err)
	}
	l.CloseLeg(e.leg)
	found := make(chan Found, 1)
	l.Lookup("acme", &Receipt{ID: []byte("77"), Reference: 5}, 0, func(f Found) { found <- f })
	if f := <-found; !f.Known || string(f.ESMEID) != "77" {
		t.Errorf("found %+v", f)
	}
}

func TestARunningLedgerLooksForOtherFormsBeforeItEliminates(t *testing.T) {
	l := open(t, testOptions(t, t.TempDir()))
	defer l.Close()
	e := newESME(t, l, "acme")
	known := e.submit("A")
	l.Settle(known.forwarded(), accepted("abcdef"))
	known.answered()
	e.submit("B").forwarded()
	l.CloseLeg(e.leg)
	for _, c := range []struct {
		id   string
		want bool
	}{{"11259375", false}, {"11259376", true}} {
		found := make(chan Found, 1)
		l.Lookup("acme", &Receipt{ID: []byte(c.id)}, 0, func(f Found) { found <- f })
		if f := <-found; f.Known != c.want {
			t.Errorf("%s is found as %+v", c.id, f)
		}
	}
}
