package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sec is a moment of a test: so many seconds after its record was claimed.
func sec(s float64) Time { return rigStart.Add(time.Duration(s * float64(time.Second))) }

// seconds is the same, as submissions carry it.
func seconds(s int64) int64 { return rigStart.Std().Unix() + s }

const day = 24 * 60 * 60

// Attempts, each begun at second 0.
var (
	underWay      = Attempt{Number: 1, At: sec(0), State: InFlight}
	wasAccepted   = Attempt{Number: 2, At: sec(0), State: Accepted, Ended: sec(1), ID: []byte("77")}
	wasRejected   = Attempt{Number: 3, At: sec(0), State: Rejected, Ended: sec(1), Status: 0x58}
	wasNeverSent  = Attempt{Number: 4, At: sec(0), State: NeverSent, Ended: sec(1)}
	undeliverable = Attempt{Number: 5, At: sec(0), State: Undelivered, Ended: sec(1), ID: []byte("77"), Final: Expired}
	legDied       = Attempt{Number: 6, At: sec(0), State: InDoubt, Evidence: ByLegEnd, Ended: sec(10)}
	legDiedLater  = Attempt{Number: 7, At: sec(30), State: InDoubt, Evidence: ByLegEnd, Ended: sec(40)}
	overdue       = Attempt{Number: 8, At: sec(0), State: InDoubt, Evidence: ByDeadline, Ended: sec(120)}
)

// unanswered is a record with a content key, claimed and received at second 0.
func unanswered(attempts ...Attempt) *Record {
	return &Record{Claimed: sec(0), Attempts: attempts, ReceiptRequested: true, Standing: Stand{Session: 1, Sequence: 1, At: sec(0)}}
}

func (r *Record) with(change func(*Record)) *Record { change(r); return r }
func (r *Record) answeredAt(t Time) *Record         { r.Standing.Answered = t; return r }
func (r *Record) lostAt(t Time) *Record             { r.Standing.Lost = t; return r }
func (r *Record) explicitly() *Record               { r.Key = Key{Explicit: true}; return r }
func (r *Record) wasHeld() *Record                  { r.Held = true; return r }
func (r *Record) withoutReceipt() *Record           { r.ReceiptRequested = false; return r }
func (r *Record) scheduledAt(unix int64) *Record    { r.Schedule = unix; return r }

func (r *Record) released() *Record { r.Released = true; return r }

// patient makes rule (b) and (c) play no part.
func patient(p *Policy) { p.ClientTimeout = 100 * time.Hour }

func policies(changes ...func(*Policy)) func(*Policy) {
	return func(p *Policy) {
		for _, c := range changes {
			c(p)
		}
	}
}

func onDoubt(d DoubtPolicy) func(*Policy)          { return func(p *Policy) { p.OnInDoubt = d } }
func limit(d time.Duration) func(*Policy)          { return func(p *Policy) { p.ContentLimit = d } }
func atMost(n int) func(*Policy)                   { return func(p *Policy) { p.MaxAttempts = n } }
func apartBy(d time.Duration) func(*Policy)        { return func(p *Policy) { p.MinInterval = d } }
func contentOff(p *Policy)                         { p.Content = false }
func submitted(at Time, schedule int64) Submission { return Submission{At: at, Schedule: schedule} }

var (
	legEndedAt10 = Situation{SessionEnded: sec(10), CanSubmitAgain: sec(20)}
	partLost     = Situation{PartLost: sec(10), PartUntil: sec(620)}
	newMessage   = Decision{Verdict: Forward, Reason: ReasonNew}
	healthy      = Decision{Verdict: Forward, Reason: ReasonNotAbandoned}
)

func expired(r Rule) Decision { return Decision{Verdict: Forward, Reason: ReasonExpired, Rule: r} }

func resubmission(v Verdict, why Reason, by Rule, absorbs Time) Decision {
	return Decision{Verdict: v, Reason: why, Rule: by, Resubmission: true, Absorbs: absorbs}
}

