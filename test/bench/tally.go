package main

import (
	"sync"
	"sync/atomic"
)

// tally counts the messages that the SMSC got. Every message has a bit of its own: 1.2 MB for ten million.
type tally struct {
	binds   [maxBinds]seen
	changed atomic.Int64 // frames that are none of our messages
}

type seen struct {
	mu      sync.Mutex // uncontended where the relay keeps a bind on one connection; correct where not
	bits    []uint64
	unique  int64
	repeats int64
}

// received counts a message; bind is below maxBinds and number below maxMessages, as their digits allow no more.
func (t *tally) received(bind, number int) {
	s := &t.binds[bind]
	word, bit := number/64, uint64(1)<<(number%64)
	s.mu.Lock()
	defer s.mu.Unlock()
	for word >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	if s.bits[word]&bit != 0 {
		s.repeats++
		return
	}
	s.bits[word] |= bit
	s.unique++
}

func (t *tally) malformed() { t.changed.Add(1) }

// totals are exact once the SMSC is closed.
func (t *tally) totals() (unique, repeats, changed int64) {
	for i := range t.binds {
		s := &t.binds[i]
		s.mu.Lock()
		unique += s.unique
		repeats += s.repeats
		s.mu.Unlock()
	}
	return unique, repeats, t.changed.Load()
}
