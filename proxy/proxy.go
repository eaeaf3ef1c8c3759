package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/linxGnu/gosmpp/data"
	"go.uber.org/zap"
)

// Proxy relays the sessions of ESMEs to an SMSC. Make one with New, run it with Serve, end it with Shutdown.
type Proxy struct {
	o         Options
	started   time.Time // the proxy's clock counts from here
	metrics   *metrics
	penalties penalties
	inbound   *serverTLS // nil: plain
	outbound  *clientTLS // nil: plain
	quiet     quiet
	key       [32]byte // of identities

	// life ends when Shutdown stops waiting; dials hang on it.
	life context.Context
	end  context.CancelFunc

	mu       sync.Mutex // guards what follows
	listener net.Listener
	stopping bool
	early    map[net.Conn]struct{} // connections without a session yet
	sessions map[*session]struct{}
	places   int   // connections of ESMEs
	draining int   // SMSC legs whose ESME is gone
	past     tally // of the ended sessions
	running  sync.WaitGroup
}

// New checks the options and reads the certificates.
func New(o Options) (*Proxy, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	p := &Proxy{o: o, started: time.Now().Add(-time.Second), metrics: newMetrics(),
		early: make(map[net.Conn]struct{}), sessions: make(map[*session]struct{})}
	rand.Read(p.key[:])
	p.life, p.end = context.WithCancel(context.Background())
	if o.ListenTLS != nil {
		if p.inbound, err = newServerTLS(*o.ListenTLS, p.certificateUsed(esme), o.Log); err != nil {
			return nil, fmt.Errorf("proxy: listen TLS: %w", err)
		}
	}
	if o.UpstreamTLS != nil {
		if p.outbound, err = newClientTLS(*o.UpstreamTLS, p.certificateUsed(smsc), o.Log); err != nil {
			return nil, fmt.Errorf("proxy: upstream TLS: %w", err)
		}
	}
	if err := p.register(o.Metrics); err != nil {
		return nil, fmt.Errorf("proxy: metrics: %w", err)
	}
	return p, nil
}

// since is a moment on the proxy's clock: never 0, and never stepping.
func (p *Proxy) since(t time.Time) time.Duration { return t.Sub(p.started) }

// Serve accepts ESMEs until ctx is done or Shutdown is called; then it returns nil, and the sessions go on. An accept
// that fails (no descriptors left, say) is tried again. It closes the listener, and is called once.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	p.mu.Lock()
	if p.stopping || p.listener != nil {
		p.mu.Unlock()
		_ = l.Close()
		return errors.New("proxy: Serve was called before, or after Shutdown")
	}
	p.listener = l
	p.mu.Unlock()
	defer context.AfterFunc(ctx, p.stopAccepting)()

	pause := time.Duration(0)
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			p.admit(c)
			continue
		case errors.Is(err, net.ErrClosed):
			p.stopAccepting()
			return nil
		}
		pause = min(max(2*pause, 5*time.Millisecond), acceptPause)
		p.o.Log.Warn("a connection could not be accepted", zap.Error(err), zap.Duration("next_try_in", pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// stopAccepting closes the listener.
func (p *Proxy) stopAccepting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close() // a second close does no harm
	}
	p.stopping = p.stopping || p.listener != nil
}

// Ready says whether new sessions are taken.
func (p *Proxy) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listener != nil && !p.stopping
}

// admit gives a connection its goroutine, if there is room.
func (p *Proxy) admit(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping || p.places >= p.o.MaxSessions {
		_ = c.Close()
		if !p.stopping {
			p.metrics.bind(bindOverLimit)
			if p.quiet.allow(time.Now()) {
				p.o.Log.Warn("a connection was closed: listen.max_sessions is reached",
					zap.Stringer("peer", c.RemoteAddr()), zap.Int("max_sessions", p.o.MaxSessions))
			}
		}
		return
	}
	p.places++
	p.early[c] = struct{}{}
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		p.serve(c)
	}()
}

// opened takes a new session in, unless the proxy is stopping. Its connection is no longer an early one.
func (p *Proxy) opened(s *session, c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.early, c)
	if p.stopping {
		return false
	}
	p.sessions[s] = struct{}{}
	return true
}

// left frees the place of an ESME's connection.
func (p *Proxy) left(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.early, c)
	p.places--
}

// mayDrain lets an SMSC leg stay without its ESME, as long as there are not too many of them.
func (p *Proxy) mayDrain() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining >= p.o.MaxSessions {
		return false
	}
	p.draining++
	return true
}

func (p *Proxy) drained() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draining--
}

// ended takes leave of a session; its counts stay.
func (p *Proxy) ended(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	p.past.add(&s.t)
}

// census counts over all sessions, ended ones too.
func (p *Proxy) census() *census {
	c := &census{sessions: make(map[string]int), legs: make(map[[2]string]int)}
	now := p.since(time.Now())
	p.mu.Lock()
	defer p.mu.Unlock()
	c.add(&p.past)
	for s := range p.sessions {
		c.take(s, now)
	}
	return c
}

// Shutdown ends everything, in this order:
//  1. no more connections; those without a session are closed;
//  2. submissions that still come are answered retry_status, all else passes, and what is pending is waited for;
//  3. when nothing is pending, or shortly before ctx ends, both legs get unbind and are closed;
//  4. when ctx ends, what is left is closed at once; the ledger is told of each end, so that it is in doubt.
//
// It returns when all sessions are over: nil, or ctx's error if step 4 was needed.
func (p *Proxy) Shutdown(ctx context.Context) error {
	now := time.Now()
	drainBy := never
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(now)
		drainBy = p.since(deadline) - min(2*lingerTime, left/3)
	}
	p.mu.Lock()
	p.stopping = true
	if p.listener != nil {
		_ = p.listener.Close()
	}
	for c := range p.early {
		_ = c.Close()
	}
	for s := range p.sessions {
		s.refuseMore(drainBy)
	}
	p.mu.Unlock()
	p.end()

	over := make(chan struct{})
	go func() {
		p.running.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	for s := range p.sessions {
		s.kill()
	}
	p.mu.Unlock()
	<-over
	return ctx.Err()
}

// refuseMore has the session take no more submissions, and wait for the answers to the others until drainBy.
func (s *session) refuseMore(drainBy time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusing, s.drainBy = true, drainBy
	s.poke()
}

// kill has the session wait for nothing any more.
func (s *session) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	s.esme.abort(dropped)
	s.smsc.abort(dropped)
	s.poke()
}

// quiet lets a line that an attacker could cause through once a second. Proxy.mu guards it.
type quiet struct{ last time.Time }

func (q *quiet) allow(now time.Time) bool {
	if now.Sub(q.last) < time.Second {
		return false
	}
	q.last = now
	return true
}

// bindName is the label of a bind.
func bindName(c data.CommandIDType) string {
	switch c {
	case data.BIND_TRANSMITTER:
		return "transmitter"
	case data.BIND_RECEIVER:
		return "receiver"
	}
	return "transceiver"
}
