package ledger

import "time"

// Limit names the setting that keeps a resubmission from being forwarded.
type Limit uint8

const (
	NoLimit       Limit = iota
	ByMaxAttempts       // Policy.MaxAttempts
	ByMinInterval       // Policy.MinInterval
	limitEnds           // for the metrics
)

func (l Limit) String() string { return [...]string{"none", "max_attempts", "min_interval"}[l] }

// restrain looks at a resubmission that is to be forwarded. One that is out of date is refused: the client shall not try again. One beyond
// a limit is sent back, unless an operator has released it. What was never sent counts for no limit.
func restrain(d *Decision, r *Record, s *Submission, p *Policy, now Time) {
	sent, last := int(r.Forgotten), Time(0)
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.State != NeverSent {
			sent++
			last = max(last, a.At)
		}
	}
	switch {
	case outdated(r, s, now):
		d.Verdict, d.Reason, d.Resent = Refuse, ReasonOutdated, false
	case d.Reason == ReasonReleased:
	case p.MaxAttempts > 0 && sent >= p.MaxAttempts:
		d.Limit = ByMaxAttempts
	case p.MinInterval > 0 && last != 0 && now < last.Add(p.MinInterval):
		d.Limit = ByMinInterval
	}
	if d.Limit != NoLimit {
		d.Verdict, d.Reason, d.Resent = Retry, ReasonLimit, false
	}
}

// outdated tells that the validity period of s is over. What arrived no later than the first attempt began repeats nothing: of that the
// SMSC judges.
func outdated(r *Record, s *Submission, now Time) bool {
	if s.At <= r.Claimed {
		return false
	}
	return s.ValidUntil != 0 && now > Time(s.ValidUntil)*Time(time.Second) || s.ValidFor > 0 && now > r.Claimed.Add(s.ValidFor)
}
