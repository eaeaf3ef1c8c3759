package ledger

import (
	"testing"
	"time"
)

func TestAResubmissionBeyondALimitIsSentBackAndCounted(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) {
		p.OnInDoubt, p.MaxAttempts, p.MinInterval = ForwardInDoubt, 2, 30*time.Second
	})
	lose := func() {
		s := r.bind("acme")
		s.submit("A", withID("a")).isForwarded(1)
		s.endBoth()
	}
	lose()
	s := r.bind("acme")
	s.submit("A", withID("a")).isForwarded(0).isSentBack()
	r.at(30)
	lose()
	r.at(100)
	s.submit("A", withID("a")).isForwarded(0).isSentBack()
	for limit, want := range map[string]float64{"min_interval": 1, "max_attempts": 1} {
		if got := r.metric(`smpponce_limited_resubmissions_total{limit="` + limit + `"}`); got != want {
			t.Errorf("limited by %s %v times, want %v", limit, got, want)
		}
	}
	r.kill(0)
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isSentBack()
	if got := r.metric("smpponce_in_doubt_resent_total"); got != 0 {
		t.Errorf("resent %v times after the restart, want none", got)
	}
}

func TestALimitCountsAttemptsThatAreRememberedNoMore(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.MaxAttempts = maxAttempts + 3 })
	s := r.bind("acme")
	for range maxAttempts + 3 {
		m := s.submit("A", withID("a")).isForwarded(1)
		m.reject(0x58)
	}
	s.submit("A", withID("a")).isForwarded(0).isSentBack()
}

func TestWhatIsOutdatedIsRefusedAndAbsorbsNothing(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = ForwardInDoubt })
	s := r.bind("acme")
	s.submit("A", validFor(time.Minute)).isForwarded(1)
	s.endBoth()
	r.at(61)
	s = r.bind("acme")
	s.submit("A", validFor(time.Minute)).isForwarded(0).isRefused(0x62, Refuse)
	s.submit("A", validFor(time.Minute)).isForwarded(0).isRefused(0x62, Refuse)
	s.submit("A", validFor(time.Hour)).isForwarded(1)
	if got := r.metric("smpponce_in_doubt_resent_total"); got != 1 {
		t.Errorf("resent %v times, want 1", got)
	}
}

func TestWhoWaitedForWhatWasNeverSentIsRefusedWhenItIsOutdatedByThen(t *testing.T) {
	r := newRig(t)
	first := r.bind("acme")
	m := first.submit("A", withID("a")).isForwarded(1)
	r.at(1)
	s := r.bind("acme")
	joined := s.submit("A", withID("a"), validFor(10*time.Second)).waits()
	r.at(20)
	r.l.Unsent(m.last, false)
	r.run()
	joined.isForwarded(0).isRefused(0x62, Refuse)
}

func TestObserveForwardsWhateverTheLimits(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.Mode, p.MaxAttempts = Observe, 1 })
	s := r.bind("acme")
	m := s.submit("A", withID("a")).isForwarded(1)
	m.reject(0x58)
	r.at(1)
	s.submit("A", withID("a")).isForwarded(1)
	s.submit("A", withID("a"), validFor(time.Millisecond)).isForwarded(1)
}
