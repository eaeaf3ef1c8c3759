package smsc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

func start(t *testing.T, o smsc.Options) *smsc.Server {
	t.Helper()
	s, err := smsc.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func bound(t *testing.T, s *smsc.Server, command uint32) *esme.Session {
	t.Helper()
	e, err := esme.Bound(bounded(t), s.Addr(), command, "acme")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func bounded(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(stop)
	return ctx
}

// text is a message with a receipt asked for.
func text(s string) wire.Message {
	return wire.Message{
		Source: wire.Address{TON: 5, Number: "Shop"}, Destination: wire.Address{TON: 1, NPI: 1, Number: "4915112345678"},
		RegisteredDelivery: 1, Text: []byte(s),
	}
}

func submit(t *testing.T, e *esme.Session, m wire.Message) uint32 {
	t.Helper()
	n, err := e.Submit(m)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func answer(t *testing.T, e *esme.Session, n uint32) wire.Frame {
	t.Helper()
	f, err := e.Answer(bounded(t), n)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEachSubmissionGetsItsOwnID(t *testing.T) {
	for name, want := range map[string]string{
		"decimal": "2", "hex": "39f99dd6", "upper-hex": "39F99DD6", "padded": "0000000000000002",
		"uuid": "dbd1d8e8-d2a4-4f0e-9d5c-000000000002",
	} {
		e := bound(t, start(t, smsc.Options{IDs: smsc.Forms[name]}), wire.BindTransceiver)
		submit(t, e, text("a"))
		if got := answer(t, e, submit(t, e, text("b"))).ID(); got != want {
			t.Errorf("%s: second id %q, want %q", name, got, want)
		}
	}
}

func TestDuplicatesAreCountedByContentWhereverTheTextStands(t *testing.T) {
	s := start(t, smsc.Options{})
	e := bound(t, s, wire.BindTransceiver)
	same := text("")
	same.TLVs = []wire.TLV{{Tag: wire.TagPayload, Value: []byte("hello")}}
	other := text("hello")
	other.Destination.Number = "4915112345679"
	for _, m := range []wire.Message{text("hello"), text("hello!"), same, other} {
		answer(t, e, submit(t, e, m))
	}
	if got := s.Counts(); got.Received != 4 || got.Accepted != 4 || got.Duplicates != 1 {
		t.Errorf("%+v, want 4 accepted and 1 duplicate", got)
	}
	if got := s.Received()[2]; got.Copy != 2 || got.ID != "3" || !got.Answered {
		t.Errorf("the repeat: %+v, want copy 2, id 3, answered", got)
	}
}

func TestAnAnswerWaitsForItsGate(t *testing.T) {
	gate := make(chan struct{})
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		if m.N == 1 {
			return smsc.Plan{Gate: gate}
		}
		return smsc.Plan{}
	}})
	e := bound(t, s, wire.BindTransceiver)
	first, second := submit(t, e, text("a")), submit(t, e, text("b"))
	answer(t, e, second)
	if n := len(e.Answers(first)); n != 0 {
		t.Errorf("%d answers before the gate is open", n)
	}
	close(gate)
	if got := answer(t, e, first); got.ID() != "1" {
		t.Errorf("answered with %q, want 1", got.ID())
	}
}

func TestARejectedSubmissionIsNoDuplicateOfAnother(t *testing.T) {
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		return [...]smsc.Plan{{Status: wire.Throttled}, {Status: 0x450, Nack: true}, {}}[m.N-1]
	}})
	e := bound(t, s, wire.BindTransmitter)
	for i, want := range []struct{ command, status uint32 }{
		{wire.SubmitSM | wire.Response, wire.Throttled}, {wire.GenericNack, 0x450}, {wire.SubmitSM | wire.Response, 0},
	} {
		f := answer(t, e, submit(t, e, text("a")))
		if f.Command() != want.command || f.Status() != want.status {
			t.Errorf("answer %d: %#x %#x, want %#x", i, f.Command(), f.Status(), want)
		}
	}
	if got := s.Counts(); got.Accepted != 1 || got.Rejected != 2 || got.Duplicates != 0 {
		t.Errorf("%+v, want 1 accepted, 2 rejected", got)
	}
}

