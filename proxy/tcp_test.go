package proxy

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

// These tests are about the kernel, so they use its sockets.

func loopback(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*net.TCPListener)
}

// overTCP brings up a proxy and one session through it.
func overTCP(t *testing.T, book Ledger, mode Mode) (esme, smsc *net.TCPConn, p *Proxy) {
	t.Helper()
	return overTCPWith(t, Options{Ledger: book, AccountOf: func(string) Account { return Account{Mode: mode, Settle: time.Minute} }}, loopback(t), nil)
}

// overTCPWith is overTCP with an SMSC of its own, which may speak TLS.
func overTCPWith(t *testing.T, o Options, upstream *net.TCPListener, secure func(net.Conn) net.Conn) (esme, smsc *net.TCPConn, p *Proxy) {
	t.Helper()
	front := loopback(t)
	o.Upstream = []string{upstream.Addr().String()}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(context.Background(), front) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = p.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("Serve gave %v", err)
		}
	})
	c, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	esme = c.(*net.TCPConn)
	t.Cleanup(func() { _ = esme.Close() })
	_, _ = esme.Write(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
	_ = upstream.SetDeadline(time.Now().Add(time.Minute))
	if smsc, err = upstream.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = smsc.Close() })
	for _, c := range []*net.TCPConn{esme, smsc} {
		_ = c.SetDeadline(time.Now().Add(time.Minute))
	}
	over := net.Conn(smsc)
	if secure != nil {
		over = secure(smsc)
	}
	bind := readFrame(t, over)
	_, _ = over.Write(wire.New(wire.BindTransceiver|wire.Response, 0, bind.Sequence(), []byte{0}))
	readFrame(t, esme)
	return esme, smsc, p
}

// readFrame takes exactly one frame off a socket.
func readFrame(t *testing.T, c net.Conn) wire.Frame {
	t.Helper()
	f := make(wire.Frame, 16)
	if _, err := io.ReadFull(c, f); err != nil {
		t.Fatal(err)
	}
	f = append(f, make([]byte, int(f[2])<<8+int(f[3])-16)...)
	if _, err := io.ReadFull(c, f[16:]); err != nil {
		t.Fatal(err)
	}
	return f
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for by := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(by) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// CASES 28, with a kernel that resets what is closed with input unread.
func TestOverTCPClosingWithUnreadInputDestroysNoAnswers(t *testing.T) {
	book := newFakeLedger()
	esme, smsc, _ := overTCP(t, book, Enforce)
	_ = esme.SetReadBuffer(64 << 10)
	const n = 400
	go func() {
		for i := range uint32(n) {
			if _, err := esme.Write(submitFrame(i, "a message")); err != nil {
				return
			}
		}
	}()
	body := append(bytes.Repeat([]byte("x"), 1000), 0)
	for range n {
		f := readFrame(t, smsc)
		if _, err := smsc.Write(wire.New(wire.SubmitSM|wire.Response, 0, f.Sequence(), body)); err != nil {
			t.Fatal(err)
		}
	}
	_ = smsc.Close()
	until(t, "all answers with the ledger", func() bool { return view(book, func() int { return len(book.settled) }) == n })
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() { // the client sends on and on
		defer close(stopped)
		for i := uint32(n); ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := esme.Write(submitFrame(i, "another message")); err != nil {
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	for i := range n {
		f := readFrame(t, esme)
		for f.Command() == wire.EnquireLink {
			f = readFrame(t, esme)
		}
		if len(f) != 16+len(body) {
			t.Fatalf("answer %d has %d octets", i, len(f))
		}
	}
	var one [1]byte
	if _, err := esme.Read(one[:]); err != io.EOF {
		t.Errorf("after the answers came %v, want the end of the stream", err)
	}
	close(stop)
	<-stopped
}

func TestOverTCPAnEndTellsWhatTheKernelAcknowledged(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	for name, hangUp := range map[string]func(*net.TCPConn){
		"FIN":   func(c *net.TCPConn) { _ = c.Close() },
		"reset": func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			book := newFakeLedger()
			esme, smsc, _ := overTCP(t, book, Enforce)
			_ = esme.SetReadBuffer(4096)
			_, _ = esme.Write(submitFrame(1, "small"))
			_, _ = smsc.Write(answer(readFrame(t, smsc).Sequence(), "id"))
			readFrame(t, esme)
			// More answers than the client's buffers take, and it does not read: the last cannot be acknowledged.
			const n = 60 // less than a queue holds
			for i := range uint32(n) {
				_, _ = esme.Write(submitFrame(2+i, "large"))
				f := readFrame(t, smsc)
				_, _ = smsc.Write(wire.New(wire.SubmitSM|wire.Response, 0, f.Sequence(), make([]byte, 60_000)))
			}
			until(t, "all answers with the ledger", func() bool { return view(book, func() int { return len(book.settled) }) == n+1 })
			hangUp(esme)
			until(t, "the session's end", func() bool { return view(book, func() int { return len(book.ends) }) == 1 })
			end := lastEnd(t, book)
			if len(end.Answers) != n+1 {
				t.Fatalf("%d answers are reported, want %d", len(end.Answers), n+1)
			}
			if first, last := end.Answers[0], end.Answers[n]; !first.Acked || first.At == 0 || last.Acked {
				t.Errorf("the first is %+v and the last %+v; want acknowledged and not", first, last)
			}
			if end.RoundTrip <= 0 || end.RoundTrip > time.Minute {
				t.Errorf("the round trip is %v", end.RoundTrip)
			}
			// Closing with answers unread is a reset to the kernel too.
			if end.How != ledger.Reset {
				t.Errorf("the leg ended %v, want reset", end.How)
			}
		})
	}
}

func TestOverTCPNoGoroutineOutlivesItsSession(t *testing.T) {
	_, _, p := overTCP(t, newFakeLedger(), Enforce)
	front := p.listener.Addr().String()
	stacks := func() int {
		all := make([]byte, 1<<20)
		return strings.Count(string(all[:runtime.Stack(all, true)]), "proxy.(*session).")
	}
	before := stacks()
	for range 20 {
		c, err := net.Dial("tcp", front)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
		_ = c.Close()
	}
	until(t, "their goroutines' end", func() bool { return stacks() <= before })
}
