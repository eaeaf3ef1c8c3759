package proxy

import (
	"net/netip"
	"testing"
	"time"

	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// refuse binds once from an address, is refused, and says how long that took.
func (r *rig) refuse(from string, status uint32) time.Duration {
	r.t.Helper()
	start, esme := time.Now(), r.dialFrom(from)
	esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "wrong", ""))
	smsc := r.accept()
	smsc.send(wire.New(wire.BindTransceiver|wire.Response, status, smsc.next().Sequence(), nil))
	smsc.wantEnd()
	_ = smsc.Close()
	if got := esme.want(wire.BindTransceiver | wire.Response); got.Status() != status {
		r.t.Fatalf("status %#x, want %#x", got.Status(), status)
	}
	took := time.Since(start)
	esme.wantEnd()
	_ = esme.Close()
	return took
}

func TestRefusedBindsAreToldWithAGrowingDelayPerSource(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		for i, want := range []time.Duration{250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000} {
			if took := r.refuse("10.1.1.1:4000", wire.BindFailed); took != want*time.Millisecond {
				t.Errorf("refusal %d was told after %v, want %v", i, took, want*time.Millisecond)
			}
		}
		if took := r.refuse("10.1.1.2:4000", wire.BindFailed); took != firstPenalty {
			t.Errorf("the refusal of another source was told after %v, want %v", took, firstPenalty)
		}
		if took := r.refuse("10.1.1.1:4000", wire.AlreadyBound); took != 0 {
			t.Errorf("ESME_RALYBND was told after %v, want at once", took)
		}
		start := time.Now()
		esme, _ := r.bound() // from the same source
		if took := time.Since(start); took != 0 {
			t.Errorf("a good bind took %v, want no delay", took)
		}
		_ = esme.Close()
		time.Sleep(penaltyMemory)
		if took := r.refuse("10.1.1.1:4000", wire.BindFailed); took != firstPenalty {
			t.Errorf("later a refusal was told after %v, want %v", took, firstPenalty)
		}
	})
}

func TestAnSMSCThatDropsTheConnectionInsteadOfRefusingCountsAsARefusal(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		for _, want := range []time.Duration{firstPenalty, 2 * firstPenalty} {
			start, esme := time.Now(), r.dial()
			esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "wrong", ""))
			_ = r.accept().Close()
			esme.wantEnd()
			if took := time.Since(start); took != want {
				t.Errorf("closed after %v, want %v", took, want)
			}
			_ = esme.Close()
		}
	})
}

func TestPenaltiesAreBounded(t *testing.T) {
	var p penalties
	now := time.Now()
	for i := range maxSources + 10 {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		p.failed(sourceOf(memnet.Addr(netip.AddrPortFrom(addr, 1).String())), now)
	}
	if len(p.sources) > maxSources {
		t.Errorf("%d sources are kept, want at most %d", len(p.sources), maxSources)
	}
}

func TestASourceIsAnIPv4AddressOrAnIPv6Network(t *testing.T) {
	for from, want := range map[string]string{
		"10.1.1.1:4000":               "10.1.1.1",
		"[::ffff:10.1.1.1]:4000":      "10.1.1.1",
		"[2001:db8:1:2:3:4:5:6]:4000": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:4000":         "fe80::/64",
		"pipe":                        "pipe",
	} {
		if got := sourceOf(memnet.Addr(from)); got != want {
			t.Errorf("the source of %s is %s, want %s", from, got, want)
		}
	}
}
