package proxy

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// rig is a proxy on a network in memory, with its SMSC scripted by the test. It lives in a synctest bubble, where
// waiting costs no time and a goroutine left over fails the test.
type rig struct {
	t       *testing.T
	net     memnet.Network
	proxy   *Proxy
	ledger  *fakeLedger
	smsc    *memnet.Listener
	served  chan error
	metrics *prometheus.Registry
	logs    *observer.ObservedLogs
}

// inBubble runs a test on a rig and takes the rig down afterwards.
func inBubble(t *testing.T, set func(*Options), test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, set)
		defer r.stop()
		test(r)
	})
}

func newRig(t *testing.T, set func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, ledger: newFakeLedger(), served: make(chan error, 1), metrics: prometheus.NewRegistry()}
	core, logs := observer.New(zap.DebugLevel)
	r.logs = logs
	r.smsc = r.net.Listen("smsc:2775")
	o := Options{
		Upstream: []string{"smsc:2775"},
		Dial:     r.net.Dial,
		Ledger:   r.ledger,
		AccountOf: func(string) Account {
			return Account{Mode: Enforce, Settle: time.Second, RaceWait: 3 * time.Second}
		},
		Log: zap.New(core), Metrics: r.metrics,
	}
	if set != nil {
		set(&o)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r.proxy = p
	l := r.net.Listen("proxy:2775")
	go func() { r.served <- p.Serve(context.Background(), l) }()
	synctest.Wait()
	return r
}

// off is the account of a plain relay.
func off(o *Options) { o.AccountOf = func(string) Account { return Account{Mode: Off} } }

// unprobed has no leg probed.
func unprobed(o *Options) { o.KeepaliveInterval = 24 * time.Hour }

func (r *rig) stop() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := r.proxy.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		r.t.Errorf("Shutdown gave %v", err)
	}
	if err := <-r.served; err != nil {
		r.t.Errorf("Serve gave %v", err)
	}
	_ = r.smsc.Close()
}

// peer is one end of a connection that the test plays.
type peer struct {
	t    *testing.T
	name string
	*memnet.Conn
	in *wire.Reader
}

func newPeer(t *testing.T, name string, c *memnet.Conn) *peer {
	return &peer{t: t, name: name, Conn: c, in: wire.NewReader(c)}
}

// dial connects as an ESME.
func (r *rig) dial() *peer { return r.dialFrom("10.1.1.1:4000") }

func (r *rig) dialFrom(from string) *peer {
	r.t.Helper()
	c, err := r.net.DialFrom(context.Background(), from, "proxy:2775")
	if err != nil {
		r.t.Fatal(err)
	}
	return newPeer(r.t, "ESME", c)
}

// accept waits for the proxy's connection to the SMSC.
func (r *rig) accept() *peer {
	r.t.Helper()
	c, err := r.smsc.Accept()
	if err != nil {
		r.t.Fatal(err)
	}
	return newPeer(r.t, "SMSC", c.(*memnet.Conn))
}

// bound brings up a session.
func (r *rig) bound() (esme, smsc *peer) {
	r.t.Helper()
	return r.boundAs("")
}

// boundAs is bound for another client of the account, which no other's SMSC leg is given to.
func (r *rig) boundAs(systemType string) (esme, smsc *peer) {
	r.t.Helper()
	esme = r.dial()
	esme.send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", systemType))
	smsc = r.accept()
	bind := smsc.want(wire.BindTransceiver)
	smsc.send(wire.New(wire.BindTransceiver|wire.Response, 0, bind.Sequence(), []byte("smsc\x00")))
	esme.want(wire.BindTransceiver | wire.Response)
	return esme, smsc
}

func (p *peer) send(frames ...wire.Frame) {
	p.t.Helper()
	for _, f := range frames {
		if _, err := p.Write(f); err != nil {
			p.t.Fatalf("%s could not send %x: %v", p.name, f.Command(), err)
		}
	}
}

// next gives the next frame.
func (p *peer) next() wire.Frame {
	p.t.Helper()
	f, err := p.in.Next()
	if err != nil {
		p.t.Fatalf("%s waits for a frame and got %v", p.name, err)
	}
	return f.Clone()
}

// want gives the next frame, which must bear this command.
func (p *peer) want(command uint32) wire.Frame {
	p.t.Helper()
	f := p.next()
	if f.Command() != command {
		p.t.Fatalf("%s got command %#x, want %#x", p.name, f.Command(), command)
	}
	return f
}

// wantPastProbes is want for a peer that is asked whether it lives.
func (p *peer) wantPastProbes(command uint32) wire.Frame {
	p.t.Helper()
	for {
		f := p.next()
		if f.Command() == command {
			return f
		}
		if f.Command() != wire.EnquireLink {
			p.t.Fatalf("%s got command %#x, want %#x", p.name, f.Command(), command)
		}
	}
}

// wantEnd waits for the end of the stream, and says whether it was a reset.
func (p *peer) wantEnd() (reset bool) {
	p.t.Helper()
	f, err := p.in.Next()
	switch {
	case errors.Is(err, io.EOF):
		return false
	case errors.Is(err, syscall.ECONNRESET):
		return true
	}
	p.t.Fatalf("%s waits for the end and got frame %x, error %v", p.name, f, err)
	return false
}

// wantNothing says that nothing comes within d.
func (p *peer) wantNothing(d time.Duration) {
	p.t.Helper()
	_ = p.SetReadDeadline(time.Now().Add(d))
	f, err := p.in.Next()
	_ = p.SetReadDeadline(time.Time{})
	if err == nil {
		p.t.Fatalf("%s got command %#x, want nothing", p.name, f.Command())
	}
}

// submitFrame is an ordinary submit_sm.
func submitFrame(sequence uint32, text string) wire.Frame {
	m := wire.Message{Source: wire.Address{TON: 5, Number: "acme"}, Destination: wire.Address{TON: 1, NPI: 1, Number: "491701234567"}, Text: []byte(text)}
	return m.Submit(sequence)
}

// answer is a submit_sm_resp with an id.
func answer(sequence uint32, id string) wire.Frame {
	return wire.New(wire.SubmitSM|wire.Response, 0, sequence, append([]byte(id), 0))
}

// value reads one metric of the proxy.
func (r *rig) value(name string, labels ...string) float64 {
	r.t.Helper()
	families, err := r.metrics.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	metrics:
		for _, m := range f.GetMetric() {
			for i := 0; i < len(labels); i += 2 {
				found := false
				for _, l := range m.GetLabel() {
					found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
				}
				if !found {
					continue metrics
				}
			}
			switch {
			case m.Counter != nil:
				return m.Counter.GetValue()
			case m.Gauge != nil:
				return m.Gauge.GetValue()
			case m.Histogram != nil:
				return float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return 0
}

// deafen makes the peer read no more: what is sent to it fails, and it can send on.
func (p *peer) deafen() { p.CloseRead() }
