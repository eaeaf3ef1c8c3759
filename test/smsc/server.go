package smsc

import (
	"crypto/sha256"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Server is a message centre on a TCP port.
type Server struct {
	o        Options
	listener *net.TCPListener
	later    *later
	running  sync.WaitGroup // the accept loop, two goroutines a connection, later

	// plain: nothing is scripted, delayed, receipted or kept, so a submission needs no lock but
	// its outbox's.
	plain bool
	fast  atomic.Uint64 // submissions taken and answered that way; their ids come first

	mu          sync.Mutex // guards all below
	closed      bool
	connections map[*connection]struct{}
	accounts    map[string]*account
	contents    map[[sha256.Size]byte]int // how often each was accepted
	history     []*Submission
	counts      Counts // Bound is reckoned when asked
	arrivals    int
	deliveries  int
	held        []*delivery // receipts that wait for Release
	released    bool
	ids         uint64
	changed     chan struct{} // closed at the next event; nil while nobody waits
}

// account is a system_id.
type account struct {
	bound   []*connection
	waiting []*delivery // no bind could take them yet
}

// open is how many binds stand: one whose connection the server has ended itself does not. Called with mu held.
func (a *account) open() (n int) {
	for _, c := range a.bound {
		if !c.dropped {
			n++
		}
	}
	return n
}

// Start opens a server. Close it.
func Start(o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.IDs == nil {
		o.IDs = Decimal
	}
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	s := &Server{
		o: o, listener: l.(*net.TCPListener), later: newLater(),
		plain:       o.Keep == KeepNothing && o.Script == nil && o.Receipts == nil && o.AnswerDelay == 0,
		connections: map[*connection]struct{}{}, accounts: map[string]*account{},
		contents: map[[sha256.Size]byte]int{},
	}
	s.running.Go(s.accept)
	s.running.Go(s.later.run)
	return s, nil
}

// Addr is the address to dial, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the server and waits for its goroutines. Connections are reset.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	_ = s.listener.Close()
	for c := range s.connections {
		end(c.tcp, Reset)
	}
	s.mu.Unlock()
	close(s.later.stop)
	s.running.Wait()
}

// DropAll ends every connection in that way, and tells how many there were.
func (s *Server) DropAll(d Drop) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.connections)
	for c := range s.connections {
		c.finish(d)
	}
	return n
}

func (s *Server) accept() {
	for {
		t, err := s.listener.AcceptTCP()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			_ = t.Close()
			return
		}
		s.counts.Connections++
		c := &connection{s: s, tcp: t, number: s.counts.Connections, shown: map[uint32]*delivery{}}
		c.out = newOutbox(c.sends())
		s.connections[c] = struct{}{}
		s.event()
		s.mu.Unlock()
		s.running.Go(func() { c.out.write(t) })
		s.running.Go(c.read)
	}
}
