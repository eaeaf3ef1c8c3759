package ledger

import "testing"

// A client with a window of one has read each answer before it submits again, however quickly the break follows: equal messages
// that it goes on to send are new.
func TestOfAWindowOfOneABreakLosesOneAnswerAtMost(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var answers []Answered
	for range 20 {
		m := s.submit("A")
		m.accept("77")
		answers = append(answers, m.read())
	}
	s.submit("A")
	s.end(Reset, answers...)
	s = r.bind("acme")
	s.submit("A").isForwarded(0)
	for range 5 {
		s.submit("A").isForwarded(1)
	}
}

// One that had ten open may have left nine answers unread beside the open one.
func TestOfAWindowOfTenABreakLosesTenMessagesAtMost(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var window []*message
	var answers []Answered
	for range 10 {
		window = append(window, s.submit("A"))
	}
	for range 30 {
		window[0].accept("77")
		answers = append(answers, window[0].read())
		window = append(window[1:], s.submit("A"))
	}
	for range 9 {
		window[0].accept("77")
		answers = append(answers, window[0].read())
		window = window[1:]
	}
	s.end(Reset, answers...)
	s = r.bind("acme")
	for range 10 {
		s.submit("A").isForwarded(0)
	}
	s.submit("A").isForwarded(1)
}
