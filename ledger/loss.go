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
