package everycut

import (
	"fmt"

	"smpponce/test/memnet"
)

// way is a direction on a leg.
type way int

const (
	esmeToProxy way = iota // submit_sm
	proxyToSMSC            // submit_sm
	smscToProxy            // submit_sm_resp
	proxyToESME            // submit_sm_resp
)

func (w way) String() string {
	return [...]string{"ESME to proxy", "proxy to SMSC", "SMSC to proxy", "proxy to ESME"}[w]
}

// end is how a cut looks.
type end int

const (
	fin       end = iota // both see an end of the stream; a write of more than arrives fails
	reset                // both see a reset
	lostFIN              // as fin, but a kernel has taken all of the write
	lostReset            // as reset, likewise
)

func (e end) String() string { return [...]string{"FIN", "reset", "loss and FIN", "loss and reset"}[e] }

// cut breaks one connection after so many octets of what goes that way, counted from the first octet of the first
// submit_sm or of the first answer. A nil cut does nothing. Each method is a moment at which it may be set.
type cut struct {
	way    way
	end    end
	octets int
	set    bool
}

func (c *cut) String() string { return fmt.Sprintf("%v, %v after %d octets", c.way, c.end, c.octets) }

// beforeSubmits and afterSubmits come from the client, with its own end.
func (c *cut) beforeSubmits(own *memnet.Conn) {
	if c.is(esmeToProxy) {
		own.CutAfter(own.Sent()+int64(c.octets), c.end == reset)
	}
}

func (c *cut) afterSubmits(own *memnet.Conn) {
	if c.is(proxyToESME) { // no answer is under way yet: the center takes its time
		c.hear(own)
	}
}

// bound and taken come from the center, with its own end: after its bind_resp, and after the first submit_sm.
func (c *cut) bound(own *memnet.Conn) {
	if c.is(proxyToSMSC) {
		c.hear(own)
	}
}

func (c *cut) taken(own *memnet.Conn) {
	if c.is(smscToProxy) {
		own.CutAfter(own.Sent()+int64(c.octets), c.end == reset)
	}
}

// is says, once, that the cut goes that way. Only that way's own peer touches set.
func (c *cut) is(w way) bool {
	if c == nil || c.way != w || c.set {
		return false
	}
	c.set = true
	return true
}

// hear cuts what the proxy sends to own.
func (c *cut) hear(own *memnet.Conn) {
	switch c.end {
	case fin, reset:
		own.CutPeerAfter(int64(c.octets), c.end == reset)
	case lostFIN, lostReset:
		own.LosePeerAfter(int64(c.octets), c.end == lostReset)
	}
}
