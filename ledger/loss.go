package ledger

import "time"

// readMargin is added to a round trip before a submission counts as sent in knowledge of an answer.
const readMargin = 20 * time.Millisecond

// delayedAck is the longest that a peer's TCP keeps an acknowledgement back (Linux up to 40 ms, others up to 200 ms). What
// a reset carries of it, no kernel counts.
const delayedAck = 200 * time.Millisecond

// answerLost applies rule (d) of DESIGN 4.2 to an answer that was written to an ESME leg which has ended: (i) the
// peer's TCP never acknowledged it, or (ii) the leg broke within settle of it and nothing shows that the application
// had read it. unanswered: other submissions were unanswered when the leg ended.
func answerLost(a *Answered, e *End, unanswered bool, settle time.Duration) bool {
	if e.How == Unbound {
		return false
	}
	// A client that has read all its answers and closes, on a receipt that it leaves unread, resets the leg. One with submissions
	// unanswered had not come to its end.
	explained := e.How == Reset && e.DeliverUnanswered && !unanswered
	if !a.Acked {
		// The close may come before the delayed acknowledgement does.
		return !explained || a.At == 0 || e.At.Sub(a.At) > e.RoundTrip+delayedAck
	}
	if e.How == ByProxy || e.At.Sub(a.At) > settle {
		return false
	}
	broke := unanswered || e.How == Reset && !explained
	read := e.LastSubmission > a.At.Add(e.RoundTrip+readMargin) || e.LastProbe > a.At
	return broke && !read
}

// lostAnswers gives those of a session's answers that count as unread: what never reached the socket, and what answerLost says. open are the keys of
// the submissions that were unanswered beside them; window is the most that a session of the account has had open at a time.
//
// Of equal messages, where taking too many for unread would swallow others, only as many of the acknowledged answers count, the latest, as
// fit into the window beside what was surely open: no client has more open at a time than its window.
func lostAnswers(e *End, open []Key, window int, settle time.Duration) (lost []*Answered) {
	var unsure []*Answered
	equal := map[Key]int{}
	for _, k := range open {
		equal[k]++
	}
	for i := range e.Answers {
		a := &e.Answers[i]
		switch {
		case a.Ticket == nil: // a rejection, or of a request id: nothing depends on it
		case a.At != 0 && !answerLost(a, e, len(open) > 0, settle):
		case a.At == 0, !a.Acked:
			lost = append(lost, a)
			equal[a.Ticket.e.Key]++
		default:
			unsure = append(unsure, a)
			equal[a.Ticket.e.Key]++
		}
	}
	latest := len(unsure) - max(0, window-len(open)-len(lost))
	for i, a := range unsure {
		if i >= latest || equal[a.Ticket.e.Key] == 1 {
			lost = append(lost, a)
		}
	}
	return lost
}
