package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// capacity is how many octets one direction holds before a writer waits.
const capacity = 256 << 10

// Conn is one end of a connection. It is a net.Conn with CloseWrite.
type Conn struct {
	link        *link
	in, out     *stream
	local, peer net.Addr

	// guarded by link.mu
	closed                      bool
	readDeadline, writeDeadline time.Time
	readExpiry, writeExpiry     *time.Timer
}

// link is what both ends share.
type link struct {
	mu    sync.Mutex
	moved *sync.Cond // something changed, in either direction
}

// stream is one direction. Guarded by link.mu.
type stream struct {
	buf      []byte
	start    int
	size     int   // octets it may hold
	written  int64 // octets taken from the writer so far
	arrived  int64 // octets that the reader's host acknowledged
	finished bool  // the writer has closed its side
	gone     bool  // the reader has closed altogether
	reset    bool
	cutAt    int64 // octets after which the connection breaks; negative: never
	cutReset bool
	lossy    bool // only a write that goes beyond cutAt breaks it, and succeeds
	frozen   bool // the reader's host has vanished: nothing arrives, nobody says so
}

// Pair makes a connection. The first end dialled from the first address to the second.
func Pair(from, to net.Addr) (dialer, accepted *Conn) {
	l := &link{}
	l.moved = sync.NewCond(&l.mu)
	there, back := &stream{cutAt: -1, size: capacity}, &stream{cutAt: -1, size: capacity}
	return &Conn{link: l, in: back, out: there, local: from, peer: to},
		&Conn{link: l, in: there, out: back, local: to, peer: from}
}

// CutAfter breaks the connection when the peer of c has been sent n octets by c in all: what is beyond is lost, both
// ends see an end of the stream, or with reset a reset.
func (c *Conn) CutAfter(n int64, reset bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out.cutAt, c.out.cutReset = n, reset
	c.severed(c.out)
	c.link.moved.Broadcast()
}

// severed breaks the connection where the time of the cut in s has come. Caller holds link.mu.
func (c *Conn) severed(s *stream) {
	if s.cutAt >= 0 && s.written >= s.cutAt && !s.lossy {
		for _, d := range []*stream{c.in, c.out} {
			d.finished = true
			d.reset = d.reset || s.cutReset
		}
	}
}

// Vanish makes the host of c disappear: what the peer sends is never acknowledged, and it hears nothing more.
func (c *Conn) Vanish() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.in.frozen, c.out.frozen = true, true
}

// Stall makes c take at most n unread octets more, as a peer does that no longer reads.
func (c *Conn) Stall(n int) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.in.size = n
	c.link.moved.Broadcast()
}

// Reset closes c so that the peer sees a reset.
func (c *Conn) Reset() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if !c.closed {
		c.shut(true)
	}
}

// Acknowledged is how many octets the peer's host has, whether or not its application read them.
func (c *Conn) Acknowledged() (octets uint64, roundTrip time.Duration, known bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return uint64(c.out.arrived), time.Millisecond, true
}

// Unacknowledged is how many octets are on their way to the peer's host. What a full peer keeps back is not.
func (c *Conn) Unacknowledged() (octets int, known bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return int(c.out.written - c.out.arrived), true
}

// PeerEnded says whether the peer has ended its direction, or the connection was reset, read to there or not.
func (c *Conn) PeerEnded() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return c.in.reset || c.in.finished && !c.in.frozen
}

