package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"smpponce/ledger"
	"smpponce/pdu"
)

// A story is a ledger.Story as the control address tells it: times in RFC 3339, no number in full, and nothing that only the ledger
// understands.
type story struct {
	Number           uint64       `json:"number"` // for settle
	State            string       `json:"state"`
	Account          string       `json:"account"` // at most 16 octets of it
	Destination      string       `json:"destination"`
	RequestKey       string       `json:"request_key"` // as it is logged
	KeyKind          string       `json:"key_kind"`
	Part             *part        `json:"part,omitempty"`
	ReceiptRequested bool         `json:"receipt_requested"`
	Since            time.Time    `json:"since"` // its first submission
	AgeSeconds       int64        `json:"age_seconds"`
	ToldID           *string      `json:"told_message_id,omitempty"` // what the ESME is told
	Waiting          int          `json:"waiting"`
	Next             string       `json:"next,omitempty"` // of what is in doubt: what becomes of the next repeat
	Submissions      []submission `json:"submissions"`
	ForgottenTries   uint32       `json:"forgotten_attempts,omitempty"`
	Attempts         []attempt    `json:"attempts"`
	Receipts         []receipt    `json:"receipts"`
}

type part struct {
	Number    int    `json:"number"`
	Total     int    `json:"total"`
	Reference uint16 `json:"reference"` // as the SMSC was given it
}

type submission struct {
	At         time.Time  `json:"at"`
	Session    string     `json:"session"`
	Sequence   uint32     `json:"sequence"`
	Verdict    string     `json:"verdict"`
	Reason     string     `json:"reason"`
	Answered   *time.Time `json:"answered,omitempty"`
	Status     string     `json:"status,omitempty"`
	AnswerLost *time.Time `json:"answer_lost,omitempty"`
	Stands     bool       `json:"stands"` // its answer decides whether a repeat is one
}

type attempt struct {
	Number    uint64     `json:"number"`
	At        time.Time  `json:"at"`
	Leg       string     `json:"smsc_leg"`
	Sequence  uint32     `json:"sequence,omitempty"` // 0: not known any more
	State     string     `json:"state"`
	Ended     *time.Time `json:"ended,omitempty"`
	Evidence  string     `json:"evidence"`
	Status    string     `json:"status,omitempty"` // of the SMSC's answer
	MessageID *string    `json:"message_id,omitempty"`
	Told      bool       `json:"told"`
	Final     string     `json:"final,omitempty"`
}

type receipt struct {
	At        time.Time `json:"at"`
	MessageID string    `json:"message_id"`
	State     string    `json:"state"`
	Status    string    `json:"status"` // as the SMSC wrote it
}

// tell gives stories their form.
func (c *control) tell(stories []ledger.Story, now ledger.Time) []story {
	told := make([]story, len(stories))
	for i := range stories {
		told[i] = tell(&stories[i], c.policyOf(stories[i].Account), now)
	}
	return told
}

func tell(s *ledger.Story, p ledger.Policy, now ledger.Time) story {
	t := story{
		Number: uint64(s.Number), State: s.State.String(), Account: s.Account[:min(len(s.Account), 16)], Destination: s.Masked,
		RequestKey: s.Key.String(), KeyKind: s.Key.Kind(), ReceiptRequested: s.ReceiptRequested,
		Since: s.Claimed.Std(), AgeSeconds: int64(now.Sub(s.Claimed) / time.Second), Waiting: s.Waiting, Next: whatNext(s, &p, now),
		ForgottenTries: s.Forgotten,
		Submissions:    []submission{}, Attempts: []attempt{}, Receipts: []receipt{},
	}
	if s.Part.Total > 0 {
		t.Part = &part{int(s.Part.Number), int(s.Part.Total), s.Part.Reference}
	}
	if s.Answer != nil {
		t.ToldID = textOf(s.Answer.MessageID)
	}
	for i := range s.History {
		t.Submissions = append(t.Submissions, tellSubmission(&s.History[i]))
	}
	standing := tellSubmission(&s.Standing)
	standing.Stands = true
	t.Submissions = append(t.Submissions, standing)
	slices.SortStableFunc(t.Submissions, func(a, b submission) int { return a.At.Compare(b.At) })
	for i := range s.Attempts {
		t.Attempts = append(t.Attempts, tellAttempt(&s.Attempts[i]))
	}
	for i := range s.Receipts {
		r := &s.Receipts[i]
		t.Receipts = append(t.Receipts, receipt{r.At.Std(), string(r.ID), r.State, string(r.Status)})
	}
	return t
}

