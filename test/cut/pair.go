package cut

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pair is a connection of a client and its connection to the target.
type pair struct {
	r              *Relay
	client, target side
	end            End
	clientFirst    bool         // the client hears of the cut first
	planned        bool         // it was given one of the planned cuts; r.mu guards it
	left           atomic.Int64 // octets until the cut
	spread         atomic.Int64 // ns from there to the cut, in which everything still passes
	once           sync.Once
	wasCut         atomic.Bool
	pumped         chan struct{} // closed when nothing is read from the target any more
	over           chan struct{} // closed when the target has been told of the end
}

type side struct {
	tcp  *net.TCPConn
	held atomic.Bool // octets from this side were read and not yet handed on
}

// pump hands on octets from one side to the other until one ends or the cut comes. It returns what
// the last read said, for the kernel tells of a reset only once.
func (p *pair) pump(from, to *side) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.tcp.Read(buf)
		if n > 0 {
			from.held.Store(true)
			if p.wasCut.Load() {
				return err
			}
			pass, last := p.share(n)
			if _, werr := to.tcp.Write(buf[:pass]); werr != nil {
				p.broken(from)
				return err
			}
			if pass == n {
				from.held.Store(false)
			}
			if last {
				p.cut()
				return err
			}
		}
		switch {
		case err == nil:
		case p.wasCut.Load():
			return err
		case errors.Is(err, io.EOF):
			_ = to.tcp.CloseWrite()
			return err
		default:
			to.reset()
			return err
		}
	}
}

// share is how many of n octets may pass; last tells that the cut comes after them.
func (p *pair) share(n int) (pass int, last bool) {
	after := p.left.Add(-int64(n))
	if after > 0 {
		return n, false
	}
	if d := p.spread.Load(); d > 0 {
		p.left.Store(1 << 62)
		time.AfterFunc(time.Duration(d), p.cut)
		return n, false
	}
	return max(0, n+int(after)), true
}

// broken passes a reset on.
func (p *pair) broken(to *side) {
	if !p.wasCut.Load() {
		to.reset()
	}
}

func (s *side) reset() {
	_ = s.tcp.SetLinger(0)
	_ = s.tcp.Close()
}

// cut ends both sides.
func (p *pair) cut() {
	p.once.Do(func() {
		p.wasCut.Store(true)
		p.r.cuts.Add(1) // before anybody can see it
		if p.r.o.Made != nil {
			p.r.o.Made(p.client.tcp.RemoteAddr())
		}
		client := func() { _ = p.client.tcp.CloseWrite() }
		if p.end == Reset {
			client = p.client.reset
		}
		target := p.target.reset
		if p.end == ClientEnds {
			target = func() {} // await sees to it
		}
		_ = p.client.tcp.SetReadDeadline(time.Now().Add(patience))
		if p.clientFirst {
			client()
			target()
		} else {
			target()
			client()
		}
		p.r.mu.Lock()
		close(p.r.made)
		p.r.made = make(chan struct{})
		p.r.mu.Unlock()
	})
}

// await follows a cut, and what the client's last read said: it reads what a client that saw FIN still sends, to the client's end, and lets
// the target see that end. Octets of the target that the client will never get mean RST; for those
// that the relay has not read the kernel sees to it.
func (p *pair) await(err error) {
	if p.end == Reset {
		return
	}
	if err == nil {
		_, err = io.Copy(io.Discard, p.client.tcp)
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	// The other pump may have octets in its hands of which nobody knows yet.
	_ = p.target.tcp.SetReadDeadline(time.Now())
	<-p.pumped
	if err != nil || p.end == HalfReset || p.target.held.Load() {
		p.target.reset()
	}
	_ = p.target.tcp.Close()
}

// patience is how long a client that saw FIN has to close.
const patience = time.Second

// giveBack returns a planned cut that the connection's end forestalled.
func (p *pair) giveBack() {
	ended := false
	p.once.Do(func() { ended = true }) // it cannot be cut any more
	p.r.mu.Lock()
	if p.planned && ended {
		p.r.left++
	}
	p.r.mu.Unlock()
}

func (p *pair) close() {
	_ = p.client.tcp.Close()
	_ = p.target.tcp.Close()
}