// Read waits for at least one octet.
func (c *Conn) Read(p []byte) (int, error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	for {
		s := c.in
		switch left := len(s.buf) - s.start; {
		case c.closed:
			return 0, c.fail("read", net.ErrClosed)
		case expired(c.readDeadline):
			return 0, c.fail("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			return 0, nil
		case left > 0 && !s.frozen:
			n := copy(p, s.buf[s.start:])
			if s.start += n; s.start == len(s.buf) {
				s.buf, s.start = s.buf[:0], 0
			}
			c.link.moved.Broadcast()
			return n, nil
		case s.reset:
			return 0, c.fail("read", syscall.ECONNRESET)
		case s.finished && !s.frozen:
			return 0, io.EOF
		}
		c.link.moved.Wait()
	}
}

// Write waits until all of p is buffered.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	for {
		s := c.out
		switch {
		case c.closed:
			return n, c.fail("write", net.ErrClosed)
		case s.reset:
			return n, c.fail("write", syscall.ECONNRESET)
		case s.gone: // the kernel takes it, and then the peer's answers with a reset
			s.written += int64(len(p) - n)
			s.reset, c.in.reset = true, true
			c.in.buf, c.in.start = nil, 0
			c.link.moved.Broadcast()
			return len(p), nil
		case s.finished:
			return n, c.fail("write", syscall.EPIPE)
		case expired(c.writeDeadline):
			return n, c.fail("write", os.ErrDeadlineExceeded)
		}
		if n == len(p) {
			return n, nil
		}
		if s.lossy && int64(len(p)-n) > s.cutAt-s.written {
			s.buf = append(s.buf, p[n:n+int(s.cutAt-s.written)]...)
			s.written, s.arrived, s.lossy = s.cutAt, s.cutAt, false
			c.severed(s)
			c.link.moved.Broadcast()
			return len(p), nil
		}
		take := min(len(p)-n, max(0, s.size-(len(s.buf)-s.start)))
		if s.cutAt >= 0 {
			take = int(min(int64(take), s.cutAt-s.written))
		}
		if take > 0 {
			s.buf = append(s.buf, p[n:n+take]...)
			s.written += int64(take)
			if !s.frozen {
				s.arrived = s.written
			}
			n += take
			c.severed(s)
			c.link.moved.Broadcast()
			continue
		}
		c.link.moved.Wait()
	}
}

// CloseWrite ends this direction; the peer reads to its end.
func (c *Conn) CloseWrite() error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.out.finished = true
	c.link.moved.Broadcast()
	return nil
}

// Close closes both directions. With input unread, the peer is reset and loses what it has not read.
func (c *Conn) Close() error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.shut(len(c.in.buf) > c.in.start)
	return nil
}

// shut ends c. Caller holds link.mu.
func (c *Conn) shut(reset bool) {
	c.closed = true
	c.in.gone, c.out.finished = true, true
	if reset {
		c.in.reset, c.out.reset = true, true
		c.out.buf, c.out.start = nil, 0
	}
	c.in.buf, c.in.start = nil, 0
	for _, t := range []*time.Timer{c.readExpiry, c.writeExpiry} {
		if t != nil {
			t.Stop()
		}
	}
	c.link.moved.Broadcast()
}

func (c *Conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.peer, Err: err}
}

// LocalAddr is this end's address, RemoteAddr the other's.
func (c *Conn) LocalAddr() net.Addr  { return c.local }
func (c *Conn) RemoteAddr() net.Addr { return c.peer }

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline makes a Read fail from t on.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.deadline(&c.readDeadline, &c.readExpiry, t)
}

// SetWriteDeadline makes a Write fail from t on.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.deadline(&c.writeDeadline, &c.writeExpiry, t)
}

func (c *Conn) deadline(at *time.Time, expiry **time.Timer, t time.Time) error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.closed {
		return c.fail("set", net.ErrClosed)
	}
	*at = t
	if *expiry != nil {
		(*expiry).Stop()
		*expiry = nil
	}
	if !t.IsZero() {
		*expiry = time.AfterFunc(time.Until(t), func() {
			c.link.mu.Lock()
			defer c.link.mu.Unlock()
			c.link.moved.Broadcast()
		})
	}
	c.link.moved.Broadcast()
	return nil
}

func expired(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// CloseRead makes the peer's writes fail; c can still write.
func (c *Conn) CloseRead() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.in.finished = true
	c.link.moved.Broadcast()
}

// Sent is how many octets c has written so far.
func (c *Conn) Sent() int64 {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return c.out.written
}

// CutPeerAfter breaks the connection when the peer has sent n octets more to c: CutAfter, seen from the other end.
func (c *Conn) CutPeerAfter(n int64, reset bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.in.cutAt, c.in.cutReset = c.in.written+n, reset
	c.severed(c.in)
	c.link.moved.Broadcast()
}

// LosePeerAfter is CutPeerAfter as a kernel's buffer makes it: the peer's write of what is beyond succeeds, is lost on
// the way, and only then the connection breaks.
func (c *Conn) LosePeerAfter(n int64, reset bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.in.cutAt, c.in.cutReset, c.in.lossy = c.in.written+n, reset, true
}
