package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"smpponce/test/esme"
	"smpponce/test/history"
	"smpponce/test/wire"
)

// tale makes a history up, line by line.
type tale struct {
	history.History
	now time.Duration
}

const (
	alone = "491510000001" // one text
	twice = "491510000002" // a text that is meant twice
	long  = "491510000003" // two parts
)

func newTale() *tale {
	t := &tale{History: history.History{
		Messages: []history.Message{
			{Account: "acme", Destination: alone, Texts: []string{"Message 1"}, Copies: 1},
			{Account: "acme", Destination: twice, Texts: []string{"Message 2"}, Copies: 2},
			{Account: "acme", Destination: long, Texts: []string{"Message 3.0", "Message 3.1"}, Long: true, Copies: 1},
		},
		Accepted: map[history.Place]string{}, Resent: map[string]int{}, Log: map[string][]string{},
		Settle: time.Second, ClientTimeout: 2 * time.Second, RetryStatus: wire.QueueFull, AnsweredBy: 20 * time.Second,
	}}
	t.Total = 0
	return t
}

// next enters an event ten milliseconds after the one before.
func (t *tale) next(side history.Side, link int, kind history.Kind, f wire.Frame) {
	t.now += 10 * time.Millisecond
	t.Events = append(t.Events, history.Event{At: t.now, Link: history.Link{Side: side, Number: link}, Kind: kind, Frame: f})
}

func text(to string) string {
	return map[string]string{alone: "Message 1", twice: "Message 2", long: "Message 3.0"}[to]
}

// submits, takes, answers and hears are one step each of a message's way: the ESME's, the SMSC's, and back. Sequence numbers are the same on both
// sides.
func (t *tale) submits(link int, sequence uint32, to string, copy int) {
	t.send(link, sequence, to, text(to), copy, 0)
}

func (t *tale) send(link int, sequence uint32, to, text string, copy, part int) {
	m := message(to, text, part)
	t.next(history.ESME, link, history.Sent, m.Submit(sequence))
	t.Events[len(t.Events)-1].Copy = copy
}

func message(to, text string, part int) *wire.Message {
	m := &wire.Message{Destination: wire.Address{Number: to}, Text: []byte(text)}
	if part > 0 {
		m.ESMClass, m.Text = 0x40, append([]byte{5, 0, 3, byte(part >> 8), 2, byte(part)}, m.Text...)
	}
	return m
}

func (t *tale) takes(link int, sequence uint32, to, id string) {
	t.take(link, sequence, to, text(to), id, 0)
}

func (t *tale) take(link int, sequence uint32, to, text, id string, part int) {
	t.next(history.SMSC, link, history.Received, message(to, text, part).Submit(sequence))
	if id != "" {
		t.Accepted[history.Place{Link: history.Link{Side: history.SMSC, Number: link}, Sequence: sequence}] = id
	}
}

func response(status, sequence uint32, id string) wire.Frame {
	var body []byte
	if status == wire.OK {
		body = append([]byte(id), 0)
	}
	return wire.New(wire.SubmitSM|wire.Response, status, sequence, body)
}

func (t *tale) answers(link int, sequence uint32, id string) {
	t.next(history.SMSC, link, history.Sent, response(wire.OK, sequence, id))
}

func (t *tale) hears(link int, sequence uint32, id string) {
	t.next(history.ESME, link, history.Received, response(wire.OK, sequence, id))
}

// goes is the whole way of a message that nothing disturbs.
func (t *tale) goes(link int, sequence uint32, to, id string, copy int) {
	t.submits(link, sequence, to, copy)
	t.takes(link, sequence, to, id)
	t.answers(link, sequence, id)
	t.hears(link, sequence, id)
}

func receipt(sequence uint32, about, id, state string) wire.Frame {
	m := wire.Message{Source: wire.Address{Number: about}, ESMClass: 4,
		Text: fmt.Appendf(nil, "id:%s sub:001 dlvrd:001 stat:%s err:000 text:%s", id, state, text(about)),
		TLVs: []wire.TLV{{Tag: wire.TagReceiptedID, Value: append([]byte(id), 0)}}}
	return wire.New(wire.DeliverSM, 0, sequence, m.Body())
}

