package proxy

import (
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/pdu"
)

// result says what became of a receipt.
type result uint8

const (
	untouched result = iota
	translated
	unmatched
	results
)

func (r result) String() string { return [...]string{"untouched", "translated", "unmatched"}[r] }

// states is one more than the highest pdu.State.
const states = int(pdu.Deleted) + 1

// tally counts what a session does. These are plain numbers under the session's mutex, which is held anyway where
// they change; they are summed up when somebody looks.
type tally struct {
	in, out     [sides][commands]uint64
	ok          [sides][commands]uint64 // responses with ESME_ROK
	failed      map[failure]uint64      // and the others
	strays      [sides]uint64           // responses to nothing that is pending
	unprotected uint64
	receipts    [states][results]uint64
	answered    histogram // from a submit_sm's write to its response
	overhead    histogram // what we add to that
}

// failure is a response that is no ESME_ROK.
type failure struct {
	from    side
	command uint8
	status  string // pdu.StatusName: a closed set
}

// response counts a response that came from a side. A stray is not relayed, so counts apart.
func (t *tally) response(from side, f pdu.Frame, pending bool) {
	switch command := indexOf(f.Command()); {
	case !pending:
		t.strays[from]++
	case f.Status() == data.ESME_ROK:
		t.ok[from][command]++
	default:
		if t.failed == nil {
			t.failed = make(map[failure]uint64)
		}
		t.failed[failure{from, command, pdu.StatusName(uint32(f.Status()))}]++
	}
}

// add adds u to t.
func (t *tally) add(u *tally) {
	for d := range sides {
		for c := range commands {
			t.in[d][c] += u.in[d][c]
			t.out[d][c] += u.out[d][c]
			t.ok[d][c] += u.ok[d][c]
		}
		t.strays[d] += u.strays[d]
	}
	for f, n := range u.failed {
		if t.failed == nil {
			t.failed = make(map[failure]uint64)
		}
		t.failed[f] += n
	}
	t.unprotected += u.unprotected
	for i := range t.receipts {
		for j := range t.receipts[i] {
			t.receipts[i][j] += u.receipts[i][j]
		}
	}
	t.answered.add(&u.answered)
	t.overhead.add(&u.overhead)
}

// bounds are the upper bounds of a histogram's buckets, in seconds: from 50 µs, what a queue costs, to a minute,
// what a slow SMSC takes.
var bounds = [...]float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3,
	1, 2.5, 5, 10, 30, 60}

// histogram counts durations.
type histogram struct {
	buckets [len(bounds) + 1]uint64
	sum     time.Duration
}

func (h *histogram) observe(d time.Duration) {
	seconds, i := d.Seconds(), 0
	for i < len(bounds) && seconds > bounds[i] {
		i++
	}
	h.buckets[i]++
	h.sum += d
}

func (h *histogram) add(o *histogram) {
	for i := range h.buckets {
		h.buckets[i] += o.buckets[i]
	}
	h.sum += o.sum
}

// cumulative gives it the way Prometheus wants it.
func (h *histogram) cumulative() (count uint64, sum float64, buckets map[float64]uint64) {
	buckets = make(map[float64]uint64, len(bounds))
	for i, b := range bounds {
		count += h.buckets[i]
		buckets[b] = count
	}
	return count + h.buckets[len(bounds)], h.sum.Seconds(), buckets
}
