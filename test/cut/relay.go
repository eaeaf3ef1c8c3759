// Package cut is a TCP relay that cuts connections: what a network, a middlebox or a dying host
// does to a client.
//
// A cut falls after a random number of octets, so it meets traffic and not a long pause, and often
// the middle of a PDU. What lies in the relay at that moment is lost. Each side sees
// FIN or RST, by chance, but one thing is kept as a kernel has it: a relay that holds octets which
// one side has sent and the other will never get resets the sender. FIN would tell the sender that
// its peer had read everything.
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

// End says how a side sees a cut.
type End int

const (
	Either End = iota // by chance
	Finish            // FIN
	Reset             // RST
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
	both.Go(func() { p.pump(&p.client, &p.target) })
	both.Go(func() { p.pump(&p.target, &p.client) })
	both.Wait()
	p.close()
	r.mu.Lock()
	delete(r.pairs, p)
	r.mu.Unlock()
	p.giveBack()
}

// pair is made with the connection's share of chance; nil where the relay has closed.
func (r *Relay) pair(c, t *net.TCPConn) *pair {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &pair{r: r, client: side{tcp: c, end: r.end()}, target: side{tcp: t, end: r.end()}, first: r.chance.IntN(2)}
	if r.closed {
		p.close()
		return nil
	}
	p.left.Store(1 << 62)
	if r.left > 0 {
		r.left--
		p.planned = true
		p.left.Store(r.o.Min + r.chance.Int64N(r.o.Max-r.o.Min+1))
		if r.o.Spread > 0 && r.chance.IntN(2) == 1 {
			p.spread = time.Duration(r.chance.Int64N(int64(r.o.Spread)))
		}
	}
	r.pairs[p] = struct{}{}
	return p
}

// end draws a side's end. Called with mu held.
func (r *Relay) end() End {
	if r.o.End != Either {
		return r.o.End
	}
	return Finish + End(r.chance.IntN(2))
}

// pair is a connection of a client and its connection to the target.
type pair struct {
	r              *Relay
	client, target side
	first          int           // which side hears of a cut first
	planned        bool          // it was given one of the planned cuts
	left           atomic.Int64  // octets until the cut
	spread         time.Duration // from there to the cut, in which everything still passes
	once           sync.Once
	wasCut         atomic.Bool
}

type side struct {
	tcp  *net.TCPConn
	end  End
	held atomic.Bool // octets from this side were read and not yet handed on
}

// pump hands on octets from one side to the other until one ends or the cut comes.
func (p *pair) pump(from, to *side) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.tcp.Read(buf)
		if n > 0 {
			from.held.Store(true)
			pass := int64(n)
			after := p.left.Add(-pass)
			if after <= 0 && p.spread > 0 {
				p.left.Store(1 << 62)
				time.AfterFunc(p.spread, p.cut)
				after = 1
			}
			if after <= 0 {
				pass = max(0, pass+after)
			}
			if _, werr := to.tcp.Write(buf[:pass]); werr != nil {
				p.broken(from)
				return
			}
			if after <= 0 {
				if pass == int64(n) {
					from.held.Store(false)
				}
				p.cut()
				return
			}
			from.held.Store(false)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			_ = to.tcp.CloseWrite()
			return
		default:
			p.broken(to)
			return
		}
	}
}

// broken passes a reset on.
func (p *pair) broken(to *side) {
	if p.wasCut.Load() {
		return
	}
	_ = to.tcp.SetLinger(0)
	_ = to.tcp.Close()
}

// cut ends both sides.
func (p *pair) cut() {
	p.once.Do(func() {
		p.wasCut.Store(true)
		p.r.cuts.Add(1) // before anybody can see it
		sides := []*side{&p.client, &p.target}
		for _, s := range []*side{sides[p.first], sides[1-p.first]} {
			if s.end == Reset || s.held.Load() {
				_ = s.tcp.SetLinger(0)
			}
			_ = s.tcp.Close()
		}
		p.r.mu.Lock()
		close(p.r.made)
		p.r.made = make(chan struct{})
		p.r.mu.Unlock()
	})
}

// giveBack returns a planned cut that the connection's end forestalled.
func (p *pair) giveBack() {
	ended := false
	p.once.Do(func() { ended = true }) // it cannot be cut any more
	if !p.planned || !ended {
		return
	}
	p.r.mu.Lock()
	p.r.left++
	p.r.mu.Unlock()
}

func (p *pair) close() {
	_ = p.client.tcp.Close()
	_ = p.target.tcp.Close()
}
