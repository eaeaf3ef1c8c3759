package smsc

import (
	"container/heap"
	"sync"
	"time"
)

// later does things at their time, one after the other; equal times in the order of adding.
type later struct {
	mu    sync.Mutex
	queue queue
	added uint64
	wake  chan struct{} // one token: the head changed
	stop  chan struct{}
}

type due struct {
	at time.Time
	n  uint64
	do func() // must not block
}

func newLater() *later {
	return &later{wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

func (l *later) add(at time.Time, do func()) {
	l.mu.Lock()
	l.added++
	heap.Push(&l.queue, due{at, l.added, do})
	first := l.queue[0].n == l.added
	l.mu.Unlock()
	if !first {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run does what is due until stop is closed.
func (l *later) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.mu.Lock()
		wait := time.Hour
		var ready []func()
		for now := time.Now(); len(l.queue) > 0; {
			if wait = l.queue[0].at.Sub(now); wait > 0 {
				break
			}
			ready = append(ready, heap.Pop(&l.queue).(due).do)
			wait = time.Hour
		}
		l.mu.Unlock()
		for _, do := range ready {
			do()
		}
		if len(ready) > 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-l.stop:
			return
		}
	}
}

// queue is a heap by time.
type queue []due

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].n < q[j].n
	}
	return q[i].at.Before(q[j].at)
}
func (q *queue) Push(x any) { *q = append(*q, x.(due)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	(*q)[len(*q)-1] = due{}
	*q = (*q)[:len(*q)-1]
	return last
}
