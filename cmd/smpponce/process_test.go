package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every wait: far more than a loaded machine needs, and only spent where a test fails.
const patience = 30 * time.Second

// process is a running `smpponce serve`.
type process struct {
	cmd     *exec.Cmd
	changed *sync.Cond // on what follows
	lines   []string   // of its log
	ended   bool
}

// start runs serve on free loopback ports, with an SMSC address at which nobody listens and a ledger of its own, unless
// env says otherwise. It is killed at the end of the test.
func start(t *testing.T, env ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, "serve"), changed: sync.NewCond(&sync.Mutex{})}
	p.cmd.Env = append(cleanEnv(),
		"SMPPONCE_LISTEN_ADDRESS=127.0.0.1:0",
		"SMPPONCE_ADMIN_ADDRESS=127.0.0.1:0",
		"SMPPONCE_UPSTREAM_ADDRESSES="+unused(t),
		"SMPPONCE_LEDGER_PATH="+filepath.Join(t.TempDir(), "ledger"),
		"SMPPONCE_LEDGER_MIN_FREE=64MiB",
	)
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Dir = t.TempDir()
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stderr)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		p.until(t, "its end", func() bool { return p.ended })
	})
	return p
}

// read collects the log, and then the process's end.
func (p *process) read(stderr io.Reader) {
	for s := bufio.NewScanner(stderr); s.Scan(); {
		p.changed.L.Lock()
		p.lines = append(p.lines, s.Text())
		p.changed.Broadcast()
		p.changed.L.Unlock()
	}
	_ = p.cmd.Wait()
	p.changed.L.Lock()
	p.ended = true
	p.changed.Broadcast()
	p.changed.L.Unlock()
}

// until waits for a condition on what read collects.
func (p *process) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		p.changed.L.Lock()
		late = true
		p.changed.Broadcast()
		p.changed.L.Unlock()
	})
	defer timer.Stop()
	p.changed.L.Lock()
	defer p.changed.L.Unlock()
	for !condition() {
		if late || p.ended {
			t.Fatalf("waited in vain for %s (ended: %v); log:\n%s", what, p.ended, strings.Join(p.lines, "\n"))
		}
		p.changed.Wait()
	}
}

// logged waits for a line with this message and gives its fields.
func (p *process) logged(t *testing.T, message string) map[string]any {
	t.Helper()
	var found map[string]any
	p.until(t, "log line "+message, func() bool {
		for _, line := range p.lines {
			var fields map[string]any
			if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
				found = fields
				return true
			}
		}
		return false
	})
	return found
}

// exit waits for the end and gives the exit code and the whole log.
func (p *process) exit(t *testing.T) (code int, log string) {
	t.Helper()
	p.until(t, "its end", func() bool { return p.ended })
	return p.cmd.ProcessState.ExitCode(), strings.Join(p.lines, "\n")
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// get asks the admin address.
func (p *process) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	address, _ := p.logged(t, "admin address")["address"].(string)
	client := http.Client{Timeout: patience}
	response, err := client.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// ready waits until clients may come, and gives the address for them.
func (p *process) ready(t *testing.T) (address string) {
	t.Helper()
	address, _ = p.logged(t, "listening")["address"].(string)
	return address
}

// unused gives an address at which nobody listens.
func unused(t *testing.T) string {
	t.Helper()
	return occupied(t, false)
}

// taken gives an address at which somebody listens for as long as the test runs.
func taken(t *testing.T) string {
	t.Helper()
	return occupied(t, true)
}

func occupied(t *testing.T, stay bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if stay {
		t.Cleanup(func() { _ = l.Close() })
	} else {
		_ = l.Close()
	}
	return l.Addr().String()
}
