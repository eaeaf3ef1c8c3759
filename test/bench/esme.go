package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// answerWait bounds how long an ESME waits for what is still unanswered when its cell is over, or for a bind.
const answerWait = 15 * time.Second

// period is the part of a cell that is measured; what comes before is warming up. The load ends with it.
type period struct{ from, until time.Time }

func (p period) contains(t time.Time) bool { return !t.Before(p.from) && t.Before(p.until) }

// account is what an ESME saw: its share of a cell's figures and of its proof.
type account struct {
	sent     int64     // submit_sm written, or begun to be
	answered int64     // answers that were the one and only answer to their submit_sm, with the right message id
	refused  int64     // of these: with a status other than ESME_ROK
	foreign  int64     // answers to nothing that was asked, repeated answers, wrong message ids
	latency  histogram // of what was answered within the period
}

func (a *account) add(other *account) {
	a.sent += other.sent
	a.answered += other.answered
	a.refused += other.refused
	a.foreign += other.foreign
	a.latency.merge(&other.latency)
}

// esme is one bind. One goroutine at a time uses it.
type esme struct {
	account
	conn     net.Conn
	in       frameReader
	out      []byte
	messages composer
	window   window
}

// connect binds to address. A relay that has only just been started may not listen yet: it's tried again until
// ctx ends.
func connect(ctx context.Context, address string, cell, bind, windowSize int) (*esme, error) {
	conn, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	e := &esme{conn: conn, messages: newComposer(cell, bind), window: newWindow(windowSize)}
	e.in.source = conn
	if err := e.bind(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("bind %d: %w", bind, err)
	}
	return e, nil
}

func dial(ctx context.Context, address string) (net.Conn, error) {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connecting to the relay: %w (last: %w)", context.Cause(ctx), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (e *esme) bind() error {
	if err := e.conn.SetDeadline(time.Now().Add(answerWait)); err != nil {
		return err
	}
	if _, err := e.conn.Write(bindFrame()); err != nil {
		return err
	}
	frame, err := e.in.await()
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if command(frame) != bindTransceiverResp || status(frame) != 0 {
		return fmt.Errorf("answered command 0x%08X, status 0x%X", command(frame), status(frame))
	}
	return nil
}

// keepWindowFull is the closed loop: whatever is answered is followed by as many new messages, in one write.
// It returns when the period is over and everything is answered, or with an error where that doesn't come.
func (e *esme) keepWindowFull(p period) error {
	if err := e.conn.SetDeadline(p.until.Add(answerWait)); err != nil {
		return err
	}
	if err := e.refill(time.Now()); err != nil {
		return err
	}
	for e.window.unanswered() > 0 {
		if err := e.in.fill(); err != nil {
			return fmt.Errorf("%d unanswered: %w", e.window.unanswered(), err)
		}
		now := time.Now()
		if err := e.takeAnswers(now, p); err != nil {
			return err
		}
		if !now.Before(p.until) {
			continue
		}
		if err := e.refill(now); err != nil {
			return err
		}
	}
	return nil
}

func (e *esme) refill(now time.Time) error {
	e.out = e.out[:0]
	for e.sent < maxMessages {
		sequence, ok := e.window.take(int(e.sent), now)
		if !ok {
			break
		}
		e.out = e.messages.appendNext(e.out, sequence)
		e.sent++
	}
	if len(e.out) == 0 {
		return nil
	}
	_, err := e.conn.Write(e.out)
	return err
}

func (e *esme) takeAnswers(now time.Time, p period) error {
	for {
		frame, err := e.in.next()
		if frame == nil || err != nil {
			return err
		}
		if command(frame) != submitSMResp {
			if err := e.takeOther(frame); err != nil {
				return err
			}
			continue
		}
		number, since, ok := e.window.give(sequence(frame))
		if !ok {
			e.foreign++
			continue
		}
		e.judge(frame, number)
		if p.contains(now) {
			e.latency.add(now.Sub(since))
		}
	}
}

// judge counts the answer to the message of that number.
func (e *esme) judge(answer []byte, number int) {
	if status(answer) != 0 {
		e.answered++
		e.refused++
		return
	}
	if !e.isAnswerTo(answer, number) {
		e.foreign++
		return
	}
	e.answered++
}

// isAnswerTo tells that the message id is the one that the SMSC makes for this bind's message of that number.
func (e *esme) isAnswerTo(answer []byte, number int) bool {
	if len(answer) != submitAnswerLength || answer[submitAnswerLength-1] != 0 {
		return false
	}
	const own = cellDigits + bindDigits // these digits are the same for all messages of the bind
	id := answer[headerLength : submitAnswerLength-1]
	got, ok := decimal(id[own:])
	return ok && got == number && string(id[:own]) == string(e.messages.reference[:own])
}

var errUnexpected = errors.New("unexpected PDU")

// takeOther answers what a relay may send by itself.
func (e *esme) takeOther(frame []byte) error {
	switch command(frame) {
	case enquireLink:
		_, err := e.conn.Write(appendFrame(nil, enquireLinkResp, 0, sequence(frame)))
		return err
	case enquireLinkResp:
		return nil
	default:
		return fmt.Errorf("%w: command 0x%08X, status 0x%X", errUnexpected, command(frame), status(frame))
	}
}

// leave unbinds and counts what still comes before the answer to that, which should be nothing.
func (e *esme) leave() error {
	defer e.conn.Close()
	if err := e.conn.SetDeadline(time.Now().Add(answerWait)); err != nil {
		return err
	}
	if _, err := e.conn.Write(appendFrame(nil, unbind, 0, unbindSequence)); err != nil {
		return fmt.Errorf("unbind: %w", err)
	}
	for {
		frame, err := e.in.await()
		if err != nil {
			return fmt.Errorf("unbind not answered: %w", err)
		}
		switch command(frame) {
		case unbindResp:
			return nil
		case submitSMResp:
			e.foreign++
		default:
			if err := e.takeOther(frame); err != nil {
				return err
			}
		}
	}
}
