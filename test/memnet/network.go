package memnet

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Addr is the address of a listener or of one end of a connection: any text, best a host:port.
type Addr string

func (Addr) Network() string  { return "mem" }
func (a Addr) String() string { return string(a) }

// Network connects dialers with listeners by address. The zero value is ready.
type Network struct {
	// OnDial, where set, sees both ends of each new connection before anybody else does: the place to script a cut.
	OnDial func(address string, dialer, accepted *Conn)

	mu        sync.Mutex
	listeners map[string]*Listener
}

// Listen takes an address. It panics if it is taken: a fault of the test.
func (n *Network) Listen(address string) *Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[address] != nil {
		panic("memnet: " + address + " is taken")
	}
	if n.listeners == nil {
		n.listeners = make(map[string]*Listener)
	}
	l := &Listener{network: n, address: address, backlog: make(chan *Conn, 1024), closed: make(chan struct{})}
	n.listeners[address] = l
	return l
}

// Dial connects to a listener. Its signature is that of net.Dialer.DialContext.
func (n *Network) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return n.DialFrom(ctx, "10.0.0.1:1000", address)
}

// DialFrom is Dial with an address of the dialer's own.
func (n *Network) DialFrom(ctx context.Context, from, address string) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: Addr(address), Err: syscall.ECONNREFUSED}
	}
	dialer, accepted := Pair(Addr(from), Addr(address))
	if n.OnDial != nil {
		n.OnDial(address, dialer, accepted)
	}
	select {
	case l.backlog <- accepted:
		return dialer, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: Addr(address), Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Listener is a net.Listener on a Network.
type Listener struct {
	network *Network
	address string
	backlog chan *Conn
	closed  chan struct{}
	once    sync.Once
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "mem", Addr: l.Addr(), Err: net.ErrClosed}
	default:
	}
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "mem", Addr: l.Addr(), Err: net.ErrClosed}
	}
}

// Close frees the address. What was not accepted is reset.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, l.address)
		l.network.mu.Unlock()
		close(l.closed)
		for {
			select {
			case c := <-l.backlog:
				c.Reset()
			default:
				return
			}
		}
	})
	return nil
}

// Addr is the listener's address.
func (l *Listener) Addr() net.Addr { return Addr(l.address) }
