package cases

import (
	"fmt"
	"testing"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// An SMSC reads three messages, stops, and resets the connection. The kernel knows which of the others it never put on
// the wire: they are sent again at once, and are no duplicates. What was on the wire is in doubt.
func TestWhatTheKernelNeverSentIsSentAgainAtOnce(t *testing.T) {
	t.Parallel()
	const n, read = 300, 3
	s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
	defer s.Close()
	message := func(i int) wire.Message {
		m := stage.Message("")
		m.TLVs = []wire.TLV{{Tag: wire.TagPayload, Value: fmt.Appendf(nil, "%04d%2000d", i, 0)}}
		return m
	}
	number := func(f wire.Frame) (i int) {
		m, err := wire.ParseMessage(f.Body())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(string(m.Payload()[:4]), "%d", &i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	esme, smsc := s.Bound("acme")
	for i := range n {
		esme.Submit(message(i))
	}
	for range read {
		smsc.Answer(smsc.WantSubmit(), "1")
		esme.Want(wire.SubmitSM | wire.Response)
	}
	eventually(t, "all are queued for the SMSC", func() bool {
		return s.Value("smpponce_pdus_total", "leg", "smsc", "direction", "out", "command", "submit_sm") == n
	})
	smsc.Reset()
	esme.WantEnd()
	_ = esme.Close()
	eventually(t, "the ledger knows what became of them", func() bool {
		return s.Value("smpponce_outcomes_total", "outcome", "never_sent")+s.Value("smpponce_in_doubt") == n-read
	})
	never := int(s.Value("smpponce_outcomes_total", "outcome", "never_sent"))
	if never == 0 || never == n-read {
		t.Fatalf("%d were never sent, of %d: the test proves nothing", never, n-read)
	}

	esme, smsc = s.Bound("acme")
	first := n - never
	for i := read; i < n; i++ {
		esme.Submit(message(i))
	}
	for i := first; i < n; i++ {
		f := smsc.WantSubmit()
		if got := number(f); got != i {
			t.Fatalf("message %d was sent again, want %d", got, i)
		}
		smsc.Answer(f, "2")
	}
	answers := map[uint32]int{}
	for range n - read {
		answers[esme.Want(wire.SubmitSM|wire.Response).Status()]++
	}
	if answers[wire.OK] != never || answers[stage.RetryStatus] != first-read {
		t.Errorf("answers by status: %v; want %d with ESME_ROK, %d with retry_status", answers, never, first-read)
	}
	s.WantValue(float64(never), "smpponce_resubmissions_total", "state", "never_sent", "verdict", "forward")
	s.WantValue(float64(first-read), "smpponce_resubmissions_total", "state", "in_doubt", "verdict", "retry")
	s.WantValue(0, "smpponce_in_doubt_resent_total")
}
