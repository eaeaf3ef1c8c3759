package proxy

import "time"

// keepalive says when a silent leg is probed and when it has ended. It is pure: times come in.
type keepalive struct {
	interval, timeout time.Duration
}

// alive is what is known of a leg's life. Times are on the proxy's clock.
type alive struct {
	heard  time.Duration // when its last octets came
	probed time.Duration // when the unanswered probe was queued; 0: none is. Any octets answer it
	// stopped: nobody reads from the leg, so an answer may lie there unread and its missing proves nothing.
	stopped bool
}

type pulse uint8

const (
	calm    pulse = iota // nothing to do before next
	ask                  // to be probed
	silence              // has ended
)

// check says what is due now, and when to ask again.
func (k keepalive) check(a alive, now time.Duration) (p pulse, next time.Duration) {
	switch {
	case a.stopped:
		return calm, now + k.timeout
	case a.probed == 0:
		if due := a.heard + k.interval; now < due {
			return calm, due
		}
		return ask, now + k.timeout
	}
	if due := a.probed + k.timeout; now < due {
		return calm, due
	}
	return silence, now
}