// shows is a receipt's way to the ESME, which sees it under told.
func (t *tale) shows(link int, sequence uint32, about, id, told, state string) {
	t.next(history.SMSC, link, history.Sent, receipt(sequence, about, id, state))
	t.next(history.ESME, link, history.Received, receipt(sequence, about, told, state))
}

func (t *tale) acknowledges(side history.Side, link int, sequence uint32, status uint32) {
	kind := history.Sent
	if side == history.SMSC {
		kind = history.Received
	}
	t.next(side, link, kind, esme.Acknowledge(receipt(sequence, alone, "", ""), status))
}

func (t *tale) ends(side history.Side, link int) { t.next(side, link, history.Ended, nil) }

func (t *tale) parts(link int) {
	t.next(history.ESME, link, history.Sent, wire.New(wire.Unbind, 0, 99, nil))
	t.next(history.ESME, link, history.Received, wire.New(wire.Unbind|wire.Response, 0, 99, nil))
	t.ends(history.ESME, link)
}

func (t *tale) waits(d time.Duration) { t.now += d }

// want ends what has not ended, and holds the tale against the rules: these, and no others, must be broken.
func (t *tale) want(test *testing.T, rules ...string) {
	test.Helper()
	t.waits(5 * time.Second)
	for link := 1; link < 4; link++ {
		for _, side := range []history.Side{history.ESME, history.SMSC} {
			if !slices.ContainsFunc(t.Events, func(e history.Event) bool {
				return e.Kind == history.Ended && e.Link == history.Link{Side: side, Number: link}
			}) {
				t.ends(side, link)
			}
		}
	}
	var got []string
	for _, f := range history.Check(&t.History) {
		got = append(got, f.Rule)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, rules) {
		test.Errorf("broken are %q, want %q:\n%v", got, rules, history.Check(&t.History))
	}
}

func TestAHistoryWithoutAFaultBreaksNoRule(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.goes(1, 2, twice, "b", 0)
	h.goes(1, 3, twice, "c", 1)
	h.part(1, 4, 0, 7)
	h.part(1, 5, 1, 7)
	h.shows(1, 1, alone, "a", "a", "DELIVRD")
	h.acknowledges(history.ESME, 1, 1, wire.OK)
	h.acknowledges(history.SMSC, 1, 1, wire.OK)
	h.want(t)
}

// part is the whole way of one part of the long message.
func (t *tale) part(link int, sequence uint32, n, reference int) {
	text, id := fmt.Sprint("Message 3.", n), fmt.Sprint("long", sequence)
	t.send(link, sequence, long, text, 0, 7<<8|n+1)
	t.take(link, sequence, long, text, id, reference<<8|n+1)
	t.answers(link, sequence, id)
	t.hears(link, sequence, id)
}

func TestAResubmissionThatIsAnsweredWithTheFirstIDBreaksNoRule(t *testing.T) {
	h := newTale()
	h.submits(1, 1, alone, 0)
	h.takes(1, 1, alone, "a")
	h.ends(history.ESME, 1)
	h.answers(1, 1, "a")
	h.submits(2, 1, alone, 0)
	h.hears(2, 1, "a")
	h.want(t)
}

func TestADuplicateIsFoundUnlessItWasToldOf(t *testing.T) {
	h := newTale()
	again := func() {
		h.submits(1, 1, alone, 0)
		h.takes(1, 1, alone, "a")
		h.ends(history.ESME, 1)
		h.goes(2, 1, alone, "b", 0)
	}
	again()
	h.want(t, "a message goes out once, or again as counted")

	h = newTale()
	again()
	h.Resent["0001"], h.Total = 1, 1
	h.want(t)
}