func (d Decision) resent() Decision         { d.Resent = true; return d }
func (d Decision) limited(l Limit) Decision { d.Limit = l; return d }
func (d Decision) until(t Time) Decision    { d.Until = t; return d }

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name   string
		record *Record
		submit Submission
		w      Situation
		policy func(*Policy)
		now    Time
		want   Decision
	}{
		// 4.2, the key.
		{"what is not known is a new message", nil, Submission{}, Situation{}, nil, sec(1), newMessage},
		{"an explicit key is repeated without any loss", unanswered(wasAccepted).explicitly().answeredAt(sec(1)), Submission{}, Situation{}, nil, sec(2),
			resubmission(Replay, ReasonAccepted, NotAbandoned, sec(day))},
		{"an explicit key in flight on a healthy session is joined", unanswered(underWay).explicitly(), Submission{}, Situation{}, nil, sec(2),
			resubmission(Join, ReasonInFlight, NotAbandoned, sec(day))},
		{"an explicit key counts to the end of the window", unanswered(wasAccepted).explicitly(), Submission{}, Situation{}, nil, sec(day),
			resubmission(Replay, ReasonAccepted, NotAbandoned, sec(day))},
		{"an explicit key counts no longer than the window", unanswered(wasAccepted).explicitly(), Submission{}, Situation{}, nil, sec(day) + 1, expired(NotAbandoned)},
		{"an explicit key in doubt that is forwarded after the window is counted", unanswered(legDied).explicitly(), Submission{}, legEndedAt10, nil, sec(day) + 1,
			expired(NotAbandoned).resent()},
		{"an explicit key does not care for schedules", unanswered(wasAccepted).explicitly().scheduledAt(seconds(0)), submitted(sec(2), seconds(5000)), Situation{}, nil, sec(2),
			resubmission(Replay, ReasonAccepted, NotAbandoned, sec(day))},
		{"content: false leaves explicit keys as they are", unanswered(wasAccepted).explicitly(), Submission{}, Situation{}, contentOff, sec(2),
			resubmission(Replay, ReasonAccepted, NotAbandoned, sec(day))},
		{"content: false forwards what is equal", unanswered(wasAccepted), Submission{}, legEndedAt10, contentOff, sec(20), healthy},
		{"content: false forwards even what is in doubt, as a new message", unanswered(legDied), Submission{}, legEndedAt10, contentOff, sec(20), healthy},

		// 4.2, a healthy session.
		{"an equal message is new when the first was answered", unanswered(wasAccepted).answeredAt(sec(1)), Submission{}, Situation{}, nil, sec(2), healthy},
		{"an equal message is new while the first is in flight", unanswered(underWay), Submission{}, Situation{}, nil, sec(2), healthy},
		{"an equal message is new though the leg of an answered one ended", unanswered(wasAccepted).answeredAt(sec(1)), Submission{}, legEndedAt10, nil, sec(12), healthy},

		// 4.2 (a).
		{"(a) not before the leg has ended", unanswered(underWay), Submission{}, legEndedAt10, patient, sec(10) - 1, healthy},
		{"(a) at the moment the leg ended", unanswered(underWay), Submission{}, legEndedAt10, patient, sec(10),
			resubmission(Join, ReasonInFlight, LegEnded, sec(620))},
		{"(a) for content_window from when the account could submit again", unanswered(underWay), Submission{}, legEndedAt10, patient, sec(620),
			resubmission(Join, ReasonInFlight, LegEnded, sec(620))},
		{"(a) and no longer", unanswered(underWay), Submission{}, legEndedAt10, patient, sec(620) + 1, expired(LegEnded)},
		{"(a) for content_limit where the account cannot submit", unanswered(wasAccepted), Submission{}, Situation{SessionEnded: sec(10)}, patient, sec(3610),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(3610))},
		{"(a) no longer than content_limit", unanswered(wasAccepted), Submission{}, Situation{SessionEnded: sec(10)}, patient, sec(3610) + 1, expired(LegEnded)},
		{"(a) content_limit from the loss, not from the return", unanswered(wasAccepted), Submission{}, Situation{SessionEnded: sec(10), CanSubmitAgain: sec(3500)}, patient,
			sec(3610) + 1, expired(LegEnded)},

		// 4.2 (b).
		{"(b) not before client_timeout", unanswered(underWay), Submission{}, Situation{}, nil, sec(60) - 1, healthy},
		{"(b) at client_timeout", unanswered(underWay), Submission{}, Situation{}, nil, sec(60), resubmission(Join, ReasonInFlight, TimedOut, sec(660))},
		{"(b) for content_window", unanswered(underWay), Submission{}, Situation{}, nil, sec(660), resubmission(Join, ReasonInFlight, TimedOut, sec(660))},
		{"(b) and no longer", unanswered(underWay), Submission{}, Situation{}, nil, sec(660) + 1, expired(TimedOut)},

		// 4.2 (c).
		{"(c) not when the answer came just in time", unanswered(wasAccepted).answeredAt(sec(60) - 1), Submission{}, Situation{}, nil, sec(61), healthy},
		{"(c) when the answer came at client_timeout", unanswered(wasAccepted).answeredAt(sec(60)), Submission{}, Situation{}, nil, sec(61),
			resubmission(Replay, ReasonAccepted, AnsweredLate, sec(360))},
		{"(c) for five minutes from the answer", unanswered(wasAccepted).answeredAt(sec(100)), Submission{}, Situation{}, nil, sec(400),
			resubmission(Replay, ReasonAccepted, AnsweredLate, sec(400))},
		{"(c) and no longer", unanswered(wasAccepted).answeredAt(sec(100)), Submission{}, Situation{}, nil, sec(400) + 1, expired(AnsweredLate)},

		// 4.2 (d).
		{"(d) when the answer was lost", unanswered(wasAccepted).answeredAt(sec(1)).lostAt(sec(2)), Submission{}, Situation{SessionEnded: sec(2)}, nil, sec(3),
			resubmission(Replay, ReasonAccepted, AnswerLost, sec(602))},
		{"(d) for content_window from the loss, though the account could not submit", unanswered(wasAccepted).answeredAt(sec(1)).lostAt(sec(2)), Submission{},
			Situation{SessionEnded: sec(2)}, nil, sec(602), resubmission(Replay, ReasonAccepted, AnswerLost, sec(602))},
		{"(d) and no longer", unanswered(wasAccepted).answeredAt(sec(1)).lostAt(sec(2)), Submission{}, Situation{SessionEnded: sec(2)}, nil, sec(602) + 1,
			expired(AnswerLost)},

		// 4.6, a long message: an answer to another part was lost.
		{"(part) an answered part is sent again with the one that was lost", unanswered(wasAccepted).answeredAt(sec(1)), Submission{}, partLost, nil, sec(20),
			resubmission(Replay, ReasonAccepted, PartLost, sec(620))},
		{"(part) so is one that is unanswered on another session", unanswered(underWay), Submission{}, partLost, nil, sec(20),
			resubmission(Join, ReasonInFlight, PartLost, sec(620))},
		{"(part) for as long as the lost one", unanswered(wasAccepted).answeredAt(sec(1)), Submission{}, partLost, nil, sec(620),
			resubmission(Replay, ReasonAccepted, PartLost, sec(620))},
		{"(part) and no longer", unanswered(wasAccepted).answeredAt(sec(1)), Submission{}, partLost, nil, sec(620) + 1, expired(PartLost)},
		{"(part) no longer than content_limit", unanswered(wasAccepted).answeredAt(sec(1)), Submission{}, Situation{PartLost: sec(10), PartUntil: never}, nil, sec(3610) + 1,
			expired(PartLost)},
		{"(part) no longer than its own first loss allows", unanswered(wasAccepted).answeredAt(sec(1)).with(func(r *Record) { r.Loss, r.Until = sec(5), sec(600) }),
			Submission{}, partLost, nil, sec(601), expired(PartLost)},
		{"(part) where it was lost itself, the longer one is told", unanswered(wasAccepted).answeredAt(sec(1)).lostAt(sec(2)), Submission{}, partLost, nil, sec(20),
			resubmission(Replay, ReasonAccepted, PartLost, sec(620))},

		// Several rules at once: the longest counts, the limit from the first loss.
		{"(a) and (b): the longer one is told, (b)", unanswered(underWay), Submission{}, Situation{SessionEnded: sec(10), CanSubmitAgain: sec(10)}, nil, sec(60),
			resubmission(Join, ReasonInFlight, TimedOut, sec(660))},
		{"(a) and (b): the longer one is told, (a)", unanswered(underWay), Submission{}, Situation{SessionEnded: sec(10), CanSubmitAgain: sec(90)}, nil, sec(100),
			resubmission(Join, ReasonInFlight, LegEnded, sec(690))},
		{"(a) and (b): content_limit runs from the leg's end, the first loss", unanswered(underWay), Submission{}, legEndedAt10, limit(2 * time.Minute), sec(130),
			resubmission(Join, ReasonInFlight, TimedOut, sec(130))},
		{"(b) then (a): content_limit runs from client_timeout, the first loss", unanswered(underWay), Submission{}, Situation{SessionEnded: sec(100)}, nil, sec(3660),
			resubmission(Join, ReasonInFlight, LegEnded, sec(3660))},
		{"(c) and (d): the longer one is told", unanswered(wasAccepted).answeredAt(sec(61)).lostAt(sec(62)), Submission{}, Situation{SessionEnded: sec(62)}, nil, sec(662),
			resubmission(Replay, ReasonAccepted, AnswerLost, sec(662))},

		// The time runs from the first loss.
		{"what has absorbed keeps the end that it had then", unanswered(underWay).with(func(r *Record) {
			r.Standing.At, r.Loss, r.Until = sec(500), sec(10), sec(610)
		}), Submission{}, Situation{SessionEnded: sec(600), CanSubmitAgain: sec(600)}, nil, sec(610), resubmission(Join, ReasonInFlight, LegEnded, sec(610))},
		{"a second loss renews nothing", unanswered(underWay).with(func(r *Record) {
			r.Standing.At, r.Loss, r.Until = sec(500), sec(10), sec(610)
		}), Submission{}, Situation{SessionEnded: sec(600), CanSubmitAgain: sec(600)}, nil, sec(610) + 1, expired(LegEnded)},
		{"a lost replay renews nothing", unanswered(wasAccepted).answeredAt(sec(600)).lostAt(sec(601)).with(func(r *Record) {
			r.Standing.At, r.Loss, r.Until = sec(599), sec(10), sec(610)
		}), Submission{}, Situation{SessionEnded: sec(601)}, nil, sec(611), expired(AnswerLost)},
		{"the limit counts from the first loss, not from the last", unanswered(underWay).with(func(r *Record) { r.Standing.At, r.Loss = sec(500), sec(10) }),
			Submission{}, Situation{SessionEnded: sec(600)}, limit(15 * time.Minute), sec(911), expired(LegEnded)},
		{"who read the answer of a replay sends a new message next", unanswered(wasAccepted).answeredAt(sec(600)).with(func(r *Record) {
			r.Standing.At, r.Loss, r.Until = sec(599), sec(10), sec(610)
		}), Submission{}, Situation{}, nil, sec(601), healthy},

		// Schedules.
		{"the same schedule matches", unanswered(wasAccepted).scheduledAt(seconds(5000)), submitted(sec(20), seconds(5000)), legEndedAt10, patient, sec(20),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},
		{"schedules that are content_window apart match", unanswered(wasAccepted).scheduledAt(seconds(5000)), submitted(sec(20), seconds(5600)), legEndedAt10, patient, sec(20),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},
		{"schedules that are further apart never match", unanswered(wasAccepted).scheduledAt(seconds(5000)), submitted(sec(20), seconds(5601)), legEndedAt10, patient, sec(20), newMessage},
		{"nor in the other direction", unanswered(wasAccepted).scheduledAt(seconds(5601)), submitted(sec(20), seconds(5000)), legEndedAt10, patient, sec(20), newMessage},
		{"a schedule soon after an unscheduled message matches", unanswered(wasAccepted), submitted(sec(20), seconds(600)), legEndedAt10, patient, sec(20),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},
		{"a schedule long after an unscheduled message does not", unanswered(wasAccepted), submitted(sec(20), seconds(601)), legEndedAt10, patient, sec(20), newMessage},
		{"at once, long after a schedule, does not match", unanswered(wasAccepted).scheduledAt(seconds(0)), submitted(sec(601), 0), legEndedAt10, patient, sec(601), newMessage},
		{"at once twice matches, however late the second", unanswered(wasAccepted), submitted(sec(3000), 0), Situation{SessionEnded: sec(10)}, patient, sec(3000),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(3610))},

		// 4.3, the states.
		{"in flight: join", unanswered(underWay), Submission{}, legEndedAt10, patient, sec(20), resubmission(Join, ReasonInFlight, LegEnded, sec(620))},
		{"accepted: replay", unanswered(wasAccepted), Submission{}, legEndedAt10, patient, sec(20), resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},
		{"accepted, then not delivered: forward", unanswered(undeliverable), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Forward, ReasonUndelivered, LegEnded, sec(620))},
		{"rejected: forward", unanswered(wasRejected), Submission{}, legEndedAt10, patient, sec(20), resubmission(Forward, ReasonRejected, LegEnded, sec(620))},
		{"never sent: forward", unanswered(wasNeverSent), Submission{}, legEndedAt10, patient, sec(20), resubmission(Forward, ReasonNeverSent, LegEnded, sec(620))},
		{"a rejected second attempt does not end the doubt", unanswered(legDied, wasRejected).wasHeld(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},
		{"a second attempt that was never sent does not end it either", unanswered(legDied, wasNeverSent).wasHeld(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},
		{"nor does an older message that was not delivered", unanswered(undeliverable, legDied).wasHeld(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},
		{"a second attempt in flight is joined", unanswered(legDied, underWay), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Join, ReasonInFlight, LegEnded, sec(620))},
		{"any accepted attempt is replayed", unanswered(legDied, wasAccepted, underWay), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},

		// 4.3, on_in_doubt: hold.
		{"hold: the first waits for hold_timeout", unanswered(legDied), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Wait, ReasonDoubt, LegEnded, sec(670)).until(sec(23))},
		{"hold: the first waits no longer than to the deadline", unanswered(legDied), Submission{}, legEndedAt10, patient, sec(68),
			resubmission(Wait, ReasonDoubt, LegEnded, sec(670)).until(sec(70))},
		{"hold: later ones don't wait", unanswered(legDied).wasHeld(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},
		{"hold: none waits where no receipt can come and the leg is gone", unanswered(legDied).withoutReceipt(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},
		{"hold: without a receipt it waits for a leg that lives", unanswered(overdue).withoutReceipt(), Submission{}, Situation{LegLives: true}, nil, sec(130),
			resubmission(Wait, ReasonDoubt, TimedOut, sec(1260)).until(sec(133))},
		{"hold: who waits goes on waiting", unanswered(legDied).wasHeld(), Submission{}, Situation{Waiting: true, HeldUntil: sec(23)}, patient, sec(23) - 1,
			Decision{Verdict: Wait, Reason: ReasonDoubt, Resubmission: true, Until: sec(23)}},
		{"hold: and is sent back when the wait is over", unanswered(legDied).wasHeld(), Submission{}, Situation{Waiting: true, HeldUntil: sec(23)}, patient, sec(23),
			Decision{Verdict: Retry, Reason: ReasonDoubt, Resubmission: true}},
		{"hold: not forwarded before the deadline", unanswered(legDied).wasHeld(), Submission{}, legEndedAt10, patient, sec(70) - 1,
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},
		{"hold: forwarded from the deadline, and counted", unanswered(legDied).wasHeld(), Submission{}, legEndedAt10, patient, sec(70),
			resubmission(Forward, ReasonDoubtDeadline, LegEnded, sec(670)).resent()},
		{"hold: the deadline of the attempt lost last counts", unanswered(legDied, legDiedLater).wasHeld(), Submission{}, legEndedAt10, patient, sec(100) - 1,
			resubmission(Retry, ReasonDoubt, LegEnded, sec(700))},
		{"hold: and then it is forwarded", unanswered(legDied, legDiedLater).wasHeld(), Submission{}, legEndedAt10, patient, sec(100),
			resubmission(Forward, ReasonDoubtDeadline, LegEnded, sec(700)).resent()},
		{"hold: on a leg that lives, response_timeout and ten deadlines", unanswered(overdue).wasHeld(), Submission{}, Situation{LegLives: true}, nil, sec(660) - 1,
			resubmission(Retry, ReasonDoubt, TimedOut, sec(1260))},
		{"hold: and from then on it is forwarded", unanswered(overdue).wasHeld(), Submission{}, Situation{LegLives: true}, nil, sec(660),
			resubmission(Forward, ReasonDoubtDeadline, TimedOut, sec(1260)).resent()},
		{"hold: a record lasts its deadline and content_window", unanswered(legDied).wasHeld(), Submission{}, Situation{SessionEnded: sec(10), CanSubmitAgain: sec(10)}, patient,
			sec(670), resubmission(Forward, ReasonDoubtDeadline, LegEnded, sec(670)).resent()},
		{"hold: what was in doubt is counted after its time, too", unanswered(legDied).wasHeld(), Submission{}, Situation{SessionEnded: sec(10), CanSubmitAgain: sec(10)}, patient,
			sec(670) + 1, expired(LegEnded).resent()},
		{"hold: an in-doubt record outlives content_limit", unanswered(legDied).wasHeld(), Submission{}, legEndedAt10, policies(patient, limit(30*time.Second)), sec(60),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(670))},

		// on_in_doubt: forward.
		{"forward: at once, and counted", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(ForwardInDoubt)), sec(20),
			resubmission(Forward, ReasonDoubt, LegEnded, sec(620)).resent()},
		{"forward: for as long as the rules say", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(ForwardInDoubt)), sec(620) + 1,
			expired(LegEnded).resent()},

		// on_in_doubt: refuse.
		{"refuse: sent back", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(RefuseInDoubt)), sec(20),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(day))},
		{"refuse: sent back after the deadline of hold, too", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(RefuseInDoubt)), sec(1000),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(day))},
		{"refuse: for as long as window", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(RefuseInDoubt)), sec(day),
			resubmission(Retry, ReasonDoubt, LegEnded, sec(day))},
		{"refuse: after that it is forwarded and counted", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(RefuseInDoubt)), sec(day) + 1,
			expired(LegEnded).resent()},

		// An operator's word.
		{"released: forwarded before the deadline, and counted", unanswered(legDied).wasHeld().released(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Forward, ReasonReleased, LegEnded, sec(670)).resent()},
		{"released: also under refuse", unanswered(legDied).released(), Submission{}, legEndedAt10, policies(patient, onDoubt(RefuseInDoubt)), sec(20),
			resubmission(Forward, ReasonReleased, LegEnded, sec(day)).resent()},
		{"released: beyond a limit, too", unanswered(legDied).released(), Submission{}, legEndedAt10, policies(patient, atMost(1)), sec(20),
			resubmission(Forward, ReasonReleased, LegEnded, sec(670)).resent()},
		{"released: but what is in flight is joined", unanswered(legDied, underWay).released(), Submission{}, legEndedAt10, patient, sec(20),
			resubmission(Join, ReasonInFlight, LegEnded, sec(620))},

		// Limits.
		{"max_attempts: sent back at the limit, and not counted as resent", unanswered(legDied, legDiedLater), Submission{}, legEndedAt10,
			policies(patient, onDoubt(ForwardInDoubt), atMost(2)), sec(50), resubmission(Retry, ReasonLimit, LegEnded, sec(620)).limited(ByMaxAttempts)},
		{"max_attempts: forwarded below it", unanswered(legDied), Submission{}, legEndedAt10, policies(patient, onDoubt(ForwardInDoubt), atMost(2)), sec(50),
			resubmission(Forward, ReasonDoubt, LegEnded, sec(620)).resent()},
		{"max_attempts: rejected ones count", unanswered(wasRejected), Submission{}, legEndedAt10, policies(patient, atMost(1)), sec(20),
			resubmission(Retry, ReasonLimit, LegEnded, sec(620)).limited(ByMaxAttempts)},
		{"max_attempts: those that are remembered no more count", unanswered(wasRejected).with(func(r *Record) { r.Forgotten = 4 }), Submission{}, legEndedAt10,
			policies(patient, atMost(5)), sec(20), resubmission(Retry, ReasonLimit, LegEnded, sec(620)).limited(ByMaxAttempts)},
		{"max_attempts: what was never sent does not", unanswered(wasNeverSent), Submission{}, legEndedAt10, policies(patient, atMost(1)), sec(20),
			resubmission(Forward, ReasonNeverSent, LegEnded, sec(620))},
		{"max_attempts: a replay is no attempt", unanswered(wasAccepted), Submission{}, legEndedAt10, policies(patient, atMost(1)), sec(20),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},
		{"max_attempts: a new message is its own request", unanswered(wasRejected), Submission{}, Situation{}, policies(patient, atMost(1)), sec(20), healthy},
		{"min_interval: sent back until it is over", unanswered(legDied, legDiedLater), Submission{}, legEndedAt10,
			policies(patient, onDoubt(ForwardInDoubt), apartBy(time.Minute)), sec(90) - 1, resubmission(Retry, ReasonLimit, LegEnded, sec(620)).limited(ByMinInterval)},
		{"min_interval: forwarded from then on", unanswered(legDied, legDiedLater), Submission{}, legEndedAt10,
			policies(patient, onDoubt(ForwardInDoubt), apartBy(time.Minute)), sec(90), resubmission(Forward, ReasonDoubt, LegEnded, sec(620)).resent()},
		{"min_interval: what was never sent does not count", unanswered(wasNeverSent), Submission{}, legEndedAt10, policies(patient, apartBy(time.Hour)), sec(20),
			resubmission(Forward, ReasonNeverSent, LegEnded, sec(620))},

		// Validity.
		{"valid until: forwarded to its last second", unanswered(wasRejected), Submission{At: sec(20), ValidUntil: seconds(20)}, legEndedAt10, patient, sec(20),
			resubmission(Forward, ReasonRejected, LegEnded, sec(620))},
		{"valid until: refused after it", unanswered(wasRejected), Submission{At: sec(20), ValidUntil: seconds(20)}, legEndedAt10, patient, sec(20) + 1,
			resubmission(Refuse, ReasonOutdated, LegEnded, sec(620))},
		{"valid for: counted from the first submission", unanswered(wasRejected), Submission{At: sec(20), ValidFor: 20 * time.Second}, legEndedAt10, patient, sec(20) + 1,
			resubmission(Refuse, ReasonOutdated, LegEnded, sec(620))},
		{"valid for: forwarded to its end", unanswered(wasRejected), Submission{At: sec(20), ValidFor: 20 * time.Second}, legEndedAt10, patient, sec(20),
			resubmission(Forward, ReasonRejected, LegEnded, sec(620))},
		{"outdated in doubt: refused, and not counted as resent", unanswered(legDied), Submission{At: sec(20), ValidFor: time.Second}, legEndedAt10,
			policies(patient, onDoubt(ForwardInDoubt)), sec(20), resubmission(Refuse, ReasonOutdated, LegEnded, sec(620))},
		{"outdated: refused for good, though a limit would only send it back", unanswered(wasRejected), Submission{At: sec(20), ValidFor: time.Second}, legEndedAt10,
			policies(patient, atMost(1)), sec(20), resubmission(Refuse, ReasonOutdated, LegEnded, sec(620))},
		{"outdated: an operator's release makes it no younger", unanswered(legDied).released(), Submission{At: sec(20), ValidFor: time.Second}, legEndedAt10, patient,
			sec(20), resubmission(Refuse, ReasonOutdated, LegEnded, sec(670))},
		{"outdated: but the first answer is replayed", unanswered(wasAccepted), Submission{At: sec(20), ValidFor: time.Second}, legEndedAt10, patient, sec(20),
			resubmission(Replay, ReasonAccepted, LegEnded, sec(620))},
		{"outdated: a new message is the SMSC's to judge", unanswered(wasRejected), Submission{At: sec(20), ValidUntil: seconds(1)}, Situation{}, patient, sec(20), healthy},
		{"outdated: so is the first submission when it is decided anew", unanswered(wasNeverSent), Submission{At: sec(0), ValidUntil: seconds(-5)}, Situation{Waiting: true}, nil,
			sec(20), Decision{Verdict: Forward, Reason: ReasonNeverSent, Resubmission: true}},

		// Those that wait are decided anew, whatever the rules of abandonment say by then.
		{"who waits is answered when it is accepted", unanswered(wasAccepted), Submission{}, Situation{Waiting: true}, nil, sec(5000),
			Decision{Verdict: Replay, Reason: ReasonAccepted, Resubmission: true}},
		{"who waits is forwarded when it is rejected", unanswered(wasRejected), Submission{}, Situation{Waiting: true}, nil, sec(5000),
			Decision{Verdict: Forward, Reason: ReasonRejected, Resubmission: true}},
		{"who waits is forwarded when it was never sent", unanswered(wasNeverSent), Submission{}, Situation{Waiting: true}, nil, sec(5000),
			Decision{Verdict: Forward, Reason: ReasonNeverSent, Resubmission: true}},
		{"who waits goes on waiting for another attempt", unanswered(wasRejected, underWay), Submission{}, Situation{Waiting: true}, nil, sec(5000),
			Decision{Verdict: Join, Reason: ReasonInFlight, Resubmission: true}},
		{"who joined begins to be held when the leg ends", unanswered(legDied), Submission{}, Situation{Waiting: true}, nil, sec(20),
			Decision{Verdict: Wait, Reason: ReasonDoubt, Resubmission: true, Until: sec(23)}},
		{"who joined is sent back under refuse", unanswered(legDied), Submission{}, Situation{Waiting: true}, onDoubt(RefuseInDoubt), sec(20),
			Decision{Verdict: Retry, Reason: ReasonDoubt, Resubmission: true}},
		{"who joined is forwarded under forward, and counted", unanswered(legDied), Submission{}, Situation{Waiting: true}, onDoubt(ForwardInDoubt), sec(20),
			Decision{Verdict: Forward, Reason: ReasonDoubt, Resubmission: true, Resent: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPolicy()
			if c.policy != nil {
				c.policy(&p)
			}
			if diff := cmp.Diff(c.want, Decide(c.record, &c.submit, c.w, &p, c.now)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheStateOfARecordIsTheBestOfItsAttempts(t *testing.T) {
	for _, c := range []struct {
		attempts []Attempt
		want     State
	}{
		{[]Attempt{underWay}, InFlight},
		{[]Attempt{wasAccepted}, Accepted},
		{[]Attempt{wasRejected}, Rejected},
		{[]Attempt{wasNeverSent}, NeverSent},
		{[]Attempt{legDied}, InDoubt},
		{[]Attempt{undeliverable}, Undelivered},
		{[]Attempt{underWay, wasAccepted, legDied}, Accepted},
		{[]Attempt{legDied, underWay}, InFlight},
		{[]Attempt{legDied, wasRejected}, InDoubt},
		{[]Attempt{wasNeverSent, legDied}, InDoubt},
		{[]Attempt{wasNeverSent, wasRejected}, Rejected},
		{[]Attempt{undeliverable, wasRejected}, Rejected},
		{[]Attempt{undeliverable, wasAccepted}, Accepted},
	} {
		r := Record{Attempts: c.attempts}
		if got := r.State(); got != c.want {
			t.Errorf("state of %v = %v, want %v", c.attempts, got, c.want)
		}
	}
}

func TestAmongSeveralRecordsTheEqualScheduleComesFirstThenTheEqualReferenceThenTheUnansweredWithThoseInDoubtLastThenTheLastAnswered(t *testing.T) {
	numbered := func(n Number, r *Record) *Record { r.Number = n; return r }
	answeredAt := func(t Time, r *Record) *Record { r.Standing.Answered = t; return r }
	s := submitted(sec(20), seconds(5000))
	s.Part.Reference = 7
	under := func(reference uint16, r *Record) *Record { r.Part.Reference = reference; return r }
	order := []*Record{
		numbered(9, unanswered(legDied).scheduledAt(seconds(5000))),
		numbered(11, under(7, answeredAt(sec(11), unanswered(wasAccepted).scheduledAt(seconds(5001))))),
		numbered(1, unanswered(wasAccepted).scheduledAt(seconds(5010))),
		numbered(4, unanswered(wasAccepted).scheduledAt(seconds(5001))),
		numbered(2, unanswered(underWay).scheduledAt(seconds(5001))),
		numbered(5, unanswered(wasRejected).scheduledAt(seconds(5001))),
		numbered(6, unanswered(wasNeverSent).scheduledAt(seconds(5001))),
		numbered(3, unanswered(legDied).scheduledAt(seconds(5001))),
		numbered(8, answeredAt(sec(12), unanswered(wasAccepted).scheduledAt(seconds(5001)))),
		numbered(10, answeredAt(sec(11), unanswered(wasRejected).scheduledAt(seconds(5001)))),
		numbered(7, answeredAt(sec(11), unanswered(wasAccepted).scheduledAt(seconds(5001)))),
	}
	for i, a := range order {
		for j, b := range order {
			if got, want := better(a, b, &s), i < j; i != j && got != want {
				t.Errorf("better(%d, %d) = %v, want %v", a.Number, b.Number, got, want)
			}
		}
	}
}
