package cases

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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

	"smpponce/test/cases/stage"
)

// build builds the program, once, for the tests that need a process.
var build = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(workshop, "smpponce")
	out, err := exec.Command("go", "build", "-o", path, "smpponce/cmd/smpponce").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// workshop is where it is put.
var workshop string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "smpponce-cases-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workshop = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running `smpponce serve`.
type process struct {
	t   *testing.T
	cmd *exec.Cmd

	mu    sync.Mutex
	lines []string // of its log
	ended bool
}

// serve starts the program before the stage's SMSC, on a ledger. It is killed at the end of the test.
func serve(t *testing.T, s *stage.Stage, ledger string, env ...string) *process {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(path, "serve")}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SMPPONCE_") {
			p.cmd.Env = append(p.cmd.Env, e)
		}
	}
	p.cmd.Env = append(p.cmd.Env, "SMPPONCE_LISTEN_ADDRESS=127.0.0.1:0", "SMPPONCE_ADMIN_ADDRESS=127.0.0.1:0",
		"SMPPONCE_UPSTREAM_ADDRESSES="+s.Upstream(), "SMPPONCE_LEDGER_PATH="+ledger, "SMPPONCE_LEDGER_MIN_FREE=64MiB")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Dir = t.TempDir()
	log, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(log)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Log("the proxy's last lines:\n" + strings.Join(p.lines[max(0, len(p.lines)-15):], "\n"))
		}
	})
	return p
}

// read collects the log, and then the end.
func (p *process) read(log io.Reader) {
	for scan := bufio.NewScanner(log); scan.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, scan.Text())
		p.mu.Unlock()
	}
	_ = p.cmd.Wait()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
}

// kill is kill -9. It returns when the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	_ = p.cmd.Process.Kill()
	p.awaitEnd()
}

func (p *process) awaitEnd() {
	p.t.Helper()
	eventually(p.t, "the process has ended", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended
	})
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// stop is SIGSTOP. It returns when the process has stopped: until then it goes on for a while.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	eventually(p.t, "the process has stopped", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			p.t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(state, "T")
	})
}

// field waits for a line of the log with this message and gives one of its fields.
func (p *process) field(message, name string) (value string) {
	p.t.Helper()
	eventually(p.t, "the log says "+message, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, line := range p.lines {
			var fields map[string]any
			if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
				value = fmt.Sprint(fields[name])
				return true
			}
		}
		return false
	})
	return value
}

// listening waits until clients may come, and has those of the stage come here.
func (p *process) listening(s *stage.Stage) {
	p.t.Helper()
	s.At(p.field("listening", "address"))
}

// get asks the admin address.
func (p *process) get(path string) (status int, body string) {
	p.t.Helper()
	client := http.Client{Timeout: patience}
	response, err := client.Get("http://" + p.field("admin address", "address") + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// awaitReady waits until /readyz gives this status.
func (p *process) awaitReady(want int) {
	p.t.Helper()
	eventually(p.t, fmt.Sprint("/readyz gives ", want), func() bool {
		status, _ := p.get("/readyz")
		return status == want
	})
}

// value reads a metric: the sum over all lines that begin like this.
func (p *process) value(prefix string) (sum float64) {
	p.t.Helper()
	_, text := p.get("/metrics")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			fields := strings.Fields(rest)
			v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				p.t.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}

// pass lets real time pass where a setting or a constant of the program says how much: nothing else can be waited for.
func pass(d time.Duration) { time.Sleep(d) }
