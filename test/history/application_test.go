package history_test

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"time"

	"smpponce/test/history"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// persona is how an application behaves.
type persona struct {
	account      string
	address      string   // of the proxy, or of a relay before it
	binds        []uint32 // its pool: the command of each
	window       int
	receipts     bool
	tagged       bool // each message has a request id
	forgets      bool // with tagged: after a crash it sends again what was answered, too
	renews       bool // the parts of a long message go together: all again, under a new reference
	crashes      int  // submissions from one crash to the next, in the mean; 0: it does not crash
	leaves       int  // likewise, from one orderly unbind to the next
	stalls       int  // likewise, from one stall of its reading to the next
	comeBack     time.Duration
	handOver     time.Duration // from the end of a connection until the others of the pool repeat what it left
	answersBadly bool          // not every delivery is acknowledged with ESME_ROK
}

// timer is how long an application waits for an answer, before it repeats on the same connection. It is twice the proxy's client_timeout, so that
// no stall on the way makes the proxy think that it came too early.
const timer = 2 * clientTimeout

// retryDelay is from a temporary status to the next try.
const retryDelay = 300 * time.Millisecond

// application sends its messages over a pool of binds until each is answered.
type application struct {
	persona
	*scene
	messages []history.Message // of the whole run
	over     chan struct{}     // closed when every message has its answer

	mu         sync.Mutex // guards what follows
	chance     *rand.Rand
	queue      queue
	entered    int
	open       int // pieces without their answer
	reference  int
	answered   []*job    // lately, for one that forgets
	afterwards bool      // over is closed
	least      int       // of open
	settled    time.Time // when open was so few for the first time
}

// job is one copy of a message: a text, or all parts of a long one.
type job struct {
	message, copy, text int // text is that of the first piece
	done                []bool
	sent                []bool
	reference           int
	form                int // of the reference: 8-bit UDH, 16-bit UDH, sar TLVs
	round               int // of sending all anew
	total               int // pieces
}

// entry is what is to be sent, not before its time.
type entry struct {
	due    time.Time
	n      int
	job    *job
	pieces []int
	round  int
}

// offer enters a job that nobody has sent yet.
func (a *application) offer(j *job, due time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	j.reference = a.newReference(j.form)
	j.done, j.sent = make([]bool, j.total), make([]bool, j.total)
	a.open += j.total
	a.least = a.open
	a.enter(due, j, j.pieces())
}

func (j *job) pieces() []int {
	all := make([]int, j.total)
	for i := range all {
		all[i] = i
	}
	return all
}

// Called with mu held, as are those below.
func (a *application) enter(due time.Time, j *job, pieces []int) {
	a.entered++
	heap.Push(&a.queue, entry{due, a.entered, j, pieces, j.round})
}

func (a *application) newReference(form int) int {
	a.reference++
	if form == 0 {
		return a.reference & 0xFF
	}
	return a.reference & 0xFFFF
}

// again enters what was sent and never answered: the piece, or with renews the whole job under a new reference. A part that was sent alone, after
// it had been refused, is repeated alone: if the proxy never saw it, to it nothing of the message is lost.
func (a *application) again(f *flight, due time.Time) {
	j := f.job
	if f.round != j.round || j.done[f.piece] {
		return
	}
	if !a.renews || f.alone {
		a.enter(due, j, []int{f.piece})
		return
	}
	a.anew(j, due)
}

// anew sends all pieces of a job again, the answered ones too.
func (a *application) anew(j *job, due time.Time) {
	j.round++
	j.reference = a.newReference(j.form)
	for i, done := range j.done {
		if done {
			j.done[i] = false
			a.open++
		}
	}
	a.enter(due, j, j.pieces())
}

// take enters an answer.
func (a *application) take(f *flight, answer wire.Frame) {
	j := f.job
	if f.round != j.round || j.done[f.piece] {
		return
	}
	if answer.Status() != wire.OK && temporary(answer.Status()) {
		a.enter(time.Now().Add(retryDelay), j, []int{f.piece})
		return
	}
	j.done[f.piece] = true
	a.open--
	if a.open < a.least {
		a.least, a.settled = a.open, time.Now()
	}
	if answer.Status() == wire.OK && j.total == 1 {
		a.answered = append(a.answered, j)
		a.answered = a.answered[max(0, len(a.answered)-20):]
	}
	if a.open == 0 && !a.afterwards {
		a.afterwards = true
		close(a.over)
	}
}

// crashed is an application that has lost its memory of what it was answered lately. With request ids that costs nothing.
func (a *application) crashed() {
	if !a.tagged || !a.forgets || a.afterwards {
		return
	}
	for _, j := range a.answered {
		a.anew(j, time.Now())
	}
	a.answered = nil
}

// slow are messages that the SMSC does not answer soon. An application crashes right behind the first sending of such a one, so that it is unanswered then.
func slow(message int) bool { return message%8 == 0 }

// submission builds a piece.
func (a *application) submission(j *job, piece int, sequence uint32) wire.Frame {
	m := &a.messages[j.message]
	s := wire.Message{
		Source: wire.Address{TON: 5, Number: "Shop"}, Destination: wire.Address{TON: 1, NPI: 1, Number: m.Destination},
		Text: []byte(m.Texts[j.text+piece]),
	}
	if a.receipts {
		s.RegisteredDelivery = 1
	}
	if a.tagged {
		s.TLVs = append(s.TLVs, wire.TLV{Tag: requestTag, Value: []byte{'r', byte(j.message >> 8), byte(j.message), byte(j.copy), byte(j.text)}})
	}
	if j.total > 1 {
		n, total := byte(piece+1), byte(j.total)
		high, low := byte(j.reference>>8), byte(j.reference)
		switch j.form {
		case 0:
			s.ESMClass, s.Text = 0x40, append([]byte{5, 0, 3, low, total, n}, s.Text...)
		case 1:
			s.ESMClass, s.Text = 0x40, append([]byte{6, 8, 4, high, low, total, n}, s.Text...)
		default:
			s.TLVs = append(s.TLVs, wire.TLV{Tag: wire.TagSARReference, Value: []byte{high, low}},
				wire.TLV{Tag: wire.TagSARTotal, Value: []byte{total}}, wire.TLV{Tag: wire.TagSARNumber, Value: []byte{n}})
		}
	}
	return s.Submit(sequence)
}

// queue is a heap by time.
type queue []entry

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].n < q[j].n
	}
	return q[i].due.Before(q[j].due)
}
func (q *queue) Push(x any) { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// draw tells, once in n times, yes.
func draw(chance *rand.Rand, n int) bool { return n > 0 && chance.IntN(n) == 0 }

var forms = []smsc.IDForm{smsc.Decimal, smsc.Hex, smsc.Padded, smsc.UUID}

func temporary(status uint32) bool {
	return status == wire.SystemError || status == wire.QueueFull || status == wire.Throttled || status == wire.AppTemporary
}
