package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

// BenchmarkRelay counts submissions, each with its answer, through a relay between load and SMSC in this process:
// 16 binds with a window of 100. "copy" is a relay that only copies octets, the pace to be measured by.
func BenchmarkRelay(b *testing.B) {
	smsc := listen(b)
	go func() {
		for {
			c, err := smsc.Accept()
			if err != nil {
				return
			}
			go answerAll(c)
		}
	}()
	b.Run("direct", func(b *testing.B) { load(b, smsc.Addr().String()) })
	b.Run("copy", func(b *testing.B) {
		l := listen(b)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go copyBoth(c, smsc.Addr().String())
			}
		}()
		load(b, l.Addr().String())
	})
	for name, mode := range map[string]Mode{"off": Off, "fake ledger": Enforce} {
		b.Run(name, func(b *testing.B) {
			l := listen(b)
			p, err := New(Options{Upstream: []string{smsc.Addr().String()}, Ledger: &forwarder{fakeLedger: newFakeLedger()},
				AccountOf: func(string) Account { return Account{Mode: mode, Settle: time.Second} }})
			if err != nil {
				b.Fatal(err)
			}
			go func() { _ = p.Serve(context.Background(), l) }()
			load(b, l.Addr().String())
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = p.Shutdown(ctx)
		})
	}
}

func listen(b *testing.B) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

// load sends b.N submissions.
func load(b *testing.B, address string) {
	const binds, window = 16, 100
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range binds {
		n := b.N / binds
		if i == 0 {
			n += b.N % binds
		}
		all.Go(func() {
			c, err := net.Dial("tcp", address)
			if err != nil {
				b.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			in := wire.NewReader(c)
			_, _ = c.Write(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
			if _, err := in.Next(); err != nil {
				b.Error(err)
				return
			}
			frame := submitFrame(1, fmt.Sprintf("a message of ordinary length, as %060d", i))
			var burst []byte
			for sent, got := 0, 0; got < n; {
				burst = burst[:0]
				for sent < n && sent-got < window {
					burst = append(burst, frame...)
					sent++
				}
				if _, err := c.Write(burst); err != nil {
					b.Error(err)
					return
				}
				for more := true; more; more = in.Buffered() {
					if _, err := in.Next(); err != nil {
						b.Error(err)
						return
					}
					got++
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "submissions/s")
}

// answerAll is an SMSC that accepts everything.
func answerAll(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := wire.NewReader(c)
	var out []byte
	for {
		out = out[:0]
		for more := true; more; more = in.Buffered() {
			f, err := in.Next()
			if err != nil {
				return
			}
			out = wire.Append(out, f.Command()|wire.Response, 0, f.Sequence(), []byte("0123456789\x00"))
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func copyBoth(c net.Conn, address string) {
	d, err := net.Dial("tcp", address)
	if err != nil {
		_ = c.Close()
		return
	}
	go func() {
		_, _ = io.Copy(readOnly{d}, writeOnly{c})
		_ = d.Close()
	}()
	_, _ = io.Copy(readOnly{c}, writeOnly{d})
	_ = c.Close()
}

// readOnly and writeOnly hide splice, which moves octets without looking: no relay that reads could.
type (
	readOnly  struct{ io.Writer }
	writeOnly struct{ io.Reader }
)

// forwarder is a ledger that does the least.
type forwarder struct {
	*fakeLedger
	claims sync.Map
	last   atomic.Uint64
}

func (l *forwarder) Claim(c *ledger.Claim) {
	n := ledger.Number(l.last.Add(1))
	l.claims.Store(n, c)
	c.Waiter.Forward(n, never64)
}

func (l *forwarder) Settle(n ledger.Number, r ledger.Response) {
	if c, ok := l.claims.LoadAndDelete(n); ok {
		c.(*ledger.Claim).Waiter.Answer(ledger.Answer{Status: r.Status, Body: r.Body, Ticket: new(ledger.Ticket)})
	}
}

const never64 = ledger.Time(1<<63 - 1)
