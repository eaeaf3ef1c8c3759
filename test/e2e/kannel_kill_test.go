package e2e

import (
	"testing"
	"time"

	"smpponce/test/smsc"
)

// Kannel keeps what it was given in a file, and after its restart sends everything again whose answer
// it had not written there.
func TestKannelThatIsKilledSendsNothingTwice(t *testing.T) {
	t.Parallel()
	const n, kills = 200, 10
	// Answers are slow enough for a full window of unanswered messages at each kill.
	s := startSMSC(t, smsc.Options{AnswerDelay: 100 * time.Millisecond, Receipts: &smsc.Receipts{Held: true}, IDs: smsc.Decimal})
	p := serve(t, s.Addr())
	k := startKannel(t, p.address)
	k.submit(n)
	for i := range kills {
		if err := s.Wait(bounded(t), func() bool { return s.Counts().Accepted >= 15*(i+1) }); err != nil {
			t.Fatal(err)
		}
		k.kill("bearerbox")
		k.kill("smsbox") // it would end by itself
		k.run("bearerbox")
		k.reachable(k.boxes)
		k.run("smsbox")
	}
	// A kill may tear the one entry that Kannel is writing into its list of expected receipts.
	settled(t, k, s, n, kills, s.Release)
	t.Logf("decisions: %s", p.resubmissions())
	if p.Count(`"msg":"resubmission"`) == 0 {
		t.Error("Kannel repeated nothing, so nothing was shown")
	}
}
