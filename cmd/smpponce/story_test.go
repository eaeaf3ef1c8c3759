package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smpponce/ledger"
)

const second = ledger.Time(time.Second)

// at is so many seconds after a quiet moment.
func at(seconds int64) ledger.Time {
	return ledger.Time(time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC).UnixNano()) + ledger.Time(seconds)*second
}

// twice is a message whose first attempt is in doubt and whose second was accepted.
func twice() ledger.Story {
	s := ledger.Story{State: ledger.Accepted, Waiting: 1, Receipts: []ledger.Observation{{At: at(90), ID: []byte("78\x1b["), State: "delivered", Status: []byte("DELIVRD")}}}
	s.Number, s.Claimed, s.Account, s.Masked, s.ReceiptRequested = 17, at(0), "a-system-id-of-more-than-16-octets", "*******4567", true
	s.Key = ledger.Key{Hash: [16]byte{0xAB, 1}}
	s.Part = ledger.Part{Total: 3, Number: 2, Reference: 9}
	s.Answer = &ledger.Response{MessageID: []byte("78")}
	s.Forgotten = 1
	s.Attempts = []ledger.Attempt{
		{Number: 17, Leg: 1<<32 | 2, Sequence: 5, At: at(0), Ended: at(3), State: ledger.InDoubt, Evidence: ledger.ByLegEnd},
		{Number: 18, Leg: 1<<32 | 3, At: at(64), Ended: at(65), State: ledger.Accepted, Evidence: ledger.ByResponse, ID: []byte("78"), Told: true},
		{Number: 19, Leg: 1<<32 | 3, At: at(66), Ended: at(67), State: ledger.Rejected, Evidence: ledger.ByLate, Status: 0x58, Nack: true},
		{Number: 20, Leg: 1<<32 | 3, At: at(68), Ended: at(69), State: ledger.Undelivered, Evidence: ledger.ByElimination, ID: []byte("79"), Final: ledger.Expired},
	}
	s.Standing = ledger.Stand{Session: 1<<32 | 3, Sequence: 2, At: at(64), Verdict: ledger.Forward, Reason: ledger.ReasonDoubtDeadline, Answered: at(65), Lost: at(66)}
	s.History = []ledger.Stand{
		{Session: 1<<32 | 2, Sequence: 8, At: at(5), Verdict: ledger.Retry, Reason: ledger.ReasonDoubt, Answered: at(5), Status: 0x14},
		{Session: 1<<32 | 1, Sequence: 7, At: at(0), Verdict: ledger.Forward, Reason: ledger.ReasonNew},
	}
	return s
}

