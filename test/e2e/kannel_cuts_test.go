package e2e

import (
	"fmt"
	"testing"

	"smpponce/test/cut"
	"smpponce/test/smsc"
)

// reported waits until Kannel has told the application with that type of report of at least least of
// the n messages.
func (k *kannel) reported(n, least int, kind string) {
	k.t.Helper()
	k.wait(fmt.Sprintf("%d reports of type %s", least, kind), func() bool {
		known := 0
		for i := range n {
			if len(k.ids(fmt.Sprintf("message %d", i), kind)) > 0 {
				known++
			}
		}
		return known >= least
	})
}

// settled checks that each of n messages went out once, that Kannel acknowledged each receipt, and
// that it matched all but lost of them: the application is told that the message was delivered,
// under the SMSC's id.
func settled(t *testing.T, k *kannel, s *smsc.Server, n, lost int, answered func()) {
	t.Helper()
	k.emptied()
	answered()
	if err := s.Wait(bounded(t), func() bool { return s.Counts().Acknowledged >= n }); err != nil {
		t.Fatal(err)
	}
	k.reported(n, n-lost, delivered)
	counts := s.Counts()
	if counts.Accepted != n || counts.Duplicates != 0 {
		t.Errorf("the SMSC accepted %d with %d duplicates, want %d and none", counts.Accepted, counts.Duplicates, n)
	}
	for _, r := range s.Received() {
		text := string(r.Message.Text)
		for _, id := range k.ids(text, delivered) {
			if id != r.ID {
				t.Errorf("%q was reported as %q, the SMSC gave it %q", text, id, r.ID)
			}
		}
		for _, kind := range []string{failed, refused} {
			if len(k.ids(text, kind)) > 0 {
				t.Errorf("%q was reported with type %s", text, kind)
			}
		}
	}
}

func TestKannelThatIsCutTenTimesSendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, faulty(smsc.UUID))
	p := serve(t, s.Addr())
	r := startCuts(t, p.address, cut.Any)
	k := startKannel(t, r.Addr())
	const n = 150
	k.submit(n)
	k.reported(n, n, taken)
	settled(t, k, s, n, 0, func() { answered(s, r) })
	if r.Cuts() < cuts {
		t.Errorf("%d cuts, want %d or more", r.Cuts(), cuts)
	}
	t.Logf("decisions: %s", p.resubmissions())
}
