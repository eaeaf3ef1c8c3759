package ledger

import "math"

// Verdict says what becomes of a submission.
type Verdict uint8

const (
	Forward     Verdict = iota // to the SMSC, once its intent is durable
	Join                       // gets the answer of the attempt in flight
	Replay                     // gets the first answer again
	Wait                       // held: evidence may still come
	Retry                      // retry_status: the client shall try again later
	Refuse                     // an error: its request id was seen with another content, or it is out of date
	Fail                       // ESME_RSYSERR: the ledger cannot commit
	verdictEnds                // for the codec
)

func (v Verdict) String() string {
	return [...]string{"forward", "join", "replay", "hold", "retry", "refuse", "fail"}[v]
}

// Reason says by which rule a verdict was reached.
type Reason uint8

const (
	ReasonNew           Reason = iota // nothing is known that it could repeat
	ReasonNotAbandoned                // equal, but nothing says that an answer was lost
	ReasonExpired                     // it would have been a resubmission, but its time is over
	ReasonInFlight                    // an attempt is under way
	ReasonAccepted                    // the SMSC accepted it before
	ReasonUndelivered                 // accepted before, but not delivered: the client means it
	ReasonRejected                    // nothing was accepted
	ReasonNeverSent                   // nothing was sent
	ReasonDoubt                       // acceptance unknown; the policy decides
	ReasonDoubtDeadline               // acceptance unknown, and no evidence came by the deadline
	ReasonMismatch                    // the request id was seen with another content
	ReasonWaiters                     // too many wait for this record
	ReasonUnwritable                  // the ledger cannot commit
	ReasonUnreadable                  // the ledger cannot read its record
	ReasonStale                       // its verdict was too old to be acted on
	ReasonOtherMessage                // equal to a part of another message than the one that its own stands for
	ReasonReleased                    // acceptance unknown; an operator lets it be sent again
	ReasonLimit                       // the request was forwarded as often, or as lately, as the policy allows
	ReasonOutdated                    // its validity period is over
	reasonEnds                        // for the codec
)

func (r Reason) String() string {
	return [...]string{"new", "not_abandoned", "expired", "in_flight", "accepted", "undelivered", "rejected", "never_sent",
		"in_doubt", "in_doubt_deadline", "key_mismatch", "too_many_waiters", "ledger_unwritable", "ledger_unreadable", "stale_verdict",
		"part_of_other_message", "released", "limit", "outdated"}[r]
}

// Rule names the rule of DESIGN 4.2 by which a submission is abandoned.
type Rule uint8

const (
	NotAbandoned Rule = iota
	LegEnded          // (a) unanswered, and its ESME leg has ended
	TimedOut          // (b) unanswered for client_timeout
	AnsweredLate      // (c) answered after client_timeout
	AnswerLost        // (d) answered, but its leg ended before the client had read it
	PartLost          // another part of its message is abandoned: the client sends all of them again
)

func (r Rule) String() string {
	return [...]string{"none", "leg_ended", "client_timeout", "late_answer", "answer_lost", "part_lost"}[r]
}

// never is a time that does not come.
const never = Time(math.MaxInt64)

// Situation is what Decide must know beside record and submission.
type Situation struct {
	// SessionEnded is when the ESME leg of the standing submission ended; 0: it has not.
	SessionEnded Time
	// CanSubmitAgain is the first moment, at or after SessionEnded, at which the account had a bound session that
	// can submit; 0: not yet.
	CanSubmitAgain Time
	// LegLives: the SMSC leg of an attempt in doubt is still up, so its answer may come.
	LegLives bool
	// PartLost is when an answer to another part of the message was first lost, and PartUntil the end of that one's absorbing; 0:
	// none was lost.
	PartLost, PartUntil Time
	// Waiting: the submission is a resubmission of this record already, and waits. HeldUntil is the end of its hold;
	// 0: it is not held.
	Waiting   bool
	HeldUntil Time
}

