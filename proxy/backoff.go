package proxy

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	firstPenalty  = 250 * time.Millisecond
	lastPenalty   = 30 * time.Second
	penaltyMemory = 5 * time.Minute // without a failed bind, after which a source starts anew
)

// penalties remembers the sources of failed binds, so that one with a wrong password cannot get the proxy's own
// address banned: the failure is told to it later each time, and a client that waits for the answer tries no faster.
// Good binds of the same source are not held up.
type penalties struct {
	mu      sync.Mutex
	sources map[string]penalty // at most maxSources
}

type penalty struct {
	delay time.Duration
	at    time.Time
}

// failed notes a failed bind and says how long its answer is to be kept back.
func (p *penalties) failed(source string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sources == nil {
		p.sources = make(map[string]penalty)
	}
	last, known := p.sources[source]
	if !known && len(p.sources) >= maxSources {
		p.makeRoom(now)
	}
	next := penalty{firstPenalty, now}
	if known && now.Sub(last.at) < penaltyMemory {
		next.delay = min(2*last.delay, lastPenalty)
	}
	p.sources[source] = next
	return next.delay
}

// makeRoom forgets what is too old, or else any one source.
func (p *penalties) makeRoom(now time.Time) {
	for source, last := range p.sources {
		if now.Sub(last.at) >= penaltyMemory {
			delete(p.sources, source)
		}
	}
	for source := range p.sources {
		if len(p.sources) < maxSources {
			return
		}
		delete(p.sources, source)
	}
}

// sourceOf names where a connection comes from: its IPv4 address, or the /64 of its IPv6 address, within which one
// host can take any.
func sourceOf(a net.Addr) string {
	addr, err := addrOf(a)
	if err != nil {
		return a.String()
	}
	if addr.Is4() {
		return addr.String()
	}
	net64, _ := addr.Prefix(64) // no error: 64 is within an IPv6 address
	return net64.String()
}

// addrOf gives the IP address alone.
func addrOf(a net.Addr) (netip.Addr, error) {
	at, err := netip.ParseAddrPort(a.String())
	return at.Addr().Unmap().WithZone(""), err
}
