package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// A rig is a ledger without goroutines, without Badger and without a clock: the test is the loop that run is, the disk is a
// map, and time is what the test says. Every event of the real interface can be told to it, and every commit can be made to
// fail, to hang, or to be lost in a power cut.
type rig struct {
	tester
	l    *Ledger
	o    Options
	now  Time
	disk *disk

	hang       bool            // commits do not come to an end until finish
	slow       bool            // they are written, but their sync does not come to an end until finish
	broken     error           // commits fail
	job        *job            // the commit that hangs
	wrote      bool            // it is written, and only its sync hangs
	questioned func(SessionID) // hears whose life a submission depends on; nil: each lives
	reading    bool            // look-ups in the store do not come to an end until read

	messages []*message
	found    map[string][]Found
	commits  int
	puts     int // entries of all batches, journals not counted
	started  Time
}

// A tester is what a rig needs of testing.T and rapid.T.
type tester interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// rigStart is when a rig's time begins.
const rigStart = Time(1_800_000_000_000_000_000)

func newRig(t tester, change ...func(*Options, *Policy)) *rig {
	o, p := Options{Path: "nowhere", Upstream: "default", Retention: 72 * time.Hour, Log: zap.NewNop()}, testPolicy()
	if tb, ok := t.(testing.TB); ok {
		o = testOptions(tb, o.Path)
	}
	for _, c := range change {
		c(&o, &p)
	}
	o.PolicyOf = func(string) Policy { return p }
	o.ResponseTimeout = p.ResponseTimeout
	r := &rig{tester: t, o: o, now: rigStart, started: rigStart, disk: newDisk(), found: map[string][]Found{}}
	r.open()
	return r
}

// open starts the ledger on what is on the disk.
func (r *rig) open() {
	r.Helper()
	r.o.Metrics = prometheus.NewRegistry()
	l := &Ledger{o: r.o, log: r.o.Log, m: newMetrics(r.o.Metrics), work: make(chan job, 1), done: make(chan result, 1)}
	image, err := r.disk.rebuild()
	if err != nil {
		r.Fatal(err)
	}
	r.disk.epoch++
	l.image, l.epoch, l.secret = image, r.disk.epoch, make([]byte, 32)
	l.queue.init()
	l.reads.init()
	l.book = newBook(l)
	l.book.store, l.book.lastSweep = r.disk, r.now
	if err := l.book.restore(image, r.now, r.disk.record); err != nil {
		r.Fatal(err)
	}
	l.setWritable(nil)
	l.judge()
	r.l, r.job, r.wrote, r.hang, r.slow, r.broken, r.reading = l, nil, false, false, false, nil, false
	r.run()
}

// kill ends the process; what was committed is there when it opens again. down is how long it stays away.
func (r *rig) kill(down time.Duration) {
	r.Helper()
	r.closeMessages()
	r.now = r.now.Add(down)
	r.open()
}

// cutPower ends the machine: what was not synced is gone.
func (r *rig) cutPower(down time.Duration) {
	r.Helper()
	r.disk.cutPower()
	r.kill(down)
}

func (r *rig) closeMessages() {
	for _, m := range r.messages {
		m.gone = true
	}
}

// run does what the goroutine of that name does, until nothing is left to be done now.
func (r *rig) run() {
	r.Helper()
	l := r.l
	for i := 0; ; i++ {
		if i > 1_000_000 {
			r.Fatal("the ledger never comes to rest")
		}
		l.take(r.now)
		for _, q := range r.reads() {
			l.queue.add(event{kind: looked, lookup: q, reading: q.ask(r.disk)})
		}
		if r.now >= l.book.due {
			l.book.due = l.book.tick(r.now)
		}
		l.advance(r.now, false)
		select {
		case j := <-l.work:
			r.job = &j
			r.commits++
			r.puts += len(j.batch.puts)
		default:
		}
		if r.job != nil && !r.hang && !r.wrote && r.broken == nil {
			r.write()
		}
		if r.job != nil && !r.hang && !(r.slow && r.wrote) {
			r.finish(r.broken)
			continue
		}
		waits := len(l.queue.events) > 0 || l.taken < len(l.events)
		full := l.book.batch.full() && l.committing != nil && !l.failed
		unsaid := l.committing == nil && !l.book.batch.idle()
		if (!waits || full) && !unsaid && r.due() > r.now && (r.reading || len(l.reads.list) == 0) {
			return
		}
	}
}

