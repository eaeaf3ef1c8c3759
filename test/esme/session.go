package esme

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"smpponce/test/wire"
)

// writeTimeout bounds a write to a peer that takes nothing.
const writeTimeout = 10 * time.Second

// ErrEnded is what is returned for what can't come any more: the connection has ended.
var ErrEnded = errors.New("the connection has ended")

// Session is one connection to an SMSC. Its methods may be called from any goroutine. It answers
// enquire_link and unbind by itself, and deliver_sm and data_sm with ESME_ROK unless told otherwise.
type Session struct {
	tcp   *net.TCPConn
	ended chan struct{} // closed when the reader has ended

	writing sync.Mutex // one frame, or batch, at a time

	mu       sync.Mutex
	sequence uint32
	answers  map[uint32][]wire.Frame // by sequence number, in the order of arrival
	requests []wire.Frame            // deliver_sm, data_sm and whatever else isn't a response
	taken    int                     // requests that Receive has returned
	changed  chan struct{}
	manual   bool // deliver_sm and data_sm are not acknowledged
	err      error
}

// Dial connects; Close or Reset it.
func Dial(ctx context.Context, address string) (*Session, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("dialling the SMSC: %w", err)
	}
	s := &Session{
		tcp: c.(*net.TCPConn), ended: make(chan struct{}),
		answers: map[uint32][]wire.Frame{}, changed: make(chan struct{}),
	}
	go s.read()
	return s, nil
}

// Bound is Dial and a bind that is accepted.
func Bound(ctx context.Context, address string, command uint32, systemID string) (*Session, error) {
	s, err := Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	f, err := s.Bind(ctx, command, systemID, "secret")
	if err == nil && f.Status() != wire.OK {
		err = fmt.Errorf("bind refused with status %#x", f.Status())
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Manual leaves deliver_sm and data_sm unacknowledged from now on.
func (s *Session) Manual() {
	s.mu.Lock()
	s.manual = true
	s.mu.Unlock()
}

// Bind sends a bind and returns its response, whatever the status.
func (s *Session) Bind(ctx context.Context, command uint32, systemID, password string) (wire.Frame, error) {
	n := s.next()
	if err := s.Write(wire.Bind(command, n, systemID, password, "")); err != nil {
		return nil, err
	}
	return s.Answer(ctx, n)
}

// Submit sends a submit_sm and returns its sequence number.
func (s *Session) Submit(m wire.Message) (uint32, error) {
	n := s.next()
	return n, s.Write(m.Submit(n))
}

// Request sends a PDU and returns its sequence number.
func (s *Session) Request(command uint32, body []byte) (uint32, error) {
	n := s.next()
	return n, s.Write(wire.New(command, 0, n, body))
}

// Unbind sends an unbind, waits for its response and closes.
func (s *Session) Unbind(ctx context.Context) error {
	n, err := s.Request(wire.Unbind, nil)
	if err == nil {
		_, err = s.Answer(ctx, n)
	}
	s.Close()
	return err
}

// Write sends octets as they are: whole frames, halves, garbage.
func (s *Session) Write(b []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.tcp.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := s.tcp.Write(b); err != nil {
		return fmt.Errorf("writing to the SMSC: %w", err)
	}
	return nil
}

// Answer waits for the first response (or generic_nack) with that sequence number.
func (s *Session) Answer(ctx context.Context, sequence uint32) (wire.Frame, error) {
	var f wire.Frame
	err := s.wait(ctx, func() bool {
		if all := s.answers[sequence]; len(all) > 0 {
			f = all[0]
		}
		return f != nil
	})
	if err != nil {
		return nil, fmt.Errorf("answer to %d: %w", sequence, err)
	}
	return f, nil
}

// Answers are all responses with that sequence number so far.
func (s *Session) Answers(sequence uint32) []wire.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]wire.Frame(nil), s.answers[sequence]...)
}

// Receive waits for the next request of the SMSC that no Receive has returned yet.
func (s *Session) Receive(ctx context.Context) (wire.Frame, error) {
	var f wire.Frame
	err := s.wait(ctx, func() bool {
		if s.taken < len(s.requests) {
			f = s.requests[s.taken]
			s.taken++
		}
		return f != nil
	})
	return f, err
}

// Ended waits for the end of the connection, and tells what the last read said: io.EOF, or an error.
func (s *Session) Ended(ctx context.Context) error {
	select {
	case <-s.ended:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.err
	case <-ctx.Done():
		return fmt.Errorf("the connection still stands: %w", ctx.Err())
	}
}

// Close ends the connection without a word: FIN, or, by the kernel's rules, RST where input lies
// unread.
func (s *Session) Close() { _ = s.tcp.Close(); <-s.ended }

// Reset ends the connection with RST.
func (s *Session) Reset() { _ = s.tcp.SetLinger(0); s.Close() }

// CloseWrite sends FIN and goes on reading.
func (s *Session) CloseWrite() error { return s.tcp.CloseWrite() }

func (s *Session) next() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	return s.sequence
}

// wait returns when cond, asked with mu held, holds.
func (s *Session) wait(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		if cond() {
			s.mu.Unlock()
			return nil
		}
		changed, err := s.changed, s.err
		s.mu.Unlock()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrEnded, err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Session) read() {
	r := wire.NewReader(s.tcp)
	for {
		f, err := r.Next()
		if err == nil {
			err = s.handle(f.Clone())
		}
		s.mu.Lock()
		s.err = err
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			close(s.ended)
			return
		}
	}
}

func (s *Session) handle(f wire.Frame) error {
	s.mu.Lock()
	if f.Command()&wire.Response != 0 {
		s.answers[f.Sequence()] = append(s.answers[f.Sequence()], f)
		s.mu.Unlock()
		return nil
	}
	acknowledge := f.Command() == wire.EnquireLink || f.Command() == wire.Unbind
	if !acknowledge {
		s.requests = append(s.requests, f)
		acknowledge = !s.manual && (f.Command() == wire.DeliverSM || f.Command() == wire.DataSM)
	}
	s.mu.Unlock()
	if !acknowledge {
		return nil
	}
	return s.Write(Acknowledge(f, wire.OK))
}

// Acknowledge makes the response to a request; deliver_sm_resp and data_sm_resp carry an empty
// message_id.
func Acknowledge(f wire.Frame, status uint32) wire.Frame {
	var body []byte
	if f.Command() == wire.DeliverSM || f.Command() == wire.DataSM {
		body = []byte{0}
	}
	return wire.New(f.Command()|wire.Response, status, f.Sequence(), body)
}
