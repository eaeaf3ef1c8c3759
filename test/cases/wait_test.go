package cases

import (
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/cases/stage"
)

// patience bounds every wait in real time: far more than a loaded machine needs, and only spent where a test fails.
const patience = time.Minute

// eventually waits for a condition that nothing announces, such as a metric: it asks again and again.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// lies waits until something lies in the peer's socket that it has not read.
func lies(t testing.TB, p *stage.Peer) {
	t.Helper()
	tcp, ok := p.Conn.(*net.TCPConn)
	if !ok {
		synctest.Wait() // what was under way has arrived
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "something lies in the ESME's socket", func() (waits bool) {
		_ = raw.Control(func(fd uintptr) {
			n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
			waits = err == nil && n > 0
		})
		return waits
	})
}
