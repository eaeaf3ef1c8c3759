package proxy

import (
	"time"

	"smpponce/ledger"
	"smpponce/pdu"
)

// kind says what a request on a leg is to us.
type kind uint8

const (
	relayed    kind = iota // the other side's; its response goes back there
	submission             // a submit_sm, submit_multi or data_sm of the ESME
	delivery               // a deliver_sm or data_sm of the SMSC
	binding                // the bind that opens the session
	parting                // the other side's unbind
	probe                  // our own enquire_link
	farewell               // our own unbind
	kinds
)

// request is what is remembered of a request sent on a leg until its response comes.
type request struct {
	seq     uint32        // the leg's own number; 0: the slot is free
	peer    uint32        // the number that the other side gave it, to be put back on the response
	at      time.Duration // when it was queued, on the proxy's clock
	claim   *claim        // of a submission that the ledger decided
	note    *note         // what its success means to the ledger; mostly nil
	frame   pdu.Frame     // of a delivery, to be shown again where its ESME goes without an answer; nil: not kept
	kind    kind
	command uint8 // index for metrics
	orphan  bool  // of a session that has left the leg to another
	overdue bool  // unanswered for response_timeout; no longer counted in waiting
}

const (
	firstSlots  = 64
	lastNumber  = 0x7FFFFFFF // SMPP 3.4, 5.1.4: sequence numbers run from 1 to here
	overdueHint = time.Second
)

// window numbers the requests of one leg and remembers the unanswered ones, in a ring in which a request's number
// says its slot. A number whose slot is taken is passed over, so no number is given while it is still pending, and
// no request costs memory of its own. The session's mutex guards it.
type window struct {
	slots   []request // length is a power of two
	last    uint32    // the newest number given
	used    int
	octets  int        // in frames
	waiting [kinds]int // by kind, without the overdue ones
	limit   int        // most slots; beyond, the oldest are forgotten
}

// newWindow makes a window for requests that are forgotten, oldest first, when there are more than about pending of
// them beside maxOverdue others. A submission that is not overdue is never forgotten.
func newWindow(pending int) window {
	limit := firstSlots
	for limit < 2*pending+maxOverdue {
		limit *= 2
	}
	return window{limit: limit}
}

// add numbers r and keeps it. The request must be added before its first octet leaves, or its response could be
// quicker than we are.
func (w *window) add(r request) uint32 {
	if 2*w.used >= len(w.slots) && len(w.slots) < w.limit {
		w.grow()
	}
	for {
		seq := w.number()
		slot := &w.slots[int(seq)&(len(w.slots)-1)]
		if slot.seq != 0 {
			if len(w.slots) < w.limit || slot.kind == submission && !slot.overdue {
				continue
			}
			w.free(slot)
		}
		r.seq = seq
		*slot = r
		w.used++
		w.waiting[r.kind]++
		w.octets += len(r.frame)
		return seq
	}
}

// number gives the next number, also for what is never answered.
func (w *window) number() uint32 {
	w.last++
	if w.last > lastNumber {
		w.last = 1
	}
	return w.last
}

// take gives the request that a response with this number answers, once.
func (w *window) take(seq uint32) (request, bool) {
	if r := w.find(seq); r != nil {
		taken := *r
		w.free(r)
		return taken, true
	}
	return request{}, false
}

// find gives the slot of a pending number, or nil. It is valid until the next add.
func (w *window) find(seq uint32) *request {
	if seq == 0 || len(w.slots) == 0 {
		return nil
	}
	if r := &w.slots[int(seq)&(len(w.slots)-1)]; r.seq == seq {
		return r
	}
	return nil
}

func (w *window) free(r *request) {
	if !r.overdue {
		w.waiting[r.kind]--
	}
	w.used--
	w.octets -= len(r.frame)
	*r = request{}
}

// grow doubles the ring. Numbers that differ in the old ring's slots differ in the new one's.
func (w *window) grow() {
	old := w.slots
	w.slots = make([]request, max(firstSlots, 2*len(old)))
	for _, r := range old {
		if r.seq != 0 {
			w.slots[int(r.seq)&(len(w.slots)-1)] = r
		}
	}
}

// sweep marks what was queued before the given moment as overdue and calls newly for each.
func (w *window) sweep(before time.Duration, newly func(*request)) {
	for i := range w.slots {
		r := &w.slots[i]
		if r.seq != 0 && !r.overdue && r.at < before {
			r.overdue = true
			w.waiting[r.kind]--
			newly(r)
		}
	}
}

// oldest gives when the oldest unanswered request that count approves was queued.
func (w *window) oldest(count func(*request) bool) (at time.Duration, found bool) {
	for i := range w.slots {
		if r := &w.slots[i]; r.seq != 0 && (!found || r.at < at) && count(r) {
			at, found = r.at, true
		}
	}
	return at, found
}

// neverSent gives the submissions of which not every octet is among the first ones that the kernel was given: it had
// the others and never put them on the wire. Those that it was not even given are not among them.
func (w *window) neverSent(first uint64) (attempts []ledger.Number) {
	for i := range w.slots {
		if c := w.slots[i].claim; c != nil && c.end > first {
			attempts = append(attempts, c.attempt)
		}
	}
	return attempts
}
