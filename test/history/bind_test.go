package history_test

import (
	"container/heap"
	"context"
	"net"
	"sync/atomic"
	"time"

	"smpponce/test/esme"
	"smpponce/test/history"
	"smpponce/test/wire"
)

// bind is one connection of an application.
type bind struct {
	*application
	command  uint32
	link     history.Link
	tcp      *net.TCPConn
	bound    chan bool     // what became of the bind
	parted   chan struct{} // closed at the unbind_resp
	ended    chan struct{} // closed when the reader has ended
	woken    chan struct{} // one token: an answer came
	stall    atomic.Bool   // the reader shall not read for a while
	sequence uint32        // the worker's

	// Guarded by application.mu.
	flying map[uint32]*flight
	order  []*flight // what flies, in order of sending, and what has landed
}

// flight is a piece that was sent.
type flight struct {
	job      *job
	piece    int
	round    int
	sequence uint32
	at       time.Time
	fresh    bool // it was never sent before
	alone    bool // without the other pieces of its job
}

// member keeps one place of the pool bound until the end of the run.
func (a *application) member(command uint32) {
	for a.session(command) {
		a.mu.Lock()
		d := time.Duration(a.chance.Int64N(int64(a.comeBack) + 1))
		a.mu.Unlock()
		time.Sleep(d)
	}
}

// session is one connection's life; false at the end of the run.
func (a *application) session(command uint32) (on bool) {
	select {
	case <-a.farewell:
		return false
	default:
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", a.address)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return true
	}
	b := &bind{
		application: a, command: command, link: history.Link{Side: history.ESME, Number: int(a.numbers.Add(1))}, tcp: c.(*net.TCPConn), bound: make(chan bool, 1),
		parted: make(chan struct{}), ended: make(chan struct{}), woken: make(chan struct{}, 1), flying: map[uint32]*flight{},
	}
	a.record.Note(history.Event{Link: b.link, Kind: history.Opened, Note: a.account})
	a.links.Store(c.LocalAddr().String(), b.link)
	go b.read()
	b.request(command, wire.Bind(command, 1, a.account, "secret", ""))
	ok := false
	select {
	case ok = <-b.bound:
	case <-b.ended:
	case <-ctx.Done():
	}
	if ok {
		on = b.talk()
	} else {
		on = true
	}
	_ = b.tcp.Close()
	<-b.ended
	b.takeBack()
	if !ok {
		time.Sleep(10 * time.Millisecond)
	}
	return on
}

// request notes a frame and writes it. A failure shows as the end of the connection.
func (b *bind) request(command uint32, f wire.Frame) {
	b.sequence++
	b.send(f, 0, "")
}

func (b *bind) send(f wire.Frame, copy int, note string) {
	b.record.Note(history.Event{Link: b.link, Kind: history.Sent, Frame: f, Copy: copy, Note: note})
	_ = b.tcp.SetWriteDeadline(time.Now().Add(patience))
	_, _ = b.tcp.Write(f)
}

// talk submits until the connection ends, or is ended by us. False at the end of the run.
func (b *bind) talk() (on bool) {
	b.mu.Lock()
	crash, leave, stall := b.after(b.crashes), b.after(b.leaves), b.after(b.stalls)
	b.mu.Unlock()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case <-b.ended:
			return true
		case <-b.farewell:
			b.leave()
			return false
		case <-b.woken:
		case <-tick.C:
		}
		for _, f := range b.due() {
			if crash--; crash <= 0 && f.fresh && slow(f.job.message) && !b.ending.Load() {
				b.crash(f)
				return true
			}
			b.send(b.submission(f.job, f.piece, f.sequence), f.job.copy, "")
			if stall--; stall == 0 {
				b.stall.Store(true)
			}
			leave--
		}
		if leave <= 0 {
			b.leave()
			return true
		}
	}
}

// after draws how many submissions there are to an event. Called with mu held.
func (a *application) after(mean int) int {
	if mean == 0 {
		return 1 << 30
	}
	return 1 + a.chance.IntN(2*mean)
}

