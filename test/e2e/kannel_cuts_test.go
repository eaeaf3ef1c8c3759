package e2e

import (
	"fmt"
	"testing"

	"smpponce/test/smsc"
)

// reported waits until Kannel has told the application of n messages with that type of report.
func (k *kannel) reported(n int, kind string) {
	k.t.Helper()
	k.wait(fmt.Sprintf("%d reports of type %s", n, kind), func() bool {
		known := 0
		for i := range n {
			if len(k.ids(fmt.Sprintf("message %d", i), kind)) > 0 {
				known++
			}
		}
		return known == n
	})
}

// settled checks that each of n messages went out once, and that Kannel told the application of it
// as taken and as delivered, under the SMSC's id.
func settled(t *testing.T, k *kannel, s *smsc.Server, n int, answered func()) {
	t.Helper()
	k.reported(n, taken)
	answered()
	k.reported(n, delivered)
	once(t, s, n, func(text string) string {
		for _, kind := range []string{failed, refused} {
			if got := k.ids(text, kind); len(got) > 0 {
				t.Errorf("%q was reported with type %s", text, kind)
			}
		}
		return k.ids(text, delivered)[0]
	})
}

func TestKannelThatIsCutTenTimesSendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := startSMSC(t, faulty(smsc.UUID))
	p := serve(t, s.Addr())
	r := startCuts(t, p.address)
	k := startKannel(t, r.Addr())
	const n = 150
	k.submit(n)
	settled(t, k, s, n, func() { answered(s, r) })
	if r.Cuts() < cuts {
		t.Errorf("%d cuts, want %d or more", r.Cuts(), cuts)
	}
	t.Logf("decisions: %s", p.resubmissions())
}
