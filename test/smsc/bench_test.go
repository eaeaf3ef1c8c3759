package smsc_test

import (
	"bufio"
	"net"
	"testing"

	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// BenchmarkServer pipelines submissions over two connections with a window of 1,000 each.
func BenchmarkServer(b *testing.B) {
	s, err := smsc.Start(smsc.Options{Keep: smsc.KeepNothing})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	done := make(chan error, 2)
	each := (b.N + 1) / 2
	b.ResetTimer()
	for range 2 {
		go func() { done <- pipeline(s.Addr(), each) }()
	}
	for range 2 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(2*each)/b.Elapsed().Seconds(), "submits/s")
}

func pipeline(address string, n int) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	w, r := bufio.NewWriterSize(c, 64<<10), wire.NewReader(c)
	_, _ = w.Write(wire.Bind(wire.BindTransmitter, 1, "bench", "", ""))
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := r.Next(); err != nil {
		return err
	}
	m := text("hello, this is a message of ordinary length, for the benchmark")
	f := m.Submit(2)
	for sent, got := 0, 0; got < n; {
		for ; sent < n && sent-got < 1000; sent++ {
			if _, err := w.Write(f); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for first := true; first || r.Buffered(); first = false {
			if _, err := r.Next(); err != nil {
				return err
			}
			got++
		}
	}
	return nil
}