// Decision is what Decide says. Until is set with Wait.
type Decision struct {
	Verdict      Verdict
	Reason       Reason
	Rule         Rule // why the record counts as abandoned (content keys)
	Resubmission bool // it takes the record's place
	Resent       bool // what is in doubt is forwarded: a possible duplicate
	Until        Time // end of the hold
	Absorbs      Time // end of the record's absorbing, as far as it is known now
	Limit        Limit
}

// Decide says what becomes of submission s, given record r of the same key and fingerprint (nil: there is none).
// It is pure. It does not know of modes: what is forwarded in spite of the verdict is the caller's doing.
func Decide(r *Record, s *Submission, w Situation, p *Policy, now Time) Decision {
	if r == nil {
		return Decision{Verdict: Forward, Reason: ReasonNew}
	}
	state := r.State()
	d := Decision{Verdict: Forward, Resubmission: true}
	if !w.Waiting {
		switch {
		case r.Key.Explicit:
			d.Absorbs = r.Claimed.Add(p.Window)
		default:
			d.Rule, d.Absorbs = abandoned(r, w, p, now)
			if d.Rule == NotAbandoned || !p.Content {
				return Decision{Verdict: Forward, Reason: ReasonNotAbandoned}
			}
			if apart(r, s, p) {
				return Decision{Verdict: Forward, Reason: ReasonNew}
			}
		}
		if now > d.Absorbs {
			return Decision{Verdict: Forward, Reason: ReasonExpired, Rule: d.Rule, Resent: state == InDoubt}
		}
	}
	switch state {
	case Accepted:
		d.Verdict, d.Reason = Replay, ReasonAccepted
	case InFlight:
		d.Verdict, d.Reason = Join, ReasonInFlight
	case Rejected:
		d.Reason = ReasonRejected
	case NeverSent:
		d.Reason = ReasonNeverSent
	case Undelivered:
		d.Reason = ReasonUndelivered
	case InDoubt:
		decideDoubt(&d, r, w, p, now)
	}
	if d.Verdict == Forward {
		restrain(&d, r, s, p, now)
	}
	return d
}

// decideDoubt applies on_in_doubt.
func decideDoubt(d *Decision, r *Record, w Situation, p *Policy, now Time) {
	d.Reason = ReasonDoubt
	if r.Released {
		d.Reason, d.Resent = ReasonReleased, true
		return
	}
	switch p.OnInDoubt {
	case ForwardInDoubt:
		d.Resent = true
	case RefuseInDoubt:
		d.Verdict = Retry
	case Hold:
		deadline := doubtDeadline(r, w.LegLives, p)
		switch {
		case now >= deadline:
			d.Reason, d.Resent = ReasonDoubtDeadline, true
		case w.HeldUntil > now:
			d.Verdict, d.Until = Wait, w.HeldUntil
		case r.Held || !r.ReceiptRequested && !w.LegLives:
			d.Verdict = Retry
		default:
			d.Verdict, d.Until = Wait, min(now.Add(p.HoldTimeout), deadline)
		}
	}
}

// doubtDeadline is when a record in doubt is forwarded after all (on_in_doubt: hold): in_doubt_deadline after the
// loss of the SMSC leg, or on a leg that lives response_timeout and ten times that after the attempt. The last
// attempt in doubt counts.
func doubtDeadline(r *Record, lives bool, p *Policy) Time {
	var t Time
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.State != InDoubt {
			continue
		}
		if a.Evidence == ByDeadline && lives {
			t = max(t, a.At.Add(p.ResponseTimeout+10*p.InDoubtDeadline))
		} else {
			t = max(t, a.Ended.Add(p.InDoubtDeadline))
		}
	}
	return t
}