func TestADuplicateIsExcusedOnlyWhereTwoBreaksMet(t *testing.T) {
	const found = "a message goes out once, or again as counted"
	for name, c := range map[string]struct {
		breaks func(*tale)
		rules  []string
	}{
		"both at once":    {func(h *tale) { h.next(history.ESME, 1, history.Broken, nil); h.ends(history.SMSC, 1) }, nil},
		"the ESME's only": {func(h *tale) { h.next(history.ESME, 1, history.Broken, nil) }, []string{found}},
		"the SMSC's only": {func(h *tale) { h.ends(history.SMSC, 1) }, []string{found}},
		"the SMSC's long after": {func(h *tale) {
			h.next(history.ESME, 1, history.Broken, nil)
			h.waits(time.Second)
			h.ends(history.SMSC, 1)
		}, []string{found}},
		"the SMSC's leg is unbound": {func(h *tale) {
			h.next(history.ESME, 1, history.Broken, nil)
			h.next(history.SMSC, 1, history.Sent, wire.New(wire.Unbind|wire.Response, 0, 9, nil))
			h.ends(history.SMSC, 1)
		}, []string{found}},
		"the proxy is killed":  {func(h *tale) { h.next(history.ESME, 1, history.Broken, nil); h.happens("killed") }, nil},
		"the proxy is started": {func(h *tale) { h.next(history.ESME, 1, history.Broken, nil); h.happens(history.Started) }, []string{found}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTale()
			h.submits(1, 1, alone, 0)
			h.takes(1, 1, alone, "a")
			h.answers(1, 1, "a")
			c.breaks(h)
			h.ends(history.ESME, 1)
			h.waits(time.Second)
			h.goes(2, 1, alone, "b", 0)
			h.want(t, c.rules...)
		})
	}
}

func (t *tale) happens(what string) {
	t.next(history.Proxy, 0, history.Happened, nil)
	t.Events[len(t.Events)-1].Note = what
}

func TestADuplicateOfWhatWasNotDeliveredIsMeant(t *testing.T) {
	for state, rules := range map[string][]string{"UNDELIV": nil, "DELIVRD": {"a message goes out once, or again as counted"}} {
		h := newTale()
		h.submits(1, 1, alone, 0)
		h.takes(1, 1, alone, "a")
		h.ends(history.ESME, 1)
		h.shows(2, 1, alone, "a", "a", state)
		h.acknowledges(history.ESME, 2, 1, wire.OK)
		h.acknowledges(history.SMSC, 2, 1, wire.OK)
		h.goes(2, 2, alone, "b", 0)
		h.want(t, rules...)
	}
}

func TestASwallowedTextIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, twice, "b", 0)
	h.submits(1, 2, twice, 1)
	h.hears(1, 2, "b")
	h.want(t, "nothing that was answered is missing")
}

func TestASwallowedTextIsExcusedWhereItsTwinWasAnsweredRightBeforeABreakOrLate(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*tale)
		rules   []string
	}{
		"a break":                {func(h *tale) { h.ends(history.ESME, 1) }, nil},
		"a break long after":     {func(h *tale) { h.waits(3 * time.Second); h.ends(history.ESME, 1) }, []string{"nothing that was answered is missing"}},
		"an unbind":              {func(h *tale) { h.parts(1) }, []string{"nothing that was answered is missing"}},
		"an answer that is late": {func(h *tale) {}, nil},
	} {
		h := newTale()
		h.submits(1, 1, twice, 0)
		h.takes(1, 1, twice, "b")
		h.answers(1, 1, "b")
		if strings.Contains(name, "late") {
			h.waits(2 * time.Second)
		}
		h.hears(1, 1, "b")
		c.between(h)
		h.submits(2, 2, twice, 1)
		h.hears(2, 2, "b")
		h.want(t, c.rules...)
	}
}

func TestALostMessageIsFound(t *testing.T) {
	h := newTale()
	h.submits(1, 1, alone, 0)
	h.hears(1, 1, "invented")
	h.want(t, "an answer carries the id of its message")
}