func TestADropComesAtTheMomentThatTheScriptSays(t *testing.T) {
	for _, c := range []struct {
		name            string
		plan            smsc.Plan
		taken, answered int
		ends            error
	}{
		{"before the submission is taken", smsc.Plan{Drop: smsc.Finish}, 1, 1, io.EOF},
		{"accepted but unanswered", smsc.Plan{Drop: smsc.Finish, When: smsc.Unanswered}, 2, 1, io.EOF},
		{"right after the answer", smsc.Plan{Drop: smsc.Finish, When: smsc.Answered}, 2, 2, io.EOF},
		{"reset, unanswered", smsc.Plan{Drop: smsc.Reset, When: smsc.Unanswered}, 2, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
				if string(m.Message.Text) == "drop" {
					return c.plan
				}
				return smsc.Plan{}
			}})
			e := bound(t, s, wire.BindTransceiver)
			first := submit(t, e, text("a"))
			answer(t, e, first)
			second := submit(t, e, text("drop"))
			_, _ = e.Submit(text("behind")) // the connection may be gone already
			err := e.Ended(bounded(t))
			if c.ends != nil && err != c.ends || c.ends == nil && (err == io.EOF || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("the connection ended with %v, want %v", err, c.ends)
			}
			if got := len(e.Answers(first)) + len(e.Answers(second)); got != c.answered {
				t.Errorf("%d answers, want %d", got, c.answered)
			}
			if got := s.Counts(); got.Accepted != c.taken || got.Drops != 1 {
				t.Errorf("%+v, want %d accepted and 1 drop", got, c.taken)
			}
		})
	}
}

func TestADropThatIsDelayedLeavesUnansweredWhatTheScriptSaysAndTakesTheRest(t *testing.T) {
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		if string(m.Message.Text) == "drop" {
			return smsc.Plan{Drop: smsc.Reset, When: smsc.Unanswered, Delay: 200 * time.Millisecond}
		}
		return smsc.Plan{Silent: m.N == 2}
	}})
	e := bound(t, s, wire.BindTransceiver)
	var all []uint32
	for _, m := range []string{"drop", "silent", "answered"} {
		all = append(all, submit(t, e, text(m)))
	}
	answer(t, e, all[2])
	if err := e.Ended(bounded(t)); errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for i, want := range []int{0, 0, 1} {
		if got := len(e.Answers(all[i])); got != want {
			t.Errorf("submission %d got %d answers, want %d", i, got, want)
		}
	}
	if got := s.Counts(); got.Accepted != 3 || got.Drops != 1 {
		t.Errorf("%+v, want 3 accepted and 1 drop", got)
	}
}

func TestASettledDropAnswersWhatWasTakenAndTakesNothingMore(t *testing.T) {
	s := start(t, smsc.Options{AnswerDelay: 20 * time.Millisecond, Script: func(m smsc.Submission) smsc.Plan {
		if string(m.Message.Text) == "drop" {
			return smsc.Plan{Drop: smsc.Finish, When: smsc.Settled}
		}
		return smsc.Plan{}
	}})
	e := bound(t, s, wire.BindTransceiver)
	var all []uint32
	for _, m := range []string{"a", "b", "drop", "behind"} {
		all = append(all, submit(t, e, text(m)))
	}
	if err := e.Ended(bounded(t)); err != io.EOF {
		t.Errorf("the connection ended with %v, want EOF", err)
	}
	for i, want := range []int{1, 1, 0, 0} {
		if got := len(e.Answers(all[i])); got != want {
			t.Errorf("submission %d got %d answers, want %d", i, got, want)
		}
	}
	if got := s.Counts(); got.Accepted != 2 || got.Answered != 2 || got.Untaken != 1 {
		t.Errorf("%+v, want 2 accepted and answered, 1 untaken", got)
	}
}

func TestAnswersCanBeLateRepeatedMissingAndPrecededByUnknownPDUs(t *testing.T) {
	strange := wire.New(0x0000BEEF, 0, 77, []byte("?"))
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		switch string(m.Message.Text) {
		case "silent":
			return smsc.Plan{Silent: true}
		case "late":
			return smsc.Plan{Delay: 50 * time.Millisecond}
		case "twice":
			return smsc.Plan{Repeat: 1}
		}
		return smsc.Plan{Before: [][]byte{strange}}
	}})
	e := bound(t, s, wire.BindTransceiver)
	silent, late, twice := submit(t, e, text("silent")), submit(t, e, text("late")), submit(t, e, text("twice"))
	last := submit(t, e, text("strange"))
	answer(t, e, last)
	if len(e.Answers(late)) != 0 {
		t.Error("the late answer overtook the others")
	}
	answer(t, e, late)
	if n, m := len(e.Answers(silent)), len(e.Answers(twice)); n != 0 || m != 2 {
		t.Errorf("%d answers to silent and %d to twice, want 0 and 2", n, m)
	}
	if f, err := e.Receive(bounded(t)); err != nil || f.Command() != 0xBEEF {
		t.Errorf("received %x, %v; want the unknown PDU", f, err)
	}
	if got := s.Received(); got[0].Answered || !got[0].Accepted || !got[1].Answered {
		t.Errorf("history: %+v", got[:2])
	}
}

