package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/wire"
)

func TestWhenALegIsProbedAndWhenItHasEnded(t *testing.T) {
	k := keepalive{interval: 30 * time.Second, timeout: 10 * time.Second}
	const s = time.Second
	for _, c := range []struct {
		name  string
		alive alive
		now   time.Duration
		pulse pulse
		next  time.Duration
	}{
		{"just heard", alive{heard: 100 * s}, 100 * s, calm, 130 * s},
		{"a moment before the interval", alive{heard: 100 * s}, 130*s - 1, calm, 130 * s},
		{"idle for the interval", alive{heard: 100 * s}, 130 * s, ask, 140 * s},
		{"probed", alive{heard: 100 * s, probed: 130 * s}, 139 * s, calm, 140 * s},
		{"probe not answered", alive{heard: 100 * s, probed: 130 * s}, 140 * s, silence, 140 * s},
		{"nobody reads: its silence proves nothing", alive{heard: 100 * s, probed: 130 * s, stopped: true}, 200 * s, calm, 210 * s},
		{"nobody reads: it is not probed either", alive{heard: 100 * s, stopped: true}, 200 * s, calm, 210 * s},
	} {
		pulse, next := k.check(c.alive, c.now)
		if pulse != c.pulse || next != c.next {
			t.Errorf("%s: got %v, next %v; want %v, next %v", c.name, pulse, next, c.pulse, c.next)
		}
	}
}

func TestASilentLegIsProbedAndThenEnded(t *testing.T) {
	for _, silentSide := range []string{"esme", "smsc"} {
		inBubble(t, nil, func(r *rig) {
			esme, smsc := r.bound()
			quiet, other := esme, smsc
			if silentSide == "smsc" {
				quiet, other = smsc, esme
			}
			go func() { // the other one answers probes
				for {
					f, err := other.in.Next()
					if err != nil {
						_ = other.Close()
						return
					}
					_, _ = other.Write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
				}
			}()
			start := time.Now()
			quiet.want(wire.EnquireLink)
			if took := time.Since(start); took != 30*time.Second {
				t.Errorf("%s probed after %v, want keepalive.interval", silentSide, took)
			}
			// Any octets show life, not only the answer.
			time.Sleep(9 * time.Second)
			quiet.send(wire.New(0x1234|wire.Response, 0, 77, nil))
			quiet.want(wire.EnquireLink)
			if took := time.Since(start); took != 69*time.Second {
				t.Errorf("%s probed again after %v, want 69s", silentSide, took)
			}
			quiet.wantEnd()
			if took := time.Since(start); took != 79*time.Second {
				t.Errorf("%s ended after %v, want 79s", silentSide, took)
			}
			_ = quiet.Close()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if got := r.value("smpponce_session_ends_total", "reason", silentSide+"_silent"); got != 1 {
				t.Errorf("%s: %v ends counted, want 1", silentSide, got)
			}
		})
	}
}

func TestALegThatAnswersItsProbesLives(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, smsc := r.bound()
		for range 100 {
			for _, p := range []*peer{esme, smsc} {
				p.send(wire.New(wire.EnquireLink|wire.Response, 0, p.want(wire.EnquireLink).Sequence(), nil))
			}
		}
		if got := r.value("smpponce_sessions", "bind", "transceiver"); got != 1 {
			t.Errorf("%v sessions, want 1", got)
		}
	})
}

func TestAReaderThatHasStoppedMissesNoProbeAnswer(t *testing.T) {
	inBubble(t, func(o *Options) { o.MaxPending = 2; o.ResponseTimeout = time.Hour }, func(r *rig) {
		esme, smsc := r.bound()
		go func() { // the SMSC answers probes, and no submission
			for {
				f, err := smsc.in.Next()
				if err != nil {
					return
				}
				if f.Command() == wire.EnquireLink {
					_, _ = smsc.Write(wire.New(wire.EnquireLink|wire.Response, 0, f.Sequence(), nil))
				}
			}
		}()
		for i := range uint32(4) { // two too many: they lie unread, and so would its answers to probes
			esme.send(submitFrame(i, "m"))
		}
		time.Sleep(30 * time.Minute)
		if got := r.value("smpponce_sessions", "bind", "transceiver"); got != 1 {
			t.Errorf("%v sessions, want the one to live", got)
		}
	})
}
