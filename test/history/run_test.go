package history_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"smpponce/test/cut"
	"smpponce/test/history"
	"smpponce/test/program"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

var (
	seeds = flag.Int("seeds", plainSeeds, "how many random runs there are")
	first = flag.Uint64("first", 0, "seed of the first of them; 0: by chance")
	keep  = flag.String("keep", "", "folder for the whole history, and the proxy's whole log, of a run that fails")
)

// atOnce is how many runs there are at a time: they mostly wait.
const atOnce = 10

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", strconv.Itoa(atOnce))
	program.Main(m)
}

const (
	settle          = time.Second
	clientTimeout   = 2 * time.Second
	responseTimeout = 1500 * time.Millisecond
	doubtDeadline   = 500 * time.Millisecond
	requestTag      = 0x1402

	length      = 4 * time.Second // in which all messages are offered
	lastReceipt = 2 * time.Second // after its answer
	stallTime   = 250 * time.Millisecond
	relayTime   = 500 * time.Millisecond // after a cut the proxy has heard of it, from a relay on a busy machine too
	patience    = 60 * time.Second
	perAccount  = 560 // submissions, so that a run has more than 2,000
)

// The proxy forgets nothing within a run, and does in seconds what it does in minutes otherwise.
var settings = []string{
	"SMPPONCE_ADMIN_ADDRESS=127.0.0.1:0", "SMPPONCE_LEDGER_MIN_FREE=64MiB",
	"SMPPONCE_UPSTREAM_RESPONSE_TIMEOUT=" + responseTimeout.String(),
	"SMPPONCE_DEDUP_CLIENT_TIMEOUT=" + clientTimeout.String(), "SMPPONCE_DEDUP_SETTLE=" + settle.String(),
	"SMPPONCE_DEDUP_HOLD_TIMEOUT=200ms", "SMPPONCE_DEDUP_IN_DOUBT_DEADLINE=" + doubtDeadline.String(),
	"SMPPONCE_DEDUP_REQUEST_ID_TLVS=0x1402", "SMPPONCE_RECEIPTS_RACE_WAIT=500ms", "SMPPONCE_SHUTDOWN_GRACE=3s",
}

// scene is what all applications of a run share.
type scene struct {
	record   *history.Recorder
	numbers  atomic.Int64  // of ESME connections
	links    sync.Map      // of ESME connections, by their own address
	ending   atomic.Bool   // the proxy was asked to end, and sends all back: no ESME dies then
	farewell chan struct{} // closed at the end of the run
}

// run is one random run.
type run struct {
	scene
	t        *testing.T
	chance   *rand.Rand
	proxy    *program.Program
	smsc     *smsc.Server
	messages []history.Message
	apps     []*application
	policy   string
	before   int // sent again in doubt, by processes that have ended
}