func (r *rig) reads() []*lookup {
	if r.reading {
		return nil
	}
	list := r.l.reads.list
	r.l.reads.list = nil
	return list
}

// write is the first half of a commit: what it wrote survives the process. One that needs no sync has come to its end.
func (r *rig) write() {
	r.disk.write(r.job)
	r.wrote = true
	if r.disk.needsSync(r.job, r.o.Sync) {
		r.l.written(r.job.batch, r.now)
	} else {
		r.finish(nil)
	}
}

// finish ends the commit under way: with nil it is on the disk, otherwise nobody knows.
func (r *rig) finish(err error) {
	r.Helper()
	j, wrote := r.job, r.wrote
	if j == nil {
		r.Fatal("no commit is under way")
	}
	r.job, r.wrote = nil, false
	if err == nil {
		if !wrote {
			r.disk.write(j)
		}
		if r.disk.needsSync(j, r.o.Sync) {
			r.disk.sync()
		}
	}
	r.l.committed(result{batch: j.batch, err: err}, r.now)
}

// release lets a hanging commit end with err, and the others go on.
func (r *rig) release(err error) {
	r.Helper()
	r.hang, r.slow = false, false
	if r.job != nil {
		r.finish(err)
	}
	r.run()
}

// checkpoint makes the next batch bring one.
func (r *rig) checkpoint() { r.l.journals = checkpointEvery }

// checkImage compares the running image with what the disk would give after a kill.
func (r *rig) checkImage() {
	r.Helper()
	if r.job != nil {
		return
	}
	onDisk, err := r.disk.rebuild()
	if err != nil {
		r.Fatal(err)
	}
	if !sameImage(r.l.image, onDisk) {
		r.Fatalf("image (-running +on disk):\n%s", cmp.Diff(r.l.image, onDisk, cmpopts.EquateEmpty()))
	}
}

func sameImage(a, b *image) bool {
	same := func(a, b *sessionState) bool { return *a == *b }
	return a.Seq == b.Seq && a.At == b.At && a.Heard == b.Heard && slices.Equal(a.Telling, b.Telling) && a.Next == b.Next && maps.Equal(a.Live, b.Live) && slices.Equal(a.Recent, b.Recent) &&
		maps.EqualFunc(a.Sessions, b.Sessions, same) && maps.Equal(a.Legs, b.Legs) && maps.Equal(a.Voided, b.Voided) && maps.Equal(a.Blind, b.Blind)
}

// wait lets d pass; each thing that falls due in it is done at its time.
func (r *rig) wait(d time.Duration) {
	r.Helper()
	r.until(r.now.Add(d))
}

func (r *rig) until(t Time) {
	r.Helper()
	for {
		next := r.due()
		if next > t {
			break
		}
		r.now = max(r.now, next)
		r.run()
		if r.due() <= r.now {
			r.Fatalf("due at %v still, and nothing happens", r.due().Sub(r.started))
		}
	}
	r.now = t
	r.run()
}

// due is wakeAt without the wall clock.
func (r *rig) due() Time {
	l := r.l
	at := l.book.due
	if l.committing == nil && l.mark != 0 {
		at = min(at, l.mark)
	}
	if l.committing != nil && !l.failed {
		at = min(at, l.started.Add(commitTimeout))
	}
	if l.failed && l.retryAt != 0 {
		at = min(at, l.retryAt)
	}
	return at
}

// at waits until the second s of the test.
func (r *rig) at(s float64) {
	r.Helper()
	t := r.started.Add(time.Duration(s * float64(time.Second)))
	if t < r.now {
		r.Fatalf("second %v is over", s)
	}
	r.until(t)
}

// metric gives the value of a counter or gauge; labels as in {a="b"}.
func (r *rig) metric(name string) float64 {
	r.Helper()
	families, err := r.o.Metrics.(*prometheus.Registry).Gather()
	if err != nil {
		r.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			full := f.GetName()
			var labels []string
			for _, p := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", p.GetName(), p.GetValue()))
			}
			if len(labels) > 0 {
				full += "{" + strings.Join(labels, ",") + "}"
			}
			if full == name {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

// look asks for a message id, and keeps what is found under it.
func (r *rig) look(account, id string, d Address, wait time.Duration) {
	r.Helper()
	r.l.Lookup(account, &Receipt{ID: []byte(id), Destination: d}, wait, func(f Found) { r.found[id] = append(r.found[id], f) })
	r.run()
}