func tellSubmission(s *ledger.Stand) submission {
	t := submission{At: s.At.Std(), Session: s.Session.String(), Sequence: s.Sequence, Verdict: s.Verdict.String(), Reason: s.Reason.String(),
		Answered: timeOf(s.Answered), AnswerLost: timeOf(s.Lost)}
	if s.Answered != 0 {
		t.Status = statusText(s.Status, false)
	}
	return t
}

func tellAttempt(a *ledger.Attempt) attempt {
	t := attempt{Number: uint64(a.Number), At: a.At.Std(), Leg: a.Leg.String(), Sequence: a.Sequence, State: a.State.String(),
		Ended: timeOf(a.Ended), Evidence: a.Evidence.String(), Told: a.Told}
	if a.Evidence == ledger.ByResponse || a.Evidence == ledger.ByLate {
		t.Status = statusText(a.Status, a.Nack)
	}
	if len(a.ID) > 0 {
		t.MessageID = textOf(a.ID)
	}
	if a.Final != ledger.NotFinal {
		t.Final = a.Final.String()
	}
	return t
}

// whatNext says what becomes of the next repeat of what is in doubt.
func whatNext(s *ledger.Story, p *ledger.Policy, now ledger.Time) string {
	sent, from := int(s.Forgotten), s.Deadline
	for i := range s.Attempts {
		if a := &s.Attempts[i]; a.State != ledger.NeverSent {
			sent++
			if !s.Released && p.MinInterval > 0 {
				from = max(from, a.At.Add(p.MinInterval))
			}
		}
	}
	switch {
	case s.State != ledger.InDoubt:
		return ""
	case s.Spent:
		return "a repeat is a new message"
	case p.Mode == ledger.Observe:
		return "a repeat is sent (mode observe)"
	case p.MaxAttempts > 0 && sent >= p.MaxAttempts && !s.Released:
		return "repeats are sent back (max_attempts)"
	case s.Deadline == 0:
		return "repeats are sent back until it is settled"
	case from <= now:
		return "the next repeat is sent to the SMSC again"
	}
	return "repeats are sent back until " + timeText(from.Std()) + ", then one is sent to the SMSC again"
}

func timeOf(t ledger.Time) *time.Time {
	if t == 0 {
		return nil
	}
	std := t.Std()
	return &std
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func textOf(b []byte) *string {
	s := string(b)
	return &s
}

// statusText is a command_status with its name, where it has one.
func statusText(status uint32, nack bool) string {
	text := fmt.Sprintf("0x%02X %s", status, pdu.StatusName(status))
	if nack {
		text += " (generic_nack)"
	}
	return text
}

// quoted is what came from outside, for a terminal.
func quoted(s string) string { return strconv.QuoteToASCII(s) }

// latestDoubt is the attempt that keeps a story in doubt.
func (s *story) latestDoubt() attempt {
	for i := len(s.Attempts) - 1; i >= 0; i-- {
		if s.Attempts[i].State == ledger.InDoubt.String() {
			return s.Attempts[i]
		}
	}
	return attempt{}
}

// tries is how often it was handed to the SMSC, as far as that is known.
func (s *story) tries() int { return int(s.ForgottenTries) + len(s.Attempts) }