func TestAReceiptComesInItsOrderAndForm(t *testing.T) {
	for _, c := range []struct {
		name string
		o    smsc.Receipts
		want string // command ids in the order of arrival
		text string
	}{
		{"after the answer", smsc.Receipts{Delay: time.Millisecond}, "80000004 5", "id:39f99dd5 sub:001 dlvrd:001 submit date:"},
		{"with the answer", smsc.Receipts{Order: smsc.WithAnswer}, "80000004 5", "stat:DELIVRD err:000 text:hello"},
		{"before the answer", smsc.Receipts{Order: smsc.BeforeAnswer, State: "UNDELIV"}, "5 80000004", "stat:UNDELIV"},
		{"as data_sm", smsc.Receipts{Data: true}, "80000004 103", "id:39f99dd5"},
		{"with another form of id", smsc.Receipts{ID: func(string) string { return "0972660181" }}, "80000004 5", "id:0972660181 "},
		{"in a format of its own", smsc.Receipts{NoTLV: true, Text: func(id string, _ *wire.Message) string { return "id:" + id + " DELIVRD" }},
			"80000004 5", "id:39f99dd5 DELIVRD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, smsc.Options{IDs: smsc.Hex, Receipts: &c.o})
			got, frames := raw(t, s, 2)
			if got != c.want {
				t.Errorf("order %s, want %s", got, c.want)
			}
			for _, f := range frames {
				parse := wire.ParseMessage
				switch f.Command() {
				case wire.DataSM:
					parse = wire.ParseData
				case wire.DeliverSM:
				default:
					continue
				}
				m, err := parse(f.Body())
				if err != nil || !strings.Contains(string(m.Payload()), c.text) || m.ESMClass != 4 || m.Source.Number != "4915112345678" {
					t.Errorf("receipt %+v %q, %v; want %q in it", m, m.Payload(), err, c.text)
				}
				if _, ok := m.TLV(wire.TagReceiptedID); ok == c.o.NoTLV {
					t.Errorf("receipted_message_id: %v", ok)
				}
			}
		})
	}
}

// raw submits one message on a connection of its own and returns the next n frames but the
// bind_resp: a Session would sort them.
func raw(t *testing.T, s *smsc.Server, n int) (order string, frames []wire.Frame) {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	m := text("hello")
	if _, err := c.Write(append(wire.Bind(wire.BindTransceiver, 1, "acme", "", ""), m.Submit(2)...)); err != nil {
		t.Fatal(err)
	}
	r := wire.NewReader(c)
	for i := 0; i <= n; i++ {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			frames = append(frames, f.Clone())
			order += fmt.Sprintf(" %x", f.Command())
		}
	}
	return strings.TrimSpace(order), frames
}

func TestAReceiptPrefersAnotherBindWhereThatIsAsked(t *testing.T) {
	s := start(t, smsc.Options{Receipts: &smsc.Receipts{Elsewhere: true}})
	rx, trx := bound(t, s, wire.BindReceiver), bound(t, s, wire.BindTransceiver)
	submit(t, trx, text("a"))
	if f, err := rx.Receive(bounded(t)); err != nil || f.Command() != wire.DeliverSM {
		t.Fatalf("the receiver got %x, %v", f, err)
	}
	if err := s.Wait(bounded(t), func() bool { return s.Counts().Acknowledged == 1 }); err != nil {
		t.Fatal(err)
	}
	if !s.Received()[0].Receipt {
		t.Error("the history does not know of the acknowledged receipt")
	}
}

