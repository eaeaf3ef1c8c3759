package stage

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// patience bounds every wait of a peer, in memory in fake time: far more than is needed, and only spent where a test
// fails.
const (
	patience     = time.Minute
	fakePatience = 3 * time.Hour
)

// Peer is an ESME or an SMSC that does only what the test says: nothing is read before it is asked for.
type Peer struct {
	net.Conn
	t        testing.TB
	name     string
	in       *wire.Reader
	patience time.Duration
	sequence uint32
}

func (s *Stage) peer(name string, c net.Conn, over func(net.Conn) net.Conn) *Peer {
	_, inMemory := c.(*memnet.Conn)
	if over != nil {
		c = over(c)
	}
	p := &Peer{Conn: c, t: s.T, name: name, in: wire.NewReader(c), patience: patience}
	if inMemory {
		p.patience = fakePatience
	}
	s.mu.Lock()
	s.peers = append(s.peers, p)
	s.mu.Unlock()
	return p
}

// Address is where ESMEs dial.
func (s *Stage) Address() string { return s.address }

// Dial connects as an ESME.
func (s *Stage) Dial() *Peer {
	s.T.Helper()
	if s.settings.Loopback {
		c, err := net.DialTimeout("tcp", s.Address(), patience)
		if err != nil {
			s.T.Fatal(err)
		}
		return s.peer("ESME", c, s.settings.ESME)
	}
	c, err := s.Net.DialFrom(context.Background(), "10.1.1.1:4000", proxyAddress)
	if err != nil {
		s.T.Fatal(err)
	}
	return s.peer("ESME", c, s.settings.ESME)
}

// Accept waits for a connection of the proxy to the SMSC.
func (s *Stage) Accept() *Peer {
	s.T.Helper()
	most := fakePatience
	if s.settings.Loopback {
		most = patience
	}
	type result struct {
		p   *Peer
		err error
	}
	accepted := make(chan result, 1)
	go func() {
		p, err := s.TryAccept()
		accepted <- result{p, err}
	}()
	select {
	case r := <-accepted:
		if r.err != nil {
			s.T.Fatal(r.err)
		}
		return r.p
	case <-time.After(most):
		s.T.Fatalf("the proxy has not dialled the SMSC within %v", most)
		return nil
	}
}

// TryAccept is Accept for an SMSC that ends with the stage: then it fails.
func (s *Stage) TryAccept() (*Peer, error) {
	c, err := s.smsc.Accept()
	if err != nil {
		return nil, err
	}
	return s.peer("SMSC", c, s.settings.SMSC), nil
}

// BindResp is the body of the SMSC's answer to a bind.
const BindResp = "smsc\x00"

// Bound brings up a session of an account.
func (s *Stage) Bound(account string) (esme, smsc *Peer) {
	s.T.Helper()
	return s.BoundAs(wire.BindTransceiver, account)
}

// BoundAs is Bound with another bind.
func (s *Stage) BoundAs(command uint32, account string) (esme, smsc *Peer) {
	s.T.Helper()
	return s.bound(wire.Bind(command, 1, account, "secret", ""))
}

// BoundElsewhere is Bound for another client of the account: no SMSC leg that one has left is given to it.
func (s *Stage) BoundElsewhere(account string) (esme, smsc *Peer) {
	s.T.Helper()
	return s.bound(wire.Bind(wire.BindTransceiver, 1, account, "secret", "elsewhere"))
}

// Back binds as Bound does, and gets the SMSC leg that its predecessor has left: nothing reaches an SMSC.
func (s *Stage) Back(account string) *Peer {
	s.T.Helper()
	esme := s.Dial()
	esme.Send(wire.Bind(wire.BindTransceiver, 1, account, "secret", ""))
	esme.sequence = 1
	if got := esme.Want(wire.BindTransceiver | wire.Response); got.Status() != wire.OK {
		s.T.Fatalf("bind_resp with status %#x", got.Status())
	}
	return esme
}

func (s *Stage) bound(own wire.Frame) (esme, smsc *Peer) {
	s.T.Helper()
	command, account := own.Command(), own.ID()
	esme = s.Dial()
	esme.Send(own)
	esme.sequence = 1
	smsc = s.Accept()
	bind := smsc.Want(command)
	if bind.ID() != account {
		s.T.Fatalf("the SMSC got a bind of %q, want %q", bind.ID(), account)
	}
	smsc.Send(wire.New(command|wire.Response, 0, bind.Sequence(), []byte(BindResp)))
	if got := esme.Want(command | wire.Response); got.Status() != wire.OK {
		s.T.Fatalf("bind_resp with status %#x", got.Status())
	}
	return esme, smsc
}

