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
	"fmt"
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
	// Made, if not nil, hears of each cut, before anybody else can see it, with the address of the client.
	Made func(client net.Addr)
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
	both.Go(func() {
		defer close(p.pumped)
		_ = p.pump(&p.target, &p.client)
	})
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
	p := &pair{r: r, pumped: make(chan struct{}), over: make(chan struct{}), client: side{tcp: c}, target: side{tcp: t}, end: r.end(), clientFirst: r.chance.IntN(2) == 0}
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
