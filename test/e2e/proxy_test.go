package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// proxy is the program running `serve`. It can be killed and started again, on the same address and
// ledger.
type proxy struct {
	t       *testing.T
	address string
	admin   string
	env     []string

	cmd  *exec.Cmd
	exit chan struct{} // closed when cmd has ended and its log is read

	mu      sync.Mutex
	changed chan struct{} // closed with each line of the log
	lines   []string      // of all runs
}

// serve starts the program before an SMSC and waits until it listens. It is killed when the test ends.
func serve(t *testing.T, upstream string, env ...string) *proxy {
	t.Helper()
	p := newProxy(t, upstream, env...)
	p.start()
	p.listening()
	return p
}

// newProxy chooses the addresses and settings, and starts nothing.
func newProxy(t *testing.T, upstream string, env ...string) *proxy {
	t.Helper()
	dir := t.TempDir()
	ports := free(t, 2)
	p := &proxy{t: t, address: ports[0], admin: ports[1], changed: make(chan struct{})}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SMPPONCE_") {
			p.env = append(p.env, e)
		}
	}
	p.env = append(p.env,
		"SMPPONCE_LISTEN_ADDRESS="+p.address, "SMPPONCE_ADMIN_ADDRESS="+p.admin, "SMPPONCE_UPSTREAM_ADDRESSES="+upstream,
		"SMPPONCE_LEDGER_PATH="+filepath.Join(dir, "ledger"), "SMPPONCE_LEDGER_MIN_FREE=64MiB")
	p.env = append(p.env, env...)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Log("the proxy's last lines:\n" + p.tail(300))
		}
	})
	return p
}

// free are n addresses of the loopback interface on which nobody listens.
func free(t *testing.T, n int) []string {
	t.Helper()
	var all []string
	for range n { // all are held until the last is found, so that they differ
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all
}

func (p *proxy) start() {
	p.t.Helper()
	p.cmd = exec.Command(binary, "serve")
	p.cmd.Env = p.env
	log, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.exit = make(chan struct{})
	go p.read(log, p.cmd, p.exit)
}

// read collects the log until the process's end.
func (p *proxy) read(log io.Reader, cmd *exec.Cmd, exit chan<- struct{}) {
	s := bufio.NewScanner(log)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		p.line(s.Text())
	}
	_ = cmd.Wait()
	close(exit)
	p.line("")
}

func (p *proxy) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text != "" {
		p.lines = append(p.lines, text)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// listening waits until the running process accepts connections, or fails the test.
func (p *proxy) listening() {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if c, err := net.Dial("tcp", p.address); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-changed:
		case <-p.exit:
			p.t.Fatalf("the proxy ended:\n%s", p.tail(20))
		case <-deadline:
			p.t.Fatalf("the proxy does not listen:\n%s", p.tail(20))
		}
	}
}

// kill ends the process with SIGKILL and waits for it.
func (p *proxy) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.exit
}

// stop ends the process with SIGTERM and returns its exit code.
func (p *proxy) stop() int {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.ended()
}

// ended waits for the process's end and returns its exit code.
func (p *proxy) ended() int {
	p.t.Helper()
	select {
	case <-p.exit:
	case <-time.After(patience):
		p.t.Fatalf("the proxy does not end:\n%s", p.tail(20))
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *proxy) running() bool {
	select {
	case <-p.exit:
		return false
	default:
		return true
	}
}

// logged waits for a line of the log that holds all the words, and returns it.
func (p *proxy) logged(words ...string) string {
	p.t.Helper()
	deadline := time.After(patience)
	for seen := 0; ; {
		p.mu.Lock()
		fresh, changed := p.lines[seen:], p.changed
		p.mu.Unlock()
		for _, l := range fresh {
			if containsAll(l, words) {
				return l
			}
		}
		seen += len(fresh)
		select {
		case <-changed:
		case <-deadline:
			p.t.Fatalf("no line of the log holds %q:\n%s", words, p.tail(20))
		}
	}
}

// count is the number of lines that hold all the words.
func (p *proxy) count(words ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, l := range p.lines {
		if containsAll(l, words) {
			n++
		}
	}
	return n
}

func containsAll(line string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

func (p *proxy) tail(n int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[max(0, len(p.lines)-n):], "\n")
}

// metric is the sum of a metric over its labels, or over those that hold all the words.
func (p *proxy) metric(name string, labels ...string) float64 {
	p.t.Helper()
	_, body := p.get("/metrics")
	sum := 0.0
	for line := range strings.Lines(body) {
		head, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		bare, _, _ := strings.Cut(head, "{")
		if !ok || bare != name || !containsAll(head, labels) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			p.t.Fatalf("metric line %q: %v", line, err)
		}
		sum += v
	}
	return sum
}

// get asks the admin address.
func (p *proxy) get(path string) (status int, body string) {
	p.t.Helper()
	client := http.Client{Timeout: patience}
	r, err := client.Get("http://" + p.admin + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// resubmissions describes the decisions that the log tells of, for a failed test.
func (p *proxy) resubmissions() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	verdicts := map[string]int{}
	for _, l := range p.lines {
		var e struct{ Msg, Verdict, Reason string }
		if json.Unmarshal([]byte(l), &e) == nil && e.Msg == "resubmission" {
			verdicts[e.Verdict+" ("+e.Reason+")"]++
		}
	}
	return fmt.Sprint(verdicts)
}
