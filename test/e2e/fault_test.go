package e2e

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"smpponce/test/esme"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

func dial(t *testing.T, p *proxy) *esme.Session {
	t.Helper()
	e, err := esme.Dial(bounded(t), p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// serves checks that the proxy still does its work for a fresh client.
func serves(t *testing.T, p *proxy) {
	t.Helper()
	e := bound(t, p)
	collect(t, e, send(t, e, identical(1)[0], 1), map[string]int{})
	if err := e.Unbind(bounded(t)); err != nil {
		t.Error(err)
	}
}

func TestWhereNoSMSCCanBeReachedABindIsAnsweredWithASystemError(t *testing.T) {
	p := serve(t, free(t, 1)[0])
	e := dial(t, p)
	f, err := e.Bind(bounded(t), wire.BindTransceiver, "acme", "secret")
	if err != nil || f.Command() != wire.BindTransceiver|wire.Response || f.Status() != wire.SystemError {
		t.Fatalf("bind: %x, %v; want a response with status %#x", f, err, wire.SystemError)
	}
	if err := e.Ended(bounded(t)); err != io.EOF {
		t.Errorf("afterwards: %v, want the end of the connection", err)
	}
	p.Logged("no upstream address could be reached")
	if status, _ := p.Get("/readyz"); status != http.StatusOK {
		t.Errorf("readyz: %d; the proxy itself is fine", status)
	}
}

func TestARefusedBindIsRelayedAsItIs(t *testing.T) {
	for _, status := range []uint32{wire.BindFailed, wire.AlreadyBound, 0x450} {
		s := startSMSC(t, smsc.Options{Bind: func(b smsc.BindRequest) uint32 {
			if b.Account == "stranger" {
				return status
			}
			return wire.OK
		}})
		p := serve(t, s.Addr())
		f, err := dial(t, p).Bind(bounded(t), wire.BindTransmitter, "stranger", "wrong")
		if err != nil || f.Command() != wire.BindTransmitter|wire.Response || f.Status() != status || len(f) != wire.HeaderLen {
			t.Errorf("bind: %x, %v; want the SMSC's 16 octets with status %#x", f, err, status)
		}
		serves(t, p)
	}
}

func TestAnOversizedFrameEndsItsConnectionAndNoOther(t *testing.T) {
	s := startSMSC(t, smsc.Options{})
	p := serve(t, s.Addr())
	other := bound(t, p)
	e := bound(t, p)
	if err := e.Write([]byte{0, 2, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 77}); err != nil {
		t.Fatal(err)
	}
	f, err := e.Answer(bounded(t), 77)
	if err != nil || f.Command() != wire.GenericNack || f.Status() != wire.InvCmdLen {
		t.Errorf("answer %x, %v; want generic_nack with status %#x", f, err, wire.InvCmdLen)
	}
	if err := e.Ended(bounded(t)); err == nil {
		t.Error("the connection still stands")
	}
	collect(t, other, send(t, other, identical(1)[0], 1), map[string]int{})
}

func TestGarbageEndsItsConnectionAndNoOther(t *testing.T) {
	s := startSMSC(t, smsc.Options{})
	p := serve(t, s.Addr())
	other := bound(t, p)
	seed := rand.Uint64()
	t.Logf("seed of the garbage: %d", seed)
	chance := rand.New(rand.NewPCG(seed, seed))
	for _, binds := range []bool{false, true} {
		for range 20 {
			e := dial(t, p)
			if binds {
				e.Close()
				e = bound(t, p)
			}
			garbage := make([]byte, 4096)
			for i := range garbage {
				garbage[i] = byte(chance.Uint32())
			}
			garbage[0] |= 0x80 // as a length it is beyond every bound
			_ = e.Write(garbage)
			if err := e.Ended(bounded(t)); err == nil {
				t.Error("the connection still stands")
			}
		}
	}
	if n := s.Counts().Received; n != 0 {
		t.Errorf("%d submissions reached the SMSC", n)
	}
	collect(t, other, send(t, other, identical(1)[0], 1), map[string]int{})
}

func TestASecondProcessOnTheLedgerSaysWhyItEnds(t *testing.T) {
	s := startSMSC(t, smsc.Options{})
	p := serve(t, s.Addr())
	second := newProxy(t, s.Addr(), ledgerOf(p), "SMPPONCE_LEDGER_LOCK_WAIT=500ms")
	second.Start()
	if code := second.Ended(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	second.Logged("ledger.path", "another process")
	serves(t, p)
}

func TestASecondProcessTakesTheLedgerOverWhenTheFirstEnds(t *testing.T) {
	s := startSMSC(t, smsc.Options{})
	p := serve(t, s.Addr())
	second := newProxy(t, s.Addr(), ledgerOf(p))
	second.Start()
	second.Logged("admin address")
	if status, _ := second.Get("/readyz"); status == http.StatusOK {
		t.Error("the second is ready before it has the ledger")
	}
	if code := p.Stop(); code != 0 {
		t.Errorf("the first ended with %d, want 0", code)
	}
	second.listening()
	serves(t, second)
}

// ledgerOf is the setting that puts another process on a proxy's ledger.
func ledgerOf(p *proxy) string { return "SMPPONCE_LEDGER_PATH=" + p.ledger }

func TestWrongSettingsAreToldAllAtOnce(t *testing.T) {
	cmd := newProxy(t, "", "SMPPONCE_DEDUP_SETTLE=5").Command("serve", "--listen", "nowhere", "--upstream", "")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit code %d, want 2", code)
	}
	for _, want := range []string{"listen", "upstream", "SMPPONCE_DEDUP_SETTLE"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q is not named in:\n%s", want, stderr.String())
		}
	}
}
