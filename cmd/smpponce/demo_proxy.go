package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// demoProxy is this program, running `serve` as a process of its own.
type demoProxy struct {
	cmd     *exec.Cmd
	dir     string        // holds the ledger
	address string        // of its listener
	done    chan struct{} // closed at the end of its log
	last    []string      // lines of its log; to be read after done
	failed  bool          // the log is worth reading
}

const demoLogLines = 30

// startDemoProxy starts the proxy before the SMSC, with a ledger in a temporary directory, and returns when it listens.
func startDemoProxy(ctx context.Context, upstream string) (*demoProxy, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "smpponce-demo-")
	if err != nil {
		return nil, err
	}
	p := &demoProxy{dir: dir, done: make(chan struct{}), cmd: exec.Command(program, "serve")}
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SMPPONCE_") {
			p.cmd.Env = append(p.cmd.Env, e)
		}
	}
	p.cmd.Env = append(p.cmd.Env,
		"SMPPONCE_LISTEN_ADDRESS=127.0.0.1:0",
		"SMPPONCE_ADMIN_ADDRESS=127.0.0.1:0",
		"SMPPONCE_UPSTREAM_ADDRESSES="+upstream,
		"SMPPONCE_LEDGER_PATH="+filepath.Join(dir, "ledger"),
		"SMPPONCE_LEDGER_MIN_FREE=64MiB",
		// Less than the client's own timer, so that its repeats are known for what they are.
		"SMPPONCE_DEDUP_CLIENT_TIMEOUT="+(demoPatience-500*time.Millisecond).String(),
		// What the SMSC did not take is in doubt, and is sent after this time. A minute is the default; a demo has not got it.
		"SMPPONCE_DEDUP_IN_DOUBT_DEADLINE=1s",
		"SMPPONCE_DEDUP_HOLD_TIMEOUT=300ms",
	)
	log, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	listening := make(chan string, 1)
	go p.read(log, listening)
	select {
	case p.address = <-listening:
		return p, nil
	case <-p.done:
		err = errors.New("the proxy did not start:\n  " + strings.Join(p.last, "\n  "))
	case <-ctx.Done():
		err = fmt.Errorf("the proxy did not start: %w", ctx.Err())
	}
	p.end(io.Discard)
	return nil, err
}

// read keeps the log's last lines, and tells the address that the proxy listens on.
func (p *demoProxy) read(log io.Reader, listening chan<- string) {
	defer close(p.done)
	for s := bufio.NewScanner(log); s.Scan(); {
		p.last = append(p.last, s.Text())
		p.last = p.last[max(0, len(p.last)-demoLogLines):]
		var line struct{ Msg, Address string }
		if json.Unmarshal(s.Bytes(), &line) == nil && line.Msg == "listening" {
			listening <- line.Address
		}
	}
}

// end stops the process, which has ten seconds for an orderly end, and removes the ledger.
func (p *demoProxy) end(stderr io.Writer) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	<-p.done
	_ = p.cmd.Wait()
	kill.Stop()
	_ = os.RemoveAll(p.dir)
	if p.failed {
		fmt.Fprintf(stderr, "the proxy's last lines:\n  %s\n", strings.Join(p.last, "\n  "))
	}
}
