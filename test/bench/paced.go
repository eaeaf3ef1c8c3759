package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// schedule is an open loop: message n of all is meant to be sent at start + n*interval, by bind n modulo the
// number of binds, whatever has been answered by then.
type schedule struct {
	start    time.Time
	interval time.Duration
	binds    int
	each     int // messages of one bind
}

// newSchedule spreads rate messages a second over the binds, from now to the end of the period.
func newSchedule(now time.Time, p period, rate, binds int) schedule {
	interval := time.Second / time.Duration(rate)
	total := int(p.until.Sub(now) / interval)
	return schedule{start: now, interval: interval, binds: binds, each: total / binds}
}

// intended is the moment for a bind's message of that number.
func (s schedule) intended(bind, number int) time.Time {
	return s.start.Add(time.Duration(number*s.binds+bind) * s.interval)
}

// pace sends what the schedule says. It has a thread of its own, since the runtime's timers are late by up to a
// millisecond when the process is idle, which would be taken for latency.
func pace(ctx context.Context, s schedule, esmes []*esme) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for number := range s.each {
		for bind, e := range esmes {
			if err := sleepUntil(ctx, s.intended(bind, number)); err != nil {
				return err
			}
			e.out = e.messages.appendNext(e.out[:0], uint32(number)+1)
			e.sent++
			if _, err := e.conn.Write(e.out); err != nil {
				return fmt.Errorf("bind %d: %w", bind, err)
			}
		}
	}
	return nil
}

func sleepUntil(ctx context.Context, t time.Time) error {
	for {
		rest := time.Until(t)
		if rest <= 0 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait := unix.NsecToTimespec(int64(rest))
		// Interrupted by a signal it returns early, and the loop goes round.
		_ = unix.Nanosleep(&wait, nil)
	}
}

// takePaced reads the answers of one bind while pace sends. It returns when each message has its answer, or with
// an error where that doesn't come.
func (e *esme) takePaced(s schedule, bind int, p period) error {
	if err := e.conn.SetDeadline(p.until.Add(answerWait)); err != nil {
		return err
	}
	answered := make([]bool, s.each)
	for left := s.each; left > 0; {
		frame, err := e.in.await()
		if err != nil {
			return fmt.Errorf("bind %d: %d unanswered: %w", bind, left, err)
		}
		now := time.Now()
		if command(frame) != submitSMResp {
			if err := e.takeOther(frame); err != nil {
				return fmt.Errorf("bind %d: %w", bind, err)
			}
			continue
		}
		number := int(sequence(frame)) - 1
		if number < 0 || number >= s.each || answered[number] {
			e.foreign++
			continue
		}
		answered[number] = true
		left--
		e.judge(frame, number)
		if intended := s.intended(bind, number); p.contains(intended) {
			e.latency.add(now.Sub(intended))
		}
	}
	return nil
}