func TestAStoryTellsEverySubmissionAttemptAndReceiptInOrder(t *testing.T) {
	s := twice()
	told := tell(&s, ledger.Policy{}, at(100))
	var b strings.Builder
	if err := writeStories(&b, []story{told, told}); err != nil {
		t.Fatal(err)
	}
	want := `17: message of "a-system-id-of-m" to *******4567, accepted
  request key ab01000000000000 (content), part 2 of 3 under reference 9, receipt requested
  the client is told message id "78"
  submissions that wait: 1
  submissions
    2026-03-04T05:06:07.089Z  session 1.1, sequence number 7: forward (new), not answered
    2026-03-04T05:06:12.089Z  session 1.2, sequence number 8: retry (in_doubt), answered 2026-03-04T05:06:12.089Z with 0x14 ESME_RMSGQFUL
    2026-03-04T05:07:11.089Z  session 1.3, sequence number 2: forward (in_doubt_deadline), answered 2026-03-04T05:07:12.089Z with 0x00 ESME_ROK, answer lost 2026-03-04T05:07:13.089Z
  attempts
    (1 earlier ones are no longer remembered)
    2026-03-04T05:06:07.089Z  SMSC leg 1.2, sequence number 5: in_doubt 2026-03-04T05:06:10.089Z (leg_ended)
    2026-03-04T05:07:11.089Z  SMSC leg 1.3: accepted 2026-03-04T05:07:12.089Z (response), 0x00 ESME_ROK, message id "78"
    2026-03-04T05:07:13.089Z  SMSC leg 1.3: rejected 2026-03-04T05:07:14.089Z (late_response), 0x58 ESME_RTHROTTLED (generic_nack)
    2026-03-04T05:07:15.089Z  SMSC leg 1.3: undelivered 2026-03-04T05:07:16.089Z (receipt_elimination), message id "79" (not told to the client), then expired
  receipts
    2026-03-04T05:07:37.089Z  message id "78\x1b[": delivered, written as "DELIVRD"
`
	if diff := cmp.Diff(want+"\n"+want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheTableOfDoubtsHasALineForEach(t *testing.T) {
	s := twice()
	s.State, s.Attempts, s.Deadline = ledger.InDoubt, s.Attempts[:1], at(200)
	told := tell(&s, ledger.Policy{}, at(100))
	for name, c := range map[string]struct {
		stories []story
		want    string
	}{
		"none": {nil, "Nothing is in doubt.\n"},
		"one": {[]story{told}, "" +
			"NUMBER  AGE    ACCOUNT             DESTINATION  ATTEMPTS  EVIDENCE   RECEIPT    WAITING  NEXT\n" +
			"17      1m40s  \"a-system-id-of-m\"  *******4567  2         leg_ended  requested  1        repeats are sent back until 2026-03-04T05:09:27.089Z, then one is sent to the SMSC again\n"},
	} {
		var b strings.Builder
		if err := writeDoubts(&b, c.stories); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatIsInDoubtSaysWhatBecomesOfTheNextRepeat(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*ledger.Story, *ledger.Policy)
		want   string
	}{
		{"refuse", func(*ledger.Story, *ledger.Policy) {}, "repeats are sent back until it is settled"},
		{"hold, before its deadline", func(s *ledger.Story, _ *ledger.Policy) { s.Deadline = at(101) },
			"repeats are sent back until 2026-03-04T05:07:48.089Z, then one is sent to the SMSC again"},
		{"hold, at its deadline", func(s *ledger.Story, _ *ledger.Policy) { s.Deadline = at(100) }, "the next repeat is sent to the SMSC again"},
		{"spent", func(s *ledger.Story, _ *ledger.Policy) { s.Spent = true }, "a repeat is a new message"},
		{"observe", func(_ *ledger.Story, p *ledger.Policy) { p.Mode = ledger.Observe }, "a repeat is sent (mode observe)"},
		{"at the limit", func(s *ledger.Story, p *ledger.Policy) { s.Deadline, p.MaxAttempts = at(1), 2 }, "repeats are sent back (max_attempts)"},
		{"below the limit", func(s *ledger.Story, p *ledger.Policy) { s.Deadline, p.MaxAttempts = at(1), 3 }, "the next repeat is sent to the SMSC again"},
		{"released beyond the limit", func(s *ledger.Story, p *ledger.Policy) { s.Released, s.Deadline, p.MaxAttempts = true, at(1), 2 },
			"the next repeat is sent to the SMSC again"},
		{"too soon after the latest attempt", func(s *ledger.Story, p *ledger.Policy) {
			s.Deadline, p.MinInterval = at(1), 2*time.Minute
			s.Attempts[1].At = at(99) // never sent: it does not count
		}, "repeats are sent back until 2026-03-04T05:08:07.089Z, then one is sent to the SMSC again"},
		{"long enough after it", func(s *ledger.Story, p *ledger.Policy) { s.Deadline, p.MinInterval = at(1), 100*time.Second },
			"the next repeat is sent to the SMSC again"},
		{"released too soon", func(s *ledger.Story, p *ledger.Policy) {
			s.Released, s.Deadline, p.MinInterval = true, at(1), 2*time.Minute
		}, "the next repeat is sent to the SMSC again"},
		{"accepted", func(s *ledger.Story, _ *ledger.Policy) { s.State = ledger.Accepted }, ""},
	} {
		s, p := twice(), ledger.Policy{}
		s.State = ledger.InDoubt
		s.Attempts = []ledger.Attempt{s.Attempts[0], {State: ledger.NeverSent}}
		c.change(&s, &p)
		if got := whatNext(&s, &p, at(100)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
