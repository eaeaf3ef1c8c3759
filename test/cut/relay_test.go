package cut_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"smpponce/test/cut"
)

// target accepts connections and hands them over.
func target(t *testing.T) (address string, accepted <-chan *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ch := make(chan *net.TCPConn, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			ch <- c.(*net.TCPConn)
		}
	}()
	return l.Addr().String(), ch
}

func through(t *testing.T, o cut.Options) (r *cut.Relay, client, server *net.TCPConn) {
	t.Helper()
	address, accepted := target(t)
	o.Target = address
	r, err := cut.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	server = <-accepted
	t.Cleanup(func() { c.Close(); server.Close() })
	return r, c.(*net.TCPConn), server
}

func TestUndisturbedItPassesEverythingAndTheEnd(t *testing.T) {
	_, client, server := through(t, cut.Options{})
	sent := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() { _, _ = client.Write(sent); _ = client.CloseWrite() }()
	got, err := io.ReadAll(server)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d octets, %v; want %d", len(got), err, len(sent))
	}
	if _, err := server.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "answer" {
		t.Errorf("after the half-close: %q, %v", got, err)
	}
}

func TestACutFallsAfterItsOctetsOfBothDirectionsAndBothSidesHearOfIt(t *testing.T) {
	for _, end := range []cut.End{cut.Reset, cut.HalfReset, cut.ClientEnds} {
		r, client, server := through(t, cut.Options{Cuts: 1, Min: 100, Max: 100, End: end})
		if _, err := client.Write(make([]byte, 60)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(server, make([]byte, 60)); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Write(make([]byte, 40)); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(client)
		if reset := errors.Is(err, syscall.ECONNRESET); len(got) != 40 || reset != (end == cut.Reset) {
			t.Errorf("end %d: the client got %d octets, %v; want 40", end, len(got), err)
		}
		client.Close()
		_, err = server.Read(make([]byte, 1))
		if reset := errors.Is(err, syscall.ECONNRESET); err == nil || reset != (end != cut.ClientEnds) {
			t.Errorf("end %d: the server's read said %v", end, err)
		}
		if r.Cuts() != 1 {
			t.Errorf("end %d: %d cuts, want 1", end, r.Cuts())
		}
	}
}

func TestATargetWhoseOctetsAreLostIsReset(t *testing.T) {
	_, client, server := through(t, cut.Options{Cuts: 1, Min: 100, Max: 100, End: cut.ClientEnds})
	if _, err := server.Write(make([]byte, 150)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); err != nil || len(got) != 100 {
		t.Errorf("the client got %d octets, %v; want 100 and FIN", len(got), err)
	}
	client.Close()
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server: %v, want a reset, for 50 of its octets are lost", err)
	}
}

func TestATargetIsResetWhereTheClientClosesWithoutHavingReadAll(t *testing.T) {
	_, client, server := through(t, cut.Options{Cuts: 1, Min: 100, Max: 100, End: cut.ClientEnds})
	if _, err := server.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(client, make([]byte, 50)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server: %v, want a reset", err)
	}
}

func TestWhatTheClientSendsAfterACutIsLost(t *testing.T) {
	_, client, server := through(t, cut.Options{Cuts: 1, Min: 10, Max: 10, End: cut.ClientEnds})
	if _, err := client.Write(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("the client: %v, want FIN", err)
	}
	if _, err := client.Write(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	if got, err := io.ReadAll(server); err != nil || len(got) != 10 {
		t.Errorf("the server got %d octets, %v; want 10 and FIN", len(got), err)
	}
}

func TestAConnectionCanBeCutByHandAndIsReset(t *testing.T) {
	r, client, server := through(t, cut.Options{End: cut.Reset})
	if _, err := client.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, make([]byte, 1)); err != nil { // both ways stand
		t.Fatal(err)
	}
	made := r.Made()
	if n := r.Cut(); n != 1 {
		t.Errorf("%d connections cut, want 1", n)
	}
	select {
	case <-made:
	case <-time.After(20 * time.Second):
		t.Fatal("no cut was told")
	}
	for name, c := range map[string]net.Conn{"client": client, "server": server} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the %s: %v, want a reset", name, err)
		}
	}
}

func TestAPlannedCutThatNeverCameIsGivenToTheNextConnection(t *testing.T) {
	address, accepted := target(t)
	r, err := cut.Start(cut.Options{Target: address, Cuts: 1, Min: 10, Max: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	for i := range 20 {
		c, err := net.Dial("tcp", r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		server := <-accepted
		if i == 0 { // ends by itself
			c.Close()
			_, _ = server.Read(make([]byte, 1))
			server.Close()
			continue
		}
		made := r.Made()
		_, _ = c.Write(make([]byte, 10))
		select {
		case <-made:
			return
		case <-time.After(200 * time.Millisecond): // the relay has not seen the first one's end yet
		}
		c.Close()
		server.Close()
	}
	t.Errorf("%d cuts, want 1", r.Cuts())
}

func TestACutCanComeSomeTimeAfterItsOctets(t *testing.T) {
	for seed := range uint64(20) { // half of them come at once
		r, client, server := through(t, cut.Options{Seed: seed, Cuts: 1, Min: 1, Max: 1, Spread: time.Second})
		if _, err := client.Write(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if n, _ := io.ReadFull(server, make([]byte, 10)); n < 10 {
			continue
		}
		if _, err := client.Read(make([]byte, 1)); err == nil || r.Cuts() != 1 {
			t.Errorf("seed %d: %d cuts, the client's read said %v", seed, r.Cuts(), err)
		}
		return
	}
	t.Error("every cut came at once")
}

func TestAConnectionThatStandsCanBeGivenACutLater(t *testing.T) {
	r, client, server := through(t, cut.Options{Min: 10, Max: 10})
	if _, err := client.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	made := r.Made()
	r.More(1)
	if _, err := client.Write(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-made:
	case <-time.After(20 * time.Second):
		t.Fatal("no cut was made")
	}
}
