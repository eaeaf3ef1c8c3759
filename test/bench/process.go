package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stopWait bounds how long a child may take to end after SIGTERM, before it's killed.
const stopWait = 20 * time.Second

// The kernel ends a child when the *thread* that started it ends (Pdeathsig). Children are started by the main
// goroutine only, and that keeps the main thread, which lasts as long as the process.
func init() { runtime.LockOSThread() }

// process is a running child. It doesn't outlive the bench, however that ends.
type process struct {
	cmd    *exec.Cmd
	log    string // file with what it wrote
	exited chan struct{}
	err    error // of its exit; valid once exited is closed
}

// startProcess runs a command whose output goes to the file log. Call it from the main goroutine.
func startProcess(log string, environment []string, name string, arguments ...string) (*process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd := exec.Command(name, arguments...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// stop ends the child and returns an error if it had ended before, didn't end in time, or ended badly.
func (p *process) stop() error {
	early := false
	select {
	case <-p.exited:
		early = true
	default:
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	select {
	case <-p.exited:
	case <-time.After(stopWait):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("did not end within %v of SIGTERM and was killed%s", stopWait, p.lastWords())
	}
	if early || p.err != nil {
		return fmt.Errorf("ended by itself or badly: %w%s", errors.Join(errExited, p.err), p.lastWords())
	}
	return nil
}

var errExited = errors.New("the relay's process has ended")

// whileRunning returns a context that ends with the child.
func (p *process) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.exited:
			cancel(errExited)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// lastWords is the end of what the child wrote, to be put behind an error.
func (p *process) lastWords() string {
	text, err := os.ReadFile(p.log)
	if err != nil || len(text) == 0 {
		return ""
	}
	const lines = 10
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return "; its output ended with:\n" + string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// cpuTime is what the child used up so far, in user and kernel mode: the sum in /proc/PID/stat, but in
// nanoseconds instead of ticks of 10 ms.
func (p *process) cpuTime() (time.Duration, error) {
	// clock_getcpuclockid(3) makes the id of another process's CPU clock like this.
	clock := int32(^p.cmd.Process.Pid<<3 | 2)
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("CPU time of the relay: %w", err)
	}
	return time.Duration(t.Nano()), nil
}

// memory is what /proc/PID/status tells, in bytes. Resident counts pages of mapped files too, which the kernel
// can take back; anonymous is what a container is killed for.
type memory struct{ peakResident, anonymous int64 }

func (p *process) memory() (memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return memory{}, err
	}
	return parseMemory(string(text))
}

func parseMemory(status string) (memory, error) {
	var m memory
	fields := map[string]*int64{"VmHWM": &m.peakResident, "RssAnon": &m.anonymous}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		field := fields[name]
		if field == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return memory{}, fmt.Errorf("%s: %w", name, err)
		}
		*field = kib << 10
		delete(fields, name)
	}
	if len(fields) > 0 {
		return memory{}, errors.New("VmHWM or RssAnon missing")
	}
	return m, nil
}
