package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"smpponce/test/program"
)

// proxy is the program running `serve`. It can be killed and started again, on the same address and ledger.
type proxy struct {
	*program.Program
	address string
	ledger  string // its directory
}

// serve starts the program before an SMSC and waits until it listens. It is killed when the test ends.
func serve(t *testing.T, upstream string, env ...string) *proxy {
	t.Helper()
	p := newProxy(t, upstream, env...)
	p.Start()
	p.listening()
	return p
}

// newProxy chooses the address and settings, and starts nothing.
func newProxy(t *testing.T, upstream string, env ...string) *proxy {
	t.Helper()
	p := &proxy{address: free(t, 1)[0], ledger: filepath.Join(t.TempDir(), "ledger")}
	p.Program = program.New(t, append([]string{
		"SMPPONCE_LISTEN_ADDRESS=" + p.address, "SMPPONCE_ADMIN_ADDRESS=127.0.0.1:0", "SMPPONCE_UPSTREAM_ADDRESSES=" + upstream,
		"SMPPONCE_LEDGER_PATH=" + p.ledger, "SMPPONCE_LEDGER_MIN_FREE=64MiB",
	}, env...)...)
	return p
}

// listening waits until the running process accepts clients.
func (p *proxy) listening() { p.Logged(`"msg":"listening"`) }

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

// resubmissions describes the decisions that the log tells of, for a failed test.
func (p *proxy) resubmissions() string {
	verdicts := map[string]int{}
	for _, l := range p.Lines() {
		var e struct{ Msg, Verdict, Reason string }
		if json.Unmarshal([]byte(l), &e) == nil && e.Msg == "resubmission" {
			verdicts[e.Verdict+" ("+e.Reason+")"]++
		}
	}
	return fmt.Sprint(verdicts)
}
