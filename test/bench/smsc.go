package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
)

// smsc is a message centre that accepts everything at once: one read, one write, no allocation a message. It
// counts what it got by the messages' own references, so it knows of repeats and losses without any help of
// the relay.
type smsc struct {
	cell     int
	listener net.Listener
	tally    *tally
	running  sync.WaitGroup

	mu     sync.Mutex // guards conns and closed
	conns  map[net.Conn]struct{}
	closed bool
}

// listenSMSC starts a message centre for the messages of one cell, on a free port of the loopback.
func listenSMSC(cell int) (*smsc, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("smsc: %w", err)
	}
	s := &smsc{cell: cell, listener: listener, tally: &tally{}, conns: make(map[net.Conn]struct{})}
	s.running.Go(s.accept)
	return s, nil
}

func (s *smsc) address() string { return s.listener.Addr().String() }

// close ends all connections and waits for their goroutines. What the tally says is final after it.
func (s *smsc) close() {
	s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *smsc) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			conn.Close()
			return
		}
		s.conns[conn] = struct{}{}
		s.running.Go(func() { s.serve(conn) })
		s.mu.Unlock()
	}
}

// serve answers one connection until it ends, a batch at a time.
func (s *smsc) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	in := &frameReader{source: conn}
	var out []byte
	for {
		if err := in.fill(); err != nil {
			return
		}
		out = out[:0]
		for {
			frame, err := in.next()
			if err != nil {
				s.tally.malformed()
				return
			}
			if frame == nil {
				break
			}
			out = s.appendAnswer(out, frame)
		}
		if len(out) == 0 {
			continue
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

func (s *smsc) appendAnswer(out, frame []byte) []byte {
	switch command(frame) {
	case submitSM:
		return s.appendSubmitAnswer(out, frame)
	case bindTransceiver:
		return appendFrame(out, bindTransceiverResp, 0, sequence(frame), 0)
	case enquireLink:
		return appendFrame(out, enquireLinkResp, 0, sequence(frame))
	case unbind:
		return appendFrame(out, unbindResp, 0, sequence(frame))
	case enquireLinkResp, unbindResp:
		return out
	default:
		s.tally.malformed()
		return appendFrame(out, genericNack, statusInvalidCommand, sequence(frame))
	}
}

// submitAnswerLength is that of a submit_sm_resp whose message id is the message's reference.
const submitAnswerLength = headerLength + referenceDigits + 1

func (s *smsc) appendSubmitAnswer(out, frame []byte) []byte {
	if !intact(frame) {
		s.tally.malformed()
		return appendFrame(out, submitSMResp, 0, sequence(frame), 0)
	}
	id := reference(frame)
	cell, bind, number, ok := splitReference(id)
	if !ok || cell != s.cell {
		s.tally.malformed()
	} else {
		s.tally.received(bind, number)
	}
	out = binary.BigEndian.AppendUint32(out, submitAnswerLength)
	out = binary.BigEndian.AppendUint32(out, submitSMResp)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint32(out, sequence(frame))
	out = append(out, id...)
	return append(out, 0)
}