func TestAReceiptThatWasNotAcknowledgedIsShownOnTheNextBind(t *testing.T) {
	s := start(t, smsc.Options{Receipts: &smsc.Receipts{}})
	e := bound(t, s, wire.BindTransceiver)
	e.Manual()
	submit(t, e, text("a"))
	if _, err := e.Receive(bounded(t)); err != nil {
		t.Fatal(err)
	}
	e.Reset()
	next := bound(t, s, wire.BindReceiver)
	if _, err := next.Receive(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(bounded(t), func() bool { return s.Counts().Acknowledged == 1 }); err != nil {
		t.Fatal(err)
	}
}

func TestReceiptsCanBeHeldBack(t *testing.T) {
	s := start(t, smsc.Options{Receipts: &smsc.Receipts{Held: true}})
	e := bound(t, s, wire.BindTransceiver)
	answer(t, e, submit(t, e, text("a")))
	answer(t, e, submit(t, e, text("b")))
	if got := s.Counts().Receipts; got != 0 {
		t.Errorf("%d receipts were shown, want none yet", got)
	}
	s.Release()
	for range 2 {
		if _, err := e.Receive(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBindsCanBeRefusedAndCounted(t *testing.T) {
	s := start(t, smsc.Options{MaxBinds: 1, Bind: func(b smsc.BindRequest) uint32 {
		if b.Account == "stranger" {
			return wire.BindFailed
		}
		return wire.OK
	}})
	status := func(account string) uint32 {
		e, err := esme.Dial(bounded(t), s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		f, err := e.Bind(bounded(t), wire.BindTransceiver, account, "pw")
		if err != nil {
			t.Fatal(err)
		}
		return f.Status()
	}
	for i, want := range []uint32{wire.OK, wire.AlreadyBound} {
		if got := status("acme"); got != want {
			t.Errorf("bind %d of acme: %#x, want %#x", i+1, got, want)
		}
	}
	if got := status("stranger"); got != wire.BindFailed {
		t.Errorf("a stranger's bind: %#x, want %#x", got, wire.BindFailed)
	}
	if got := s.Counts(); got.Binds != 1 || got.RefusedBinds != 2 || got.Bound != 1 {
		t.Errorf("%+v, want 1 bind, 2 refused", got)
	}
}

func TestWhereNothingIsReadNothingIsAnswered(t *testing.T) {
	s := start(t, smsc.Options{Script: func(m smsc.Submission) smsc.Plan {
		if m.N == 1 {
			return smsc.Plan{Stall: time.Hour}
		}
		return smsc.Plan{}
	}})
	e := bound(t, s, wire.BindTransceiver)
	answer(t, e, submit(t, e, text("a")))
	n := submit(t, e, text("b"))
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if f, err := e.Answer(ctx, n); err == nil {
		t.Errorf("an answer came: %x", f)
	}
}

func TestAWatcherSeesEveryFrameOfAConnectionAndItsEnd(t *testing.T) {
	seen := make(chan string, 100)
	s := start(t, smsc.Options{Watch: func(connection int, sent bool, f wire.Frame) {
		if f == nil {
			seen <- fmt.Sprint(connection, " ended")
			return
		}
		seen <- fmt.Sprintf("%d %t %#x %d", connection, sent, f.Command(), f.Sequence())
	}, Receipts: &smsc.Receipts{Order: smsc.WithAnswer}})
	e := bound(t, s, wire.BindTransceiver)
	m := text("a")
	m.RegisteredDelivery = 1
	answer(t, e, submit(t, e, m))
	if err := e.Unbind(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(bounded(t), func() bool { return s.Counts().Bound == 0 }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	close(seen)
	all := map[string]int{}
	for line := range seen {
		all[line]++
	}
	for _, want := range []string{"1 false 0x9 1", "1 true 0x80000009 1", "1 false 0x4 2", "1 true 0x80000004 2", "1 true 0x5 1", "1 false 0x80000005 1",
		"1 false 0x6 3", "1 true 0x80000006 3", "1 ended"} {
		if all[want] != 1 {
			t.Errorf("%q was seen %d times, want once; all: %v", want, all[want], all)
		}
	}
}

func TestUnbindAndEnquireLinkAreAnsweredAndStrangeRequestsRefused(t *testing.T) {
	s := start(t, smsc.Options{})
	e := bound(t, s, wire.BindTransceiver)
	n, _ := e.Request(wire.EnquireLink, nil)
	answer(t, e, n)
	n, _ = e.Request(0xBEEF, []byte("?"))
	if f := answer(t, e, n); f.Command() != wire.GenericNack || f.Status() != wire.InvCmdID {
		t.Errorf("to a strange request: %x", f)
	}
	if err := e.Unbind(bounded(t)); err != nil {
		t.Error(err)
	}
}

func TestSubmittingUnboundIsRefused(t *testing.T) {
	s := start(t, smsc.Options{})
	e, err := esme.Dial(bounded(t), s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if f := answer(t, e, submit(t, e, text("a"))); f.Status() != wire.InvBindState {
		t.Errorf("status %#x, want %#x", f.Status(), wire.InvBindState)
	}
	rx := bound(t, s, wire.BindReceiver)
	if f := answer(t, rx, submit(t, rx, text("a"))); f.Status() != wire.InvBindState {
		t.Errorf("from a receiver: status %#x, want %#x", f.Status(), wire.InvBindState)
	}
}
