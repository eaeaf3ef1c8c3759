package proxy

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/memnet"
	"smpponce/test/wire"
)

func TestMoreConnectionsThanMaxSessionsAreClosedAtOnce(t *testing.T) {
	inBubble(t, func(o *Options) { o.MaxSessions = 2 }, func(r *rig) {
		esme, smsc := r.bound()
		idle := r.dial() // unbound ones count
		synctest.Wait()
		over := r.dial()
		over.wantEnd()
		if got := r.value("smpponce_binds_total", "result", "over_limit"); got != 1 {
			t.Errorf("%v counted, want 1", got)
		}
		_ = idle.Close()
		synctest.Wait()
		// A leg that drains takes no place from its client's next session.
		esme.send(submitFrame(1, "unanswered"))
		smsc.want(wire.SubmitSM)
		_ = esme.Close()
		synctest.Wait()
		r.boundAs("one")
		r.boundAs("two")
	})
}

// failing is a listener whose first accepts fail as they do without descriptors.
type failing struct {
	net.Listener
	left int
}

func (l *failing) Accept() (net.Conn, error) {
	if l.left > 0 {
		l.left--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestAnAcceptThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		p, err := New(Options{Upstream: []string{"smsc:1"}, Dial: network.Dial, AccountOf: func(string) Account { return Account{Mode: Off} }})
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error)
		l := &failing{network.Listen("proxy:2775"), 20}
		go func() { served <- p.Serve(context.Background(), l) }()
		start := time.Now()
		c, err := network.DialFrom(context.Background(), "10.1.1.1:1", "proxy:2775")
		if err != nil {
			t.Fatal(err)
		}
		esme := newPeer(t, "ESME", c)
		esme.send(wire.New(wire.EnquireLink, 0, 1, nil))
		esme.want(wire.EnquireLink | wire.Response)
		if took := time.Since(start); took < 5*time.Second || took > 20*time.Second {
			t.Errorf("20 failures took %v, want pauses that grow to a second", took)
		}
		_ = esme.Close()
		if err := p.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func TestNewNamesAllThatIsMissing(t *testing.T) {
	_, err := New(Options{})
	if err == nil || !strings.Contains(err.Error(), "Upstream") || !strings.Contains(err.Error(), "AccountOf") {
		t.Errorf("got %v, want both faults", err)
	}
}

func TestServeAfterShutdownIsAnError(t *testing.T) {
	p, err := New(Options{Upstream: []string{"smsc:1"}, AccountOf: func(string) Account { return Account{Mode: Off} }})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	l := new(memnet.Network).Listen("proxy:1")
	if err := p.Serve(context.Background(), l); err == nil {
		t.Error("Serve gave no error")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener gives %v, want it closed", err)
	}
}
