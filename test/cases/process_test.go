package cases

import (
	"fmt"
	"testing"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// process is a running `smpponce serve`.
type process struct {
	*program.Program
	t *testing.T
}

// serve starts the program before the stage's SMSC, on a ledger. It is killed at the end of the test.
func serve(t *testing.T, s *stage.Stage, ledger string, env ...string) *process {
	t.Helper()
	p := &process{t: t, Program: program.New(t, append([]string{
		"SMPPONCE_LISTEN_ADDRESS=127.0.0.1:0", "SMPPONCE_ADMIN_ADDRESS=127.0.0.1:0",
		"SMPPONCE_UPSTREAM_ADDRESSES=" + s.Upstream(), "SMPPONCE_LEDGER_PATH=" + ledger, "SMPPONCE_LEDGER_MIN_FREE=64MiB",
	}, env...)...)}
	p.Start()
	return p
}

// listening waits until clients may come, and has those of the stage come here.
func (p *process) listening(s *stage.Stage) {
	p.t.Helper()
	s.At(p.Field("listening", "address"))
}

// awaitReady waits until /readyz gives this status.
func (p *process) awaitReady(want int) {
	p.t.Helper()
	eventually(p.t, fmt.Sprint("/readyz gives ", want), func() bool {
		status, _ := p.Get("/readyz")
		return status == want
	})
}

// pass lets real time pass where a setting or a constant of the program says how much: nothing else can be waited for.
func pass(d time.Duration) { time.Sleep(d) }
