package ledger

import (
	"maps"
	"testing"
	"time"
)

// TestAnswerLost is rule (d) of DESIGN 4.2. Each row is an answer written at second 10 to a leg that ended half a second later;
// settle is one second.
func TestAnswerLost(t *testing.T) {
	const trip = 30 * time.Millisecond
	known := sec(10).Add(trip + readMargin) // what is submitted after this was submitted in knowledge of the answer
	for _, c := range []struct {
		name       string
		end        End
		unacked    bool
		unanswered bool
		want       bool
	}{
		{name: "(i) what TCP has not acknowledged is lost, by FIN", end: End{How: Closed}, unacked: true, want: true},
		{name: "(i) by reset", end: End{How: Reset}, unacked: true, want: true},
		{name: "(i) by a host that vanished", end: End{How: Vanished}, unacked: true, want: true},
		{name: "(i) also when the proxy closed the leg", end: End{How: ByProxy}, unacked: true, want: true},
		{name: "(i) however old the answer is", end: End{How: Reset, At: sec(100)}, unacked: true, want: true},
		{name: "(i) though a submission came after it", end: End{How: Reset, LastSubmission: known + 1}, unacked: true, want: true},
		{name: "(i) though a deliver_sm is unanswered", end: End{How: Reset, DeliverUnanswered: true}, unacked: true, want: true},
		{name: "(i) not where that explains a reset and the acknowledgement may just be late",
			end: End{How: Reset, DeliverUnanswered: true, At: sec(10).Add(trip + delayedAck)}, unacked: true, want: false},
		{name: "(i) but not where others are unanswered", end: End{How: Reset, DeliverUnanswered: true, At: sec(10).Add(trip + delayedAck)}, unacked: true, unanswered: true, want: true},
		{name: "(i) however late the acknowledgement of a leg may be that was reset for no such reason", end: End{How: Reset, At: sec(10) + 1}, unacked: true, want: true},
		{name: "never after an unbind", end: End{How: Unbound}, unacked: true, unanswered: true, want: false},

		{name: "(ii) a reset", end: End{How: Reset}, want: true},
		{name: "(ii) a reset when settle is just over", end: End{How: Reset, At: sec(11)}, want: true},
		{name: "(ii) a reset after settle", end: End{How: Reset, At: sec(11) + 1}, want: false},
		{name: "(ii) a reset that an unanswered deliver_sm explains", end: End{How: Reset, DeliverUnanswered: true}, want: false},
		{name: "(ii) it explains no reset of a client that has others unanswered", end: End{How: Reset, DeliverUnanswered: true}, unanswered: true, want: true},
		{name: "(ii) a FIN while others are unanswered", end: End{How: Closed}, unanswered: true, want: true},
		{name: "(ii) a FIN while none is unanswered", end: End{How: Closed}, want: false},
		{name: "(ii) a FIN while others are unanswered, after settle", end: End{How: Closed, At: sec(11) + 1}, unanswered: true, want: false},
		{name: "(ii) an unanswered deliver_sm explains no FIN", end: End{How: Closed, DeliverUnanswered: true}, unanswered: true, want: true},
		{name: "(ii) a host that vanished while others are unanswered", end: End{How: Vanished}, unanswered: true, want: true},
		{name: "(ii) not when the proxy closed the leg", end: End{How: ByProxy}, unanswered: true, want: false},
		{name: "(ii) not after an unbind", end: End{How: Unbound}, unanswered: true, want: false},

		{name: "read: a submission came more than a round trip and 20 ms after it", end: End{How: Reset, LastSubmission: known + 1}, want: false},
		{name: "not read: a submission came just then", end: End{How: Reset, LastSubmission: known}, want: true},
		{name: "not read: a submission came before it", end: End{How: Reset, LastSubmission: sec(9)}, want: true},
		{name: "read: a probe that was sent after it was answered", end: End{How: Reset, LastProbe: sec(10) + 1}, want: false},
		{name: "not read: the probe was sent before it", end: End{How: Reset, LastProbe: sec(10)}, want: true},
		{name: "read, with a FIN while others are unanswered", end: End{How: Closed, LastProbe: sec(10.1)}, unanswered: true, want: false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.end.RoundTrip = trip
			if c.end.At == 0 {
				c.end.At = sec(10.5)
			}
			a := Answered{At: sec(10), Acked: !c.unacked}
			if got := answerLost(&a, &c.end, c.unanswered, time.Second); got != c.want {
				t.Errorf("lost = %v, want %v", got, c.want)
			}
		})
	}
}

func TestLostAnswers(t *testing.T) {
	answers := func(keys string, change func(i int, a *Answered)) (list []Answered) {
		for i, k := range keys {
			a := Answered{Ticket: &Ticket{e: &entry{Record: Record{Key: Key{Hash: [16]byte{byte(k)}}}}}, At: sec(10), Acked: true}
			if change != nil {
				change(i, &a)
			}
			list = append(list, a)
		}
		return list
	}
	keys := func(open string) (list []Key) {
		for _, k := range open {
			list = append(list, Key{Hash: [16]byte{byte(k)}})
		}
		return list
	}
	for _, c := range []struct {
		name    string
		answers []Answered
		open    string // the keys of what was unanswered
		window  int
		want    []int
	}{
		{name: "different messages are all unsure", answers: answers("ABCDE", nil), window: 1, want: []int{0, 1, 2, 3, 4}},
		{name: "of equal ones the latest that fit into the window", answers: answers("AAAAA", nil), window: 2, want: []int{3, 4}},
		{name: "less what is open", answers: answers("AAAAA", nil), open: "X", window: 2, want: []int{4}},
		{name: "none where the window is full", answers: answers("AAAAA", nil), open: "XY", window: 2},
		{name: "none where more is open than ever before", answers: answers("AAAAA", nil), open: "XYZ", window: 2},
		{name: "all where the window holds them", answers: answers("AAAAA", nil), window: 5, want: []int{0, 1, 2, 3, 4}},
		{name: "what is equal to the one that is open", answers: answers("A", nil), open: "A", window: 1},
		{name: "what differs from the one that is open", answers: answers("B", nil), open: "A", window: 1, want: []int{0}},
		{name: "what is equal to one that is surely lost", answers: answers("AA", func(i int, a *Answered) { a.Acked = i == 0 }), window: 1, want: []int{1}},
		{name: "a different one among equal ones", answers: answers("BAAAA", nil), window: 1, want: []int{0, 4}},
		{name: "what was not acknowledged is lost, whatever the window", answers: answers("AAAAA", func(i int, a *Answered) { a.Acked = i < 2 }), window: 1, want: []int{2, 3, 4}},
		{name: "what was never written too", answers: answers("AAA", func(i int, a *Answered) {
			if i == 2 {
				a.At, a.Acked = 0, false
			}
		}), window: 1, want: []int{2}},
		{name: "what nothing depends on is passed over", answers: answers("AAA", func(i int, a *Answered) {
			if i == 1 {
				a.Ticket = nil
			}
		}), window: 3, want: []int{0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := End{At: sec(10.5), How: Reset, Answers: c.answers}
			got := map[*Answered]bool{}
			for _, a := range lostAnswers(&e, keys(c.open), c.window, time.Second) {
				got[a] = true
			}
			want := map[*Answered]bool{}
			for _, i := range c.want {
				want[&e.Answers[i]] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d answers are lost, or others, want those at %v", len(got), c.want)
			}
		})
	}
}
