// Package cut is a TCP relay that cuts connections: what a network, a middlebox or a dying host
// does to a client.
//
// A cut falls after a random number of octets, so it meets traffic and not a long pause, and often
// the middle of a PDU. What lies in the relay at that moment is lost. There are three kinds: both
// sides are reset; the client sees FIN and the target RST; or the client sees FIN and the target
// then sees how the client ends. The fourth, in which the target sees FIN though the client has not
// read everything, is left out on purpose. A relay that says so lies: to the target that is a client
// which has read all its answers and closed.
package cut

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a relay.
type Options struct {
	Target   string // where connections are relayed to, host:port
	Seed     uint64 // of all chance; print it with a failure
	Cuts     int    // how many cuts are made; after them nothing is disturbed
	Min, Max int64  // octets, of both directions together, from a connection's start to its cut
	// Spread lets every other cut, by chance, come a random time up to this after its octets: where
	// traffic comes in bursts, octets alone would never cut between two of them.
	Spread time.Duration
	End    End
}

// End is a kind of cut.
type End int

const (
	Any        End = iota // one of the others, by chance
	Reset                 // RST to both sides
	HalfReset             // FIN to the client, RST to the target
	ClientEnds            // FIN to the client; the target sees how the client ends
)

// Relay is a relay on a loopback port.
type Relay struct {
	o        Options
	listener *net.TCPListener
	running  sync.WaitGroup
	cuts     atomic.Int64

	mu     sync.Mutex // guards what follows
	chance *rand.Rand
	left   int // cuts still to be given to connections
	pairs  map[*pair]struct{}
	closed bool
	made   chan struct{} // closed at the next cut
}

// Start opens a relay. Close it.
func Start(o Options) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cutting relay: %w", err)
	}
	r := &Relay{
		o: o, listener: l.(*net.TCPListener), left: o.Cuts, pairs: map[*pair]struct{}{},
		chance: rand.New(rand.NewPCG(o.Seed, o.Seed)), made: make(chan struct{}),
	}
	r.running.Go(r.accept)
	return r, nil
}

// Addr is the address to dial, host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Cuts is how many cuts were made.
func (r *Relay) Cuts() int { return int(r.cuts.Load()) }

// Cut cuts every connection now, beside the planned ones, and tells how many there were.
func (r *Relay) Cut() int {
	r.mu.Lock()
	var all []*pair
	for p := range r.pairs {
		all = append(all, p)
	}
	r.mu.Unlock()
	for _, p := range all {
		p.cut()
	}
	return len(all)
}

// Made is closed at the next cut.
func (r *Relay) Made() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}

// Close ends the relay and all connections, and waits for its goroutines.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	_ = r.listener.Close()
	for p := range r.pairs {
		p.close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

func (r *Relay) accept() {
	for {
		c, err := r.listener.AcceptTCP()
		if err != nil {
			return
		}
		r.running.Go(func() { r.relay(c) })
	}
}

// relay is one connection's life.
func (r *Relay) relay(c *net.TCPConn) {
	r.awaitEnds()
	t, err := net.DialTimeout("tcp", r.o.Target, 5*time.Second)
	if err != nil {
		_ = c.SetLinger(0)
		_ = c.Close()
		return
	}
	p := r.pair(c, t.(*net.TCPConn))
	if p == nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		err := p.pump(&p.client, &p.target)
		if p.wasCut.Load() {
			p.await(err)
		}
	})
	both.Go(func() { _ = p.pump(&p.target, &p.client) })
	both.Wait()
	p.close()
	close(p.over)
	r.mu.Lock()
	delete(r.pairs, p)
	r.mu.Unlock()
	p.giveBack()
}

// awaitEnds keeps the order that a network keeps: what a client did before it connected again reaches
// the target first. So the end of each connection that was cut does.
func (r *Relay) awaitEnds() {
	r.mu.Lock()
	var ends []<-chan struct{}
	for p := range r.pairs {
		if p.wasCut.Load() {
			ends = append(ends, p.over)
		}
	}
	r.mu.Unlock()
	for _, over := range ends {
		<-over
	}
}

// pair is made with the connection's share of chance; nil where the relay has closed.
func (r *Relay) pair(c, t *net.TCPConn) *pair {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &pair{r: r, over: make(chan struct{}), client: side{tcp: c}, target: side{tcp: t}, end: r.end(), clientFirst: r.chance.IntN(2) == 0}
	if r.closed {
		p.close()
		return nil
	}
	p.left.Store(1 << 62)
	r.plan(p)
	r.pairs[p] = struct{}{}
	return p
}

// plan gives a connection a cut, if one is left. Called with mu held.
func (r *Relay) plan(p *pair) {
	if r.left == 0 || p.planned {
		return
	}
	r.left--
	p.planned = true
	if r.o.Spread > 0 && r.chance.IntN(2) == 1 {
		p.spread.Store(r.chance.Int64N(int64(r.o.Spread)))
	}
	p.left.Store(r.o.Min + r.chance.Int64N(r.o.Max-r.o.Min+1))
}

// More adds cuts to those that are left. The connections that stand have their share in them.
func (r *Relay) More(cuts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += cuts
	for p := range r.pairs {
		r.plan(p)
	}
}

// end draws a kind of cut. Called with mu held.
func (r *Relay) end() End {
	if r.o.End != Any {
		return r.o.End
	}
	return Reset + End(r.chance.IntN(3))
}

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
	if err != nil || p.end == HalfReset || p.target.held.Load() {
		p.target.reset()
	}
	_ = p.target.tcp.Close() // the other pump may still read it
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