func newRun(t *testing.T, seed uint64, more ...string) *run {
	r := &run{t: t, chance: rand.New(rand.NewPCG(seed, seed))}
	r.record, r.farewell = history.NewRecorder(), make(chan struct{})
	r.policy = []string{"hold", "hold", "hold", "hold", "hold", "hold", "forward", "refuse"}[r.chance.IntN(8)]
	var err error
	r.smsc, err = smsc.Start(smsc.Options{
		IDs: forms[r.chance.IntN(len(forms))], Watch: watch(r.record), Script: center(rand.New(rand.NewPCG(seed, 1))), Receipts: &smsc.Receipts{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.smsc.Close)
	address := r.free()
	upstream := r.relay(r.smsc.Addr(), r.chance.IntN(4))
	r.proxy = program.New(t, slices.Concat(settings, []string{
		"SMPPONCE_LISTEN_ADDRESS=" + address, "SMPPONCE_UPSTREAM_ADDRESSES=" + upstream, "SMPPONCE_DEDUP_ON_IN_DOUBT=" + r.policy,
		"SMPPONCE_LEDGER_PATH=" + filepath.Join(t.TempDir(), "ledger"),
	}, more)...)
	for _, p := range r.personas(address) {
		a := &application{
			persona: p, scene: &r.scene, over: make(chan struct{}), chance: rand.New(rand.NewPCG(seed, uint64(10+len(r.apps)))),
			reference: r.chance.IntN(1 << 16), settled: time.Now(),
		}
		r.apps = append(r.apps, a)
		r.write(a)
	}
	for _, a := range r.apps {
		a.messages = r.messages
	}
	return r
}

// relay puts a relay that cuts connections before an address.
func (r *run) relay(address string, cuts int) string {
	c, err := cut.Start(cut.Options{Target: address, Seed: r.chance.Uint64(), Cuts: cuts, Min: 2000, Max: 30_000, Spread: 20 * time.Millisecond,
		Made: func(client net.Addr) {
			if link, ok := r.links.Load(client.String()); ok {
				r.record.Note(history.Event{Link: link.(history.Link), Kind: history.Broken, Note: "(by a relay)"})
			}
		}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c.Addr()
}

// personas are four applications: transmitters and a receiver, behind a relay that cuts the transmitters; transceivers that crash; transceivers
// behind a relay, without receipts; and transceivers that give each message a request id.
func (r *run) personas(address string) []persona {
	c := r.chance
	tx := func(n int) []uint32 { return slices.Repeat([]uint32{wire.BindTransmitter}, n) }
	trx := func(n int) []uint32 { return slices.Repeat([]uint32{wire.BindTransceiver}, n) }
	back := func() time.Duration {
		return []time.Duration{0, 5 * time.Millisecond, 200 * time.Millisecond}[c.IntN(3)]
	}
	window := func() int { return []int{4, 8, 10, 20}[c.IntN(4)] }
	pair := persona{account: "pair", address: r.relay(address, 2+c.IntN(6)), binds: append(tx(1+c.IntN(3)), wire.BindReceiver),
		window: window(), receipts: true, comeBack: back(), leaves: 150, answersBadly: true}
	crashing := persona{account: "crashing", address: address, binds: trx(1 + c.IntN(3)), window: window(), receipts: true, comeBack: back(),
		crashes: 40, leaves: 150, renews: c.IntN(2) == 0, answersBadly: c.IntN(2) == 0}
	relayed := persona{account: "relayed", renews: c.IntN(2) == 0, address: r.relay(address, 2+c.IntN(8)), binds: trx(1 + c.IntN(3)), window: window(), comeBack: back()}
	tagged := persona{account: "tagged", address: address, binds: trx(1 + c.IntN(2)), window: window(), receipts: true, comeBack: back(), tagged: true,
		forgets: true, crashes: 60}
	if c.IntN(3) == 0 {
		crashing.crashes, crashing.stalls = 0, 20
	}
	pair.handOver, relayed.handOver = relayTime, relayTime
	return []persona{pair, crashing, relayed, tagged}
}

// write makes the messages of an application and offers them over the length of the run.
func (r *run) write(a *application) {
	for n := 0; n < perAccount; {
		i := len(r.messages)
		m := history.Message{Account: a.account, Destination: fmt.Sprintf("49151%03d%04d", r.chance.IntN(1000), i), Copies: 1}
		texts := 1
		due := time.Now().Add(time.Duration(r.chance.Int64N(int64(length))))
		switch kind := r.chance.IntN(20); {
		case kind == 0:
			m.Copies = 2 + r.chance.IntN(5)
		case kind < 4:
			m.Long, texts = true, 2+r.chance.IntN(2)
		case kind == 4: // different texts to one number
			texts = 2 + r.chance.IntN(3)
		}
		for text := range texts {
			m.Texts = append(m.Texts, fmt.Sprintf("Message %04d.%d, %s.", i, text, strings.Repeat("all is well ", r.chance.IntN(6))))
		}
		form := r.chance.IntN(3)
		for copy := range m.Copies {
			if m.Long {
				a.offer(&job{message: i, copy: copy, total: texts, form: form}, due)
				continue
			}
			for text := range texts {
				a.offer(&job{message: i, copy: copy, text: text, total: 1}, due.Add(time.Duration(r.chance.IntN(50))*time.Millisecond))
			}
		}
		n += m.Copies * texts
		r.messages = append(r.messages, m)
	}
}

// play runs it all and gives the history.
func (r *run) play() *history.History {
	r.start()
	var members sync.WaitGroup
	for _, a := range r.apps {
		for _, command := range a.binds {
			members.Go(func() { a.member(command) })
		}
	}
	for range 1 + r.chance.IntN(2) {
		time.Sleep(length/8 + time.Duration(r.chance.Int64N(int64(length/3))))
		r.interrupt()
	}
	r.awaitAnswers()
	r.awaitReceipts()
	close(r.farewell)
	members.Wait()
	if n := r.proxy.Metric("smpponce_held_submissions"); n != 0 {
		r.t.Errorf("%v submissions are held at the end", n)
	}
	total := r.before + int(r.proxy.Metric("smpponce_in_doubt_resent_total"))
	if code := r.proxy.Stop(); code != 0 {
		r.t.Errorf("exit code %d, want 0", code)
	}
	r.smsc.Close()
	return r.history(total)
}

func (r *run) start() {
	r.proxy.Start()
	r.proxy.Logged(`"msg":"listening"`)
	r.ending.Store(false)
	r.happened(history.Started)
}

func (r *run) happened(what string) {
	r.record.Note(history.Event{Link: history.Link{Side: history.Proxy}, Kind: history.Happened, Note: what})
}

// interrupt kills the proxy, or asks it to end, and starts it again.
func (r *run) interrupt() {
	if r.chance.IntN(3) == 0 {
		r.happened("asked to end")
		r.ending.Store(true)
		r.proxy.Signal(syscall.SIGTERM)
		r.proxy.Ended()
	} else {
		r.proxy.Kill()
		r.happened("killed")
	}
	r.before = r.proxy.Count(resentLine...)
	time.Sleep(time.Duration(r.chance.Int64N(int64(300 * time.Millisecond))))
	r.start()
}

// resentLine are the words of a line that tells of something sent again in doubt.
var resentLine = []string{`"msg":"resubmission"`, `"verdict":"forward"`, `"resent_in_doubt":true`}

// awaitAnswers waits until every message is answered. Where the proxy refuses what is in doubt, no answer to that comes: then it is
// enough that nothing has moved but tries for a while.
func (r *run) awaitAnswers() {
	deadline := time.After(patience)
	for _, a := range r.apps {
		for waiting := true; waiting; {
			select {
			case <-a.over:
				waiting = false
			case <-time.After(200 * time.Millisecond):
				waiting = r.policy != "refuse" || !a.stuck()
			case <-deadline:
				a.mu.Lock()
				r.t.Errorf("%s still waits for %d answers", a.account, a.open)
				a.mu.Unlock()
				return
			}
		}
	}
}

// stuck tells that nothing has been answered for good for a while.
func (a *application) stuck() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.settled) > 2*responseTimeout+timer
}

// awaitReceipts lets the last receipts come.
func (r *run) awaitReceipts() { time.Sleep(lastReceipt + 500*time.Millisecond) }

// save keeps what is known of the run in files.
func (r *run) save(folder string, seed uint64, h *history.History) error {
	var events strings.Builder
	for i := range h.Events {
		fmt.Fprintln(&events, &h.Events[i])
	}
	name := filepath.Join(folder, fmt.Sprint(seed))
	if err := os.WriteFile(name+".history", []byte(events.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(name+".log", []byte(strings.Join(r.proxy.Lines(), "\n")), 0o644)
}

// history gathers what is known.
func (r *run) history(total int) *history.History {
	h := &history.History{
		Messages: r.messages, Events: r.record.Events(), Accepted: map[history.Place]string{}, Resent: map[string]int{}, Log: map[string][]string{},
		Total: total, Settle: settle, ClientTimeout: clientTimeout, RetryStatus: wire.QueueFull, AnsweredBy: 20 * time.Second,
	}
	for _, s := range r.smsc.Received() {
		if s.Accepted {
			h.Accepted[history.Place{Link: history.Link{Side: history.SMSC, Number: s.Connection}, Sequence: s.Frame.Sequence()}] = s.ID
		}
	}
	for _, line := range r.proxy.Lines() {
		var l struct {
			Msg         string
			Verdict     string
			Destination string
			Resent      bool `json:"resent_in_doubt"`
		}
		if json.Unmarshal([]byte(line), &l) != nil || len(l.Destination) < 4 {
			continue
		}
		digits := l.Destination[len(l.Destination)-4:]
		h.Log[digits] = append(h.Log[digits], line)
		if l.Msg == "resubmission" && l.Resent && l.Verdict == "forward" {
			h.Resent[digits]++
		}
	}
	return h
}

// free is an address on which nobody listens. While the proxy is away the kernel must not give its port to a connection, so it lies below those that
// kernels choose from.
func (r *run) free() string {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000)))
		if err == nil {
			_ = l.Close()
			return l.Addr().String()
		}
	}
	r.t.Fatal("no port is free")
	return ""
}
