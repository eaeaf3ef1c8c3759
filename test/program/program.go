// Package program runs the real smpponce in tests: built once for each test binary, started with settings in its environment,
// killed at the end of the test, its log and its admin address at hand.
package program

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait: far more than a loaded machine needs, and only spent where a test fails.
const patience = 60 * time.Second

var workshop string // where the program is put; made and removed by Main

// Main is a TestMain: it runs the tests and removes what they built.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "smpponce-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workshop = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build builds the program, once.
var build = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(workshop, "smpponce")
	out, err := exec.Command("go", "build", "-o", path, "smpponce/cmd/smpponce").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// Program is `smpponce serve`. It can be killed and started again.
type Program struct {
	t    *testing.T
	path string
	env  []string
	cmd  *exec.Cmd
	exit chan struct{} // closed when cmd has ended and its log is read

	mu      sync.Mutex    // guards what follows
	changed chan struct{} // closed with each line of the log
	lines   []string      // of all runs
	first   int           // line of this run
}

// New makes a program with these settings (SMPPONCE_…=…) and none that the tests themselves run with. It starts nothing.
func New(t *testing.T, settings ...string) *Program {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{t: t, path: path, changed: make(chan struct{})}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SMPPONCE_") {
			p.env = append(p.env, e)
		}
	}
	p.env = append(p.env, settings...)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Log("the proxy's last lines:\n" + p.Tail(300))
		}
	})
	return p
}

// Command is the program with other arguments and the same settings.
func (p *Program) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Env = p.env
	cmd.Dir = p.t.TempDir()
	return cmd
}

// Start runs it.
func (p *Program) Start() {
	p.t.Helper()
	cmd := p.Command("serve")
	log, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.first = len(p.lines)
	p.mu.Unlock()
	p.cmd, p.exit = cmd, make(chan struct{})
	go p.read(log, cmd, p.exit)
}

// read collects the log until the process's end.
func (p *Program) read(log io.Reader, cmd *exec.Cmd, exit chan<- struct{}) {
	s := bufio.NewScanner(log)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		p.line(s.Text())
	}
	_ = cmd.Wait()
	close(exit)
	p.line("")
}

func (p *Program) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text != "" {
		p.lines = append(p.lines, text)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Kill is kill -9. It returns when the process is gone.
func (p *Program) Kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it fails only where there is no process any more
	<-p.exit
}

// Stop ends it by SIGTERM and gives its exit code.
func (p *Program) Stop() int {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	return p.Ended()
}

// Signal sends a signal to the process, which must be there.
func (p *Program) Signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Pause is SIGSTOP. It returns when the process has stopped: until then it goes on for a while. Linux only.
func (p *Program) Pause() {
	p.t.Helper()
	p.Signal(syscall.SIGSTOP)
	for by := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			p.t.Fatal(err)
		}
		if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "T") {
			return
		}
		if time.Now().After(by) {
			p.t.Fatal("the process does not stop")
		}
	}
}

// Ended waits for the process's end and gives its exit code.
func (p *Program) Ended() int {
	p.t.Helper()
	select {
	case <-p.exit:
	case <-time.After(patience):
		p.t.Fatalf("the proxy does not end:\n%s", p.Tail(20))
	}
	return p.cmd.ProcessState.ExitCode()
}

// Running says whether the process has not ended.
func (p *Program) Running() bool {
	select {
	case <-p.exit:
		return false
	default:
		return true
	}
}