// abandoned tells by which rule the standing submission of r is abandoned at now, and until when the record
// absorbs a resubmission. Where several rules hold, the one that lasts longest counts. The time runs from the first
// loss: once the record has absorbed, its end is fixed (Record.Until).
func abandoned(r *Record, w Situation, p *Policy, now Time) (Rule, Time) {
	s := &r.Standing
	timeout := s.At.Add(p.ClientTimeout)
	rule, until, loss := NotAbandoned, Time(0), never
	apply := func(by Rule, at, end Time) {
		if rule == NotAbandoned || end > until {
			rule, until = by, end
		}
		loss = min(loss, at)
	}
	if s.Answered == 0 {
		if w.SessionEnded != 0 && w.SessionEnded <= now {
			end := never
			if w.CanSubmitAgain != 0 {
				end = w.CanSubmitAgain.Add(p.ContentWindow)
			}
			apply(LegEnded, w.SessionEnded, end)
		}
		if now >= timeout {
			apply(TimedOut, timeout, timeout.Add(p.ContentWindow))
		}
	} else {
		if s.Answered >= timeout {
			apply(AnsweredLate, timeout, s.Answered.Add(lateAbsorb))
		}
		if s.Lost != 0 {
			apply(AnswerLost, s.Lost, s.Lost.Add(p.ContentWindow))
		}
	}
	if w.PartUntil != 0 {
		apply(PartLost, w.PartLost, w.PartUntil)
	}
	if rule == NotAbandoned {
		return rule, 0
	}
	if r.Loss != 0 {
		loss = r.Loss
	}
	if r.Until != 0 {
		until = r.Until
	}
	until = min(until, loss.Add(p.ContentLimit))
	if r.State() == InDoubt {
		until = max(until, doubtUntil(r, w.LegLives, p))
	}
	return rule, until
}

// doubtUntil is how long a record in doubt lives at least: as long as its policy still holds or refuses it.
func doubtUntil(r *Record, lives bool, p *Policy) Time {
	switch p.OnInDoubt {
	case Hold:
		return doubtDeadline(r, lives, p).Add(p.ContentWindow)
	case RefuseInDoubt:
		return r.Claimed.Add(p.Window)
	}
	return 0
}

// firstLoss is when the answer to the standing submission was first lost.
func firstLoss(rule Rule, r *Record, w Situation, p *Policy) Time {
	switch {
	case r.Loss != 0:
		return r.Loss
	case rule == AnswerLost:
		return r.Standing.Lost
	case rule == PartLost:
		return w.PartLost
	case rule == LegEnded:
		return min(w.SessionEnded, r.Standing.At.Add(p.ClientTimeout))
	}
	return r.Standing.At.Add(p.ClientTimeout)
}

// apart tells that the schedules of r and s are too far apart for s to repeat r.
func apart(r *Record, s *Submission, p *Policy) bool {
	return distance(r, s) > int64(p.ContentWindow.Seconds())
}

// distance is the seconds between the scheduled deliveries of r and s. At once is its own time of receipt, but two
// submissions for at once are not apart at all, however late the second.
func distance(r *Record, s *Submission) int64 {
	if r.Schedule == 0 && s.Schedule == 0 {
		return 0
	}
	a, b := r.Schedule, s.Schedule
	if a == 0 {
		a = r.Claimed.Std().Unix()
	}
	if b == 0 {
		b = s.At.Std().Unix()
	}
	return max(a-b, b-a)
}

// better tells that record a is to be preferred over b as the one that s repeats: the equal schedule first, then the equal reference of a
// long message. Then what is
// surely repeated, for it is unanswered, before what may have been read; of that the last answer first, since a client
// reads them in order. Of what is unanswered, accepted comes first, then in flight, and in doubt last: of equal
// messages those of which nobody knows may have to wait, and the others need not. Then the older one.
func better(a, b *Record, s *Submission) bool {
	if da, db := distance(a, s) == 0, distance(b, s) == 0; da != db {
		return da
	}
	if da, db := a.Part.Reference == s.Part.Reference, b.Part.Reference == s.Part.Reference; da != db {
		return da
	}
	ra, rb := a.Standing.Answered, b.Standing.Answered
	switch {
	case ra == 0 && rb == 0:
		if sa, sb := a.State(), b.State(); sa != sb {
			return sb == InDoubt || sa != InDoubt && sa < sb
		}
		return a.Number < b.Number
	case ra == 0 || rb == 0:
		return ra == 0
	case ra != rb:
		return ra > rb
	}
	return a.Number > b.Number
}
