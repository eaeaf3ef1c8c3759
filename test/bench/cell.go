package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	warmUp      = 200 * time.Millisecond
	startWait   = 20 * time.Second // for the relay to listen and all binds to be answered
	memoryEvery = 100 * time.Millisecond

	pacedBinds = 4 // of the open loop
)

// cell is one measurement: one relay, one load, once.
type cell struct {
	number  int // unique in the run
	relay   string
	shape   shape // of the closed loop; the zero value stands for the open loop
	rate    int   // of the open loop
	measure time.Duration
}

// figures are what one cell gave.
type figures struct {
	perSecond float64 // answers within the period
	p50, p99  time.Duration
	process   *usage // of the relay; nil if direct
}

// usage is what the relay's process took.
type usage struct {
	cores  float64 // of CPU, on average
	per100 float64 // CPU seconds per 100,000 submits
	memory
}

// measureCell runs one cell. The error tells what the relay did wrong, or why the cell could not be measured.
func measureCell(ctx context.Context, w workshop, c cell) (f figures, err error) {
	smsc, err := listenSMSC(c.number)
	if err != nil {
		return f, err
	}
	defer smsc.close()
	relay, err := w.start(c.relay, c.number, smsc.address())
	if err != nil {
		return f, err
	}
	total, f, err := c.load(ctx, relay)
	err = errors.Join(err, relay.stop())
	smsc.close()
	return f, errors.Join(err, verify(&total, smsc.tally))
}

// load runs the ESMEs against a relay, from their binds to their unbinds.
func (c cell) load(ctx context.Context, r *relay) (total account, f figures, err error) {
	if r.process != nil {
		var cancel context.CancelFunc
		ctx, cancel = r.process.whileRunning(ctx)
		defer cancel()
	}
	esmes, err := c.connectAll(ctx, r.address)
	defer func() {
		for _, e := range esmes {
			e.conn.Close()
		}
	}()
	if err != nil {
		return total, f, err
	}
	// Ending a connection ends whoever reads or writes it.
	defer context.AfterFunc(ctx, func() {
		for _, e := range esmes {
			e.conn.Close()
		}
	})()

	now := time.Now()
	p := period{from: now.Add(warmUp), until: now.Add(warmUp + c.measure)}
	wait := c.startLoad(ctx, esmes, now, p)
	process, errUsage := watch(ctx, r.process, p)
	errLoad := wait()
	if cause := context.Cause(ctx); cause != nil {
		errLoad = errors.Join(cause, errLoad)
	}
	for _, e := range esmes {
		if errLoad == nil {
			errLoad = e.leave()
		}
		total.add(&e.account)
	}
	return total, c.figures(&total, process), errors.Join(errUsage, errLoad)
}

func (c cell) connectAll(ctx context.Context, address string) ([]*esme, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	binds := c.shape.binds
	if c.rate > 0 {
		binds = pacedBinds
	}
	var esmes []*esme
	for bind := range binds {
		e, err := connect(ctx, address, c.number, bind, c.shape.window)
		if err != nil {
			return esmes, err
		}
		esmes = append(esmes, e)
	}
	return esmes, nil
}

// startLoad lets the load run; the function that it returns waits for its end.
func (c cell) startLoad(ctx context.Context, esmes []*esme, now time.Time, p period) (wait func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	failed := make([]error, len(esmes)+1)
	run := func(i int, part func() error) {
		running.Go(func() {
			if failed[i] = part(); failed[i] != nil {
				cancel(failed[i])
			}
		})
	}
	if c.rate > 0 {
		s := newSchedule(now, p, c.rate, len(esmes))
		run(len(esmes), func() error { return pace(ctx, s, esmes) })
		for i, e := range esmes {
			run(i, func() error { return e.takePaced(s, i, p) })
		}
	} else {
		for i, e := range esmes {
			run(i, func() error { return e.keepWindowFull(p) })
		}
	}
	return func() error {
		running.Wait()
		cancel(nil)
		return errors.Join(failed...)
	}
}

func (c cell) figures(total *account, process *usage) figures {
	f := figures{
		perSecond: float64(total.latency.total) / c.measure.Seconds(),
		p50:       total.latency.percentile(50),
		p99:       total.latency.percentile(99),
		process:   process,
	}
	if process != nil && f.perSecond > 0 {
		process.per100 = process.cores / f.perSecond * 100_000
	}
	return f
}

// watch follows a process, if there is one, to the period's end and tells what it used in it.
func watch(ctx context.Context, p *process, during period) (*usage, error) {
	if p == nil {
		return nil, nil
	}
	waitUntil(ctx, during.from)
	before, err := p.cpuTime()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var u usage
	for ctx.Err() == nil && time.Now().Before(during.until) {
		m, err := p.memory()
		if err != nil {
			return nil, err
		}
		u.peakResident, u.anonymous = m.peakResident, max(u.anonymous, m.anonymous)
		waitUntil(ctx, earlier(time.Now().Add(memoryEvery), during.until))
	}
	after, err := p.cpuTime()
	u.cores = float64(after-before) / float64(time.Since(began))
	return &u, err
}

// waitUntil returns early where ctx ends.
func waitUntil(ctx context.Context, t time.Time) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(t)):
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// verify holds what the ESMEs sent against what the SMSC got: each message once, and each with its own answer.
func verify(total *account, t *tally) error {
	unique, repeats, changed := t.totals()
	var faults []error
	count := func(n int64, what string) {
		if n != 0 {
			faults = append(faults, fmt.Errorf("%d of %d submits %s", n, total.sent, what))
		}
	}
	count(total.sent-unique, "lost: the SMSC never got them")
	count(repeats, "duplicated: the SMSC got them again")
	count(changed, "changed on their way, or PDUs that nobody sent")
	count(total.sent-total.answered, "without an answer of their own")
	count(total.foreign, "answers that belong to nothing, or carry another's message id")
	count(total.refused, "refused")
	return errors.Join(faults...)
}