// due takes what is to be sent now out of the queue. It flies before it is written.
func (b *bind) due() (all []*flight) {
	if b.command == wire.BindReceiver {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for len(b.order) > 0 { // what is unanswered for too long is sent again
		f := b.order[0]
		if _, flies := b.flying[f.sequence]; flies && now.Sub(f.at) < timer {
			break
		} else if flies {
			delete(b.flying, f.sequence)
			b.again(f, now)
		}
		b.order = b.order[1:]
	}
	for len(b.queue) > 0 && !b.queue[0].due.After(now) {
		e := b.queue[0]
		if n := len(b.flying); n > 0 && n+len(e.pieces) > b.window {
			break
		}
		heap.Pop(&b.queue)
		if e.round != e.job.round {
			continue // all of it is sent anew
		}
		for _, piece := range e.pieces {
			b.sequence++
			f := &flight{e.job, piece, e.job.round, b.sequence, now, !e.job.sent[piece], len(e.pieces) < e.job.total || e.job.total == 1}
			e.job.sent[piece] = true
			b.flying[f.sequence] = f
			b.order = append(b.order, f)
			all = append(all, f)
		}
	}
	return all
}

// crash ends the connection without a word, right behind a submission or in the middle of the next.
func (b *bind) crash(f *flight) {
	b.mu.Lock()
	half, reset := b.chance.IntN(2) == 0, b.chance.IntN(2) == 0
	b.crashed()
	b.mu.Unlock()
	s := b.submission(f.job, f.piece, f.sequence)
	b.send(s, f.job.copy, "")
	b.record.Note(history.Event{Link: b.link, Kind: history.Broken, Note: "(its ESME died)"})
	if half {
		_, _ = b.tcp.Write(s[:len(s)/2])
	}
	if reset {
		_ = b.tcp.SetLinger(0)
	}
}

// leave waits for what is unanswered, and unbinds.
func (b *bind) leave() {
	for by := time.Now().Add(timer); time.Now().Before(by); time.Sleep(5 * time.Millisecond) {
		b.mu.Lock()
		n := len(b.flying)
		b.mu.Unlock()
		select {
		case <-b.ended:
			return
		default:
		}
		if n == 0 {
			break
		}
	}
	b.request(wire.Unbind, wire.New(wire.Unbind, 0, b.sequence+1, nil))
	select {
	case <-b.parted:
	case <-b.ended:
	case <-time.After(timer):
	}
}

// takeBack sees to what the end of the connection left unanswered.
func (b *bind) takeBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, f := range b.order {
		if _, flies := b.flying[f.sequence]; flies {
			b.again(f, time.Now().Add(b.handOver+time.Duration(i)))
		}
	}
}

// read is the connection's reader: what comes is noted and dealt with at once.
func (b *bind) read() {
	defer close(b.ended)
	defer b.record.Note(history.Event{Link: b.link, Kind: history.Ended})
	parted := false
	for r := wire.NewReader(b.tcp); ; {
		if b.stall.Swap(false) {
			time.Sleep(stallTime)
		}
		f, err := r.Next()
		if err != nil {
			return
		}
		f = f.Clone()
		b.record.Note(history.Event{Link: b.link, Kind: history.Received, Frame: f})
		switch f.Command() {
		case b.command | wire.Response:
			b.bound <- f.Status() == wire.OK
		case wire.SubmitSM | wire.Response, wire.GenericNack:
			b.answered(f)
		case wire.DeliverSM, wire.DataSM:
			b.acknowledge(f)
		case wire.EnquireLink, wire.Unbind:
			_, _ = b.tcp.Write(esme.Acknowledge(f, wire.OK))
		case wire.Unbind | wire.Response:
			if !parted {
				parted = true
				close(b.parted)
			}
		}
	}
}

func (b *bind) answered(f wire.Frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if flight := b.flying[f.Sequence()]; flight != nil {
		delete(b.flying, f.Sequence())
		b.take(flight, f)
	}
	select {
	case b.woken <- struct{}{}:
	default:
	}
}

func (b *bind) acknowledge(f wire.Frame) {
	b.mu.Lock()
	status, silent := wire.OK, false
	if b.answersBadly {
		if draw(b.chance, 40) {
			status = wire.QueueFull
		}
		silent = draw(b.chance, 80)
	}
	dies := b.command == wire.BindReceiver && draw(b.chance, 60)
	b.mu.Unlock()
	if !silent {
		a := esme.Acknowledge(f, status)
		b.record.Note(history.Event{Link: b.link, Kind: history.Sent, Frame: a})
		_, _ = b.tcp.Write(a)
	}
	if dies {
		_ = b.tcp.Close()
	}
}
