package proxy

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"smpponce/ledger"
	"smpponce/test/wire"
)

// narrow is a listener whose connections hold little that is unread, so that their peers' kernels must keep the rest.
func narrow(t *testing.T) *net.TCPListener {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
		if failed != nil {
			return failed
		}
		return err
	}}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*net.TCPListener)
}

// received is how many octets a connection's kernel has got.
func received(t *testing.T, c *net.TCPConn) (n int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			t.Error(err)
			return
		}
		n = int(info.Bytes_received)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// unfinished sorts the attempts that had no answer: those that the ledger was told were never sent, and the others.
func unfinished(book *fakeLedger) (never, doubtful []ledger.Number) {
	book.mu.Lock()
	defer book.mu.Unlock()
	never = slices.Clone(book.unsent)
	for n := range book.claims {
		doubtful = append(doubtful, n)
	}
	slices.Sort(never)
	slices.Sort(doubtful)
	return never, doubtful
}

// An SMSC stops reading and resets the connection. The kernel knows what it has never put on the wire.
func TestOverTCPWhatNeverLeftTheKernelIsToldAsNeverSent(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"all with the kernel": 100, "more than it takes": 6000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := newFakeLedger()
			o := Options{Ledger: book, AccountOf: func(string) Account { return Account{Mode: Enforce, Settle: time.Minute} }, MaxPending: 2 * n}
			esme, smsc, _ := overTCPWith(t, o, narrow(t), nil)
			got := received(t, smsc)
			f := submitFrame(1, string(make([]byte, 200)))
			for i := range uint32(n) {
				if _, err := esme.Write(wire.Frame(renumbered(f, i))); err != nil {
					t.Fatal(err)
				}
			}
			until(t, "all submissions with the ledger", func() bool { return view(book, func() int { return len(book.claimed) }) == n })
			until(t, "some of them with the SMSC", func() bool { return received(t, smsc) > got+len(f) })
			_ = smsc.SetLinger(0)
			// What it has by now, and some that may come before it is gone, it may have read.
			whole := (received(t, smsc) - got) / len(f)
			_ = smsc.Close()
			until(t, "the end of the leg", func() bool { return view(book, func() int { return book.legEnds }) == 1 })

			never, doubtful := unfinished(book)
			if len(never)+len(doubtful) != n {
				t.Fatalf("%d never sent and %d in doubt, want %d in all", len(never), len(doubtful), n)
			}
			if len(doubtful) < whole {
				t.Errorf("%d are in doubt, and the SMSC had %d", len(doubtful), whole)
			}
			if most := whole + 64<<10/len(f) + 1; len(doubtful) > most {
				t.Errorf("%d are in doubt, want at most %d: the SMSC's buffer is small", len(doubtful), most)
			}
			if len(doubtful) > 0 && len(never) > 0 && doubtful[len(doubtful)-1] > never[0] {
				t.Errorf("%d is in doubt, though %d, which is before it, was never sent", doubtful[len(doubtful)-1], never[0])
			}
		})
	}
}

// Under TLS the kernel counts what nobody can tell apart.
func TestOverTLSAllThatTheKernelHasIsInDoubt(t *testing.T) {
	t.Parallel()
	const n = 100
	a := newAuthority(t, t.TempDir())
	certificate := a.issue("smsc", "smsc", time.Now().Add(time.Hour))
	book := newFakeLedger()
	o := Options{Ledger: book, AccountOf: func(string) Account { return Account{Mode: Enforce, Settle: time.Minute} },
		UpstreamTLS: &ClientTLS{CAFile: a.file("ca.pem"), ServerName: "smsc"}}
	esme, smsc, p := overTCPWith(t, o, narrow(t), func(c net.Conn) net.Conn {
		return tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}})
	})
	f := submitFrame(1, string(make([]byte, 200)))
	for i := range uint32(n) {
		if _, err := esme.Write(wire.Frame(renumbered(f, i))); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all submissions with the kernel", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for s := range p.sessions {
			s.mu.Lock()
			defer s.mu.Unlock()
			return uint64(s.smsc.requests.waiting[submission]) == n && s.smsc.queued() == 0
		}
		return false
	})
	_ = smsc.SetLinger(0)
	_ = smsc.Close()
	until(t, "the end of the leg", func() bool { return view(book, func() int { return book.legEnds }) == 1 })
	if never, doubtful := unfinished(book); len(never) != 0 || len(doubtful) != n {
		t.Errorf("%d never sent and %d in doubt, want all %d in doubt", len(never), len(doubtful), n)
	}
}

// An SMSC takes nothing for write_timeout, so its leg is given up; later it reads on, and what it finds then was sent.
func TestOverTCPWhatAKernelMayStillSendIsInDoubt(t *testing.T) {
	t.Parallel()
	const n = 200
	book := newFakeLedger()
	o := Options{Ledger: book, AccountOf: func(string) Account { return Account{Mode: Enforce, Settle: time.Minute} }, WriteTimeout: 100 * time.Millisecond}
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetWriteBuffer(32 << 10)
		}
		return c, err
	}
	esme, smsc, _ := overTCPWith(t, o, narrow(t), nil)
	m := ordinary("")
	m.TLVs = []wire.TLV{{Tag: wire.TagPayload, Value: make([]byte, 2000)}}
	for i := range uint32(n) {
		if _, err := esme.Write(m.Submit(i)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the end of the leg", func() bool { return view(book, func() int { return book.legEnds }) == 1 })
	all, err := io.ReadAll(smsc)
	if err != nil {
		t.Fatal(err)
	}
	whole := len(all) / len(m.Submit(1))
	if never, doubtful := unfinished(book); len(doubtful) != whole || len(never) != n-whole || whole == 0 || whole == n {
		t.Errorf("%d never sent and %d in doubt; the SMSC has read %d of %d", len(never), len(doubtful), whole, n)
	}
}
