package proxy

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// socket is one TCP connection of the proxy.
type socket struct {
	net.Conn           // what PDUs go through: TLS, or the counted connection itself
	wire     *counted  // below TLS
	base     uint64    // octets acknowledged before we wrote any; the handshake may count as one
	known    bool      // the platform tells what the peer acknowledged
	record   int       // most octets in one write
	armed    time.Time // the write deadline that stands; guarded by the session's mutex
	halved   bool      // our end was asked for; the watcher's
}

const (
	plainWrite = 64 << 10
	tlsWrite   = 16 << 10 // one TLS record: it can be read only whole, so its end is the end of all frames in it
)

// newSocket takes a connection over which nothing has been written yet.
func newSocket(raw net.Conn) *socket {
	wire := &counted{Conn: raw}
	s := &socket{Conn: wire, wire: wire, record: plainWrite}
	s.base, _, s.known = acknowledged(raw)
	return s
}

// secure puts TLS on top.
func (s *socket) secure(over func(net.Conn) net.Conn) {
	s.Conn = over(s.wire)
	s.record = tlsWrite
}

// counted counts what was handed to the kernel: under TLS that is ciphertext, as what the kernel says is of it.
type counted struct {
	net.Conn
	sent atomic.Uint64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(uint64(n))
	return n, err
}

// sent is how many octets the kernel has been given in all.
func (s *socket) sent() uint64 { return s.wire.sent.Load() }

// acked is how many of them the peer's TCP has acknowledged, and the round trip that TCP measures. Where the
// platform does not tell, all are taken for acknowledged: to believe an answer lost that was not would swallow a
// message, which is worse than a duplicate.
func (s *socket) acked() (octets uint64, roundTrip time.Duration) {
	if s.known {
		if n, rtt, ok := acknowledged(s.wire.Conn); ok {
			return n - s.base, rtt
		}
	}
	return s.sent(), 0
}

// closeWrite ends our direction, under TLS with close_notify, and leaves the other open.
func (s *socket) closeWrite() error {
	var errs error
	s.halved = true
	for _, c := range []net.Conn{s.Conn, rawOf(s.wire.Conn)} {
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			errs = errors.Join(errs, half.CloseWrite())
		}
	}
	return errs
}

// rawOf gives the kernel's connection below a PROXY header.
func rawOf(c net.Conn) net.Conn {
	if over, ok := c.(interface{ Raw() net.Conn }); ok {
		return over.Raw()
	}
	return c
}

// acknowledged asks the kernel, or a test's network, how many octets the peer has acknowledged.
func acknowledged(c net.Conn) (octets uint64, roundTrip time.Duration, known bool) {
	switch c := rawOf(c).(type) {
	case interface {
		Acknowledged() (uint64, time.Duration, bool)
	}:
		return c.Acknowledged()
	case *net.TCPConn:
		return tcpAcknowledged(c)
	}
	return 0, 0, false
}

// neverSent is how many of the last octets that the kernel was given have never been on the wire, and never will be: the
// connection is dead, and not closed yet. 0 where that is not known. Under TLS it would be a count of ciphertext.
func (s *socket) neverSent() (octets uint64) {
	if s.record == tlsWrite {
		return 0
	}
	switch c := rawOf(s.wire.Conn).(type) {
	case interface{ NeverSent() uint64 }:
		octets = c.NeverSent()
	case *net.TCPConn:
		octets = tcpNeverSent(c)
	}
	if s.halved && octets > 0 {
		octets-- // our FIN, or one too few, which only makes a message doubtful
	}
	return octets
}

// unacknowledged says how much the peer's TCP owes an acknowledgement for: 0 is nothing. Where the platform does not tell it is not known.
func (s *socket) unacknowledged() (n int, known bool) {
	switch c := rawOf(s.wire.Conn).(type) {
	case interface{ Unacknowledged() (int, bool) }:
		return c.Unacknowledged()
	case *net.TCPConn:
		return tcpUnacknowledged(c)
	}
	return 0, false
}

// peerEnded says whether the kernel, or a test's network, knows already that the peer has hung up, though its end may
// not be read yet. Where the platform does not tell, it has not.
func (s *socket) peerEnded() bool {
	switch c := rawOf(s.wire.Conn).(type) {
	case interface{ PeerEnded() bool }:
		return c.PeerEnded()
	case *net.TCPConn:
		return tcpEnded(c)
	}
	return false
}
