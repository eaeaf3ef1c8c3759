package main

import "time"

// unbindSequence is above all sequence numbers that windows give out.
const unbindSequence = 0x7FFFFFFF

// window holds a bind's unanswered submit_sm. A sequence number names a slot and how often that was used, so
// that any answer is checked in constant time to be the first to a submit_sm that is out, in whatever order answers come.
//
// Slots are used in the order in which they became free: while answers come in order, the numbers count up by
// one, as a real client's do.
type window struct {
	slots []slot
	free  []uint32 // a ring of slot indices: count of them from head on
	head  int
	count int
}

type slot struct {
	sequence uint32 // of the submit_sm that is out; otherwise of the last one
	out      bool
	number   int // of the message within its bind
	since    time.Time
}

func newWindow(size int) window {
	w := window{slots: make([]slot, size), free: make([]uint32, size), count: size}
	for i := range w.slots {
		// Slot i uses 1+i, 1+i+size, 1+i+2*size, …; it starts one use before the first. Unsigned arithmetic wraps back.
		w.slots[i].sequence = uint32(1 + i - size)
		w.free[i] = uint32(i)
	}
	return w
}

func (w *window) unanswered() int { return len(w.slots) - w.count }

// take reserves a slot for a message and returns its sequence number; ok is false where the window is full.
func (w *window) take(number int, since time.Time) (sequence uint32, ok bool) {
	if w.count == 0 {
		return 0, false
	}
	s := &w.slots[w.free[w.head]]
	w.head = (w.head + 1) % len(w.free)
	w.count--
	s.sequence += uint32(len(w.slots))
	s.out, s.number, s.since = true, number, since
	return s.sequence, true
}

// give frees the slot of an answered message; ok is false where no such submit_sm is out.
func (w *window) give(sequence uint32) (number int, since time.Time, ok bool) {
	if sequence == 0 {
		return 0, time.Time{}, false
	}
	index := (sequence - 1) % uint32(len(w.slots))
	s := &w.slots[index]
	if !s.out || s.sequence != sequence {
		return 0, time.Time{}, false
	}
	s.out = false
	w.free[(w.head+w.count)%len(w.free)] = index
	w.count++
	return s.number, s.since, true
}