// Send writes frames, all at once.
func (p *Peer) Send(frames ...wire.Frame) {
	p.t.Helper()
	var all []byte
	for _, f := range frames {
		all = append(all, f...)
	}
	_ = p.SetWriteDeadline(time.Now().Add(p.patience))
	if _, err := p.Write(all); err != nil {
		p.t.Fatalf("%s could not send %d frames: %v", p.name, len(frames), err)
	}
}

// Submit sends a submit_sm and gives its sequence number.
func (p *Peer) Submit(m wire.Message) uint32 {
	p.t.Helper()
	p.sequence++
	p.Send(m.Submit(p.sequence))
	return p.sequence
}

// Next gives the next frame.
func (p *Peer) Next() wire.Frame {
	p.t.Helper()
	f, err := p.Within(p.patience)
	if err != nil {
		p.t.Fatalf("%s waits for a frame and got %v", p.name, err)
	}
	return f
}

// Within gives the next frame, or says why there is none within d.
func (p *Peer) Within(d time.Duration) (wire.Frame, error) {
	_ = p.SetReadDeadline(time.Now().Add(d)) // fails only on a closed connection, which Next finds
	f, err := p.in.Next()
	if err != nil {
		return nil, err
	}
	return f.Clone(), nil
}

// Want gives the next frame, which must bear this command.
func (p *Peer) Want(command uint32) wire.Frame {
	p.t.Helper()
	f := p.Next()
	if f.Command() != command {
		p.t.Fatalf("%s got command %#x with status %#x, want command %#x", p.name, f.Command(), f.Status(), command)
	}
	return f
}

// WantAnswer waits for the submit_sm_resp to sequence with this status, and gives its message id.
func (p *Peer) WantAnswer(sequence, status uint32) string {
	p.t.Helper()
	f := p.Want(wire.SubmitSM | wire.Response)
	if f.Sequence() != sequence || f.Status() != status {
		p.t.Fatalf("%s got submit_sm_resp %d with status %#x, want %d with %#x", p.name, f.Sequence(), f.Status(), sequence, status)
	}
	return f.ID()
}

// WantSubmit waits for a submit_sm.
func (p *Peer) WantSubmit() wire.Frame {
	p.t.Helper()
	return p.Want(wire.SubmitSM)
}

// WantNothing says that nothing comes within d.
func (p *Peer) WantNothing(d time.Duration) {
	p.t.Helper()
	f, err := p.Within(d)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatalf("%s got frame %.40x, error %v; want nothing", p.name, f, err)
	}
}

// WantEnd waits for the end of the stream, and says whether it was a reset.
func (p *Peer) WantEnd() (reset bool) {
	p.t.Helper()
	f, err := p.Within(p.patience)
	switch {
	case errors.Is(err, io.EOF):
		return false
	case errors.Is(err, syscall.ECONNRESET):
		return true
	}
	p.t.Fatalf("%s waits for the end and got frame %.40x, error %v", p.name, f, err)
	return false
}

// Answer answers a submit_sm with ESME_ROK.
func (p *Peer) Answer(f wire.Frame, id string) {
	p.t.Helper()
	p.Send(Answer(f, id))
}

// Answer is the submit_sm_resp to f, with ESME_ROK.
func Answer(f wire.Frame, id string) wire.Frame {
	return wire.New(wire.SubmitSM|wire.Response, 0, f.Sequence(), append([]byte(id), 0))
}

// Refusal is the response to f with a status.
func Refusal(f wire.Frame, status uint32) wire.Frame {
	return wire.New(f.Command()|wire.Response, status, f.Sequence(), nil)
}

// Mem is the connection in memory; nil where it is a socket.
func (p *Peer) Mem() *memnet.Conn {
	c, _ := p.Conn.(*memnet.Conn)
	return c
}

// Reset ends the connection with a reset.
func (p *Peer) Reset() {
	switch c := p.Conn.(type) {
	case *memnet.Conn:
		c.Reset()
	case *net.TCPConn:
		_ = c.SetLinger(0) // fails only on a closed connection
		_ = c.Close()
	}
}

// Unbind parts in order: unbind on both legs, and then the ends.
func (p *Peer) Unbind(smsc *Peer) {
	p.t.Helper()
	p.sequence++
	p.Send(wire.New(wire.Unbind, 0, p.sequence, nil))
	unbind := smsc.Want(wire.Unbind)
	smsc.Send(wire.New(wire.Unbind|wire.Response, 0, unbind.Sequence(), nil))
	p.Want(wire.Unbind | wire.Response)
	_ = p.Close()
	smsc.WantEnd()
	_ = smsc.Close()
}

// Part lets the proxy take leave of the SMSC, its ESME being gone.
func (p *Peer) Part() {
	p.t.Helper()
	unbind := p.Want(wire.Unbind)
	p.Send(wire.New(wire.Unbind|wire.Response, 0, unbind.Sequence(), nil))
	p.WantEnd()
	_ = p.Close()
}