func TestAnIDOfAnotherMessageIsFound(t *testing.T) {
	h := newTale()
	h.submits(1, 1, alone, 0)
	h.submits(1, 2, twice, 0)
	h.takes(1, 1, alone, "a")
	h.takes(1, 2, twice, "b")
	h.hears(1, 1, "b")
	h.hears(1, 2, "a")
	h.want(t, "an answer carries the id of its message")
}

func TestAnIDThatWasNotGivenYetIsFound(t *testing.T) {
	h := newTale()
	h.submits(1, 1, alone, 0)
	h.hears(1, 1, "a")
	h.takes(1, 1, alone, "a")
	h.want(t, "an answer carries the id of its message")
}

func TestASecondAnswerIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.hears(1, 1, "a")
	h.want(t, "a request is answered once")
}

func TestAnAnswerUnderAForeignSequenceNumberIsFound(t *testing.T) {
	h := newTale()
	h.submits(1, 1, alone, 0)
	h.takes(1, 1, alone, "a")
	h.hears(1, 2, "a")
	h.want(t, "an answer belongs to a request")
}

func TestAMessageThatNobodyMeantIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.take(1, 2, alone, "Message 1 changed", "b", 0)
	h.take(1, 3, "491519999999", "Message 1", "c", 0)
	h.want(t, "everything is about a message that was meant")
}

func TestAnUnansweredSubmissionIsFoundWhereItsConnectionStood(t *testing.T) {
	h := newTale()
	h.submits(1, 1, alone, 0)
	h.takes(1, 1, alone, "a")
	h.waits(30 * time.Second)
	h.want(t, "nobody is left waiting")
}

func TestAStatusThatTheSMSCDidNotSayIsFound(t *testing.T) {
	for status, rules := range map[uint32][]string{wire.QueueFull: nil, 0x45: {"a refusal is the SMSC's, or asks to try again"}} {
		h := newTale()
		h.submits(1, 1, alone, 0)
		h.next(history.ESME, 1, history.Received, response(status, 1, ""))
		h.want(t, rules...)
	}
}

func TestAReceiptUnderAnIDThatWasNotToldIsFound(t *testing.T) {
	for told, rules := range map[string][]string{"a": nil, "b": {"a receipt carries the id that was told"}} {
		h := newTale()
		h.submits(1, 1, alone, 0)
		h.takes(1, 1, alone, "b")
		h.Resent["0001"], h.Total = 1, 1
		h.answers(1, 1, "b")
		h.waits(time.Second)
		h.goes(2, 1, alone, "a", 0)
		h.shows(2, 1, alone, "b", told, "DELIVRD")
		h.want(t, rules...)
	}
}

func TestAReceiptUnderAnIDOfNothingIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.shows(1, 1, alone, "a", "z", "DELIVRD")
	h.want(t, "a receipt carries the id that was told")
}

func TestAnInventedReceiptIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.next(history.ESME, 1, history.Received, receipt(1, alone, "a", "DELIVRD"))
	h.want(t, "a receipt comes from the SMSC")
}

func TestAnAcknowledgementThatTheESMEDidNotGiveIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.shows(1, 1, alone, "a", "a", "DELIVRD")
	h.acknowledges(history.SMSC, 1, 1, wire.OK)
	h.acknowledges(history.ESME, 1, 1, wire.OK)
	h.want(t, "only the ESME acknowledges")
}

func TestAnAcknowledgementWithAnotherStatusIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.shows(1, 1, alone, "a", "a", "DELIVRD")
	h.acknowledges(history.ESME, 1, 1, wire.QueueFull)
	h.acknowledges(history.SMSC, 1, 1, wire.OK)
	h.want(t, "only the ESME acknowledges")
}

func TestPartsUnderTwoReferencesAreFound(t *testing.T) {
	h := newTale()
	h.part(1, 1, 0, 7)
	h.part(1, 2, 1, 8)
	h.want(t, "a handset can put the parts together")
}

func TestAMetricThatTellsAnotherNumberIsFound(t *testing.T) {
	h := newTale()
	h.goes(1, 1, alone, "a", 0)
	h.Total = 1
	h.want(t, "the metric tells what the log tells")
}
