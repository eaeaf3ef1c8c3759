package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"smpponce/test/esme"
	"smpponce/test/wire"
)

// host is a machine of its own, as far as TCP can tell: a network namespace with a cable to this one. The namespace has no name
// and belongs to the thread of one goroutine, so it ends with that, and the cable with it, however the test ends.
type host struct {
	t       *testing.T
	gateway string // this machine's address at the cable
	work    chan func()
}

var hosts atomic.Int32 // of this process so far

// startHost skips the test where this user or machine cannot.
func startHost(t *testing.T) *host {
	t.Helper()
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip("iproute2 is not installed: there are no hosts that could vanish")
	}
	h := &host{t: t, work: make(chan func())}
	thread, started := 0, make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: a thread in another namespace is of no use to others
		err := unix.Unshare(unix.CLONE_NEWNET)
		thread = unix.Gettid()
		started <- err
		for f := range h.work {
			f()
		}
	}()
	t.Cleanup(func() { close(h.work) })
	if err := <-started; errors.Is(err, unix.EPERM) {
		t.Skip("only root may make network namespaces: there are no hosts that could vanish")
	} else if err != nil {
		t.Fatal(err)
	}

	// Addresses for benchmarks (RFC 2544), others for each process, as several may run these tests at once.
	pid, n := os.Getpid(), hosts.Add(1)
	cable := fmt.Sprintf("smpponce%d.%d", n, pid%10000)
	network := fmt.Sprintf("198.%d.%d", 18+pid/256%2, pid%256)
	h.gateway = fmt.Sprintf("%s.%d", network, 4*n-3)
	run := func(words string) {
		t.Helper()
		if out, err := exec.Command(ip, strings.Fields(words)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", words, err, out)
		}
	}
	run(fmt.Sprintf("link add %s type veth peer name cable netns %d", cable, thread))
	t.Cleanup(func() { _ = exec.Command(ip, "link", "del", cable).Run() }) // sooner than the kernel does it
	run(fmt.Sprintf("addr add %s/30 dev %s", h.gateway, cable))
	run(fmt.Sprintf("link set %s up", cable))
	h.within(func() {
		run(fmt.Sprintf("addr add %s.%d/30 dev cable", network, 4*n-2))
		run("link set cable up")
		run("route add default via " + h.gateway)
	})
	return h
}

// within does something in the host's network: a socket that is made there stays there.
func (h *host) within(f func()) {
	h.t.Helper()
	done := make(chan struct{})
	h.work <- func() { defer close(done); f() }
	<-done
}

// bound is a session of a client on the host.
func (h *host) bound(address, account string) *esme.Session {
	h.t.Helper()
	var e *esme.Session
	var err error
	h.within(func() { e, err = esme.Bound(bounded(h.t), address, wire.BindTransceiver, account) })
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(e.Close)
	return e
}

// vanish takes the host off the network, with nobody told: what is sent to it gets no answer of any kind, and nothing more comes
// from it.
func (h *host) vanish() {
	h.t.Helper()
	h.within(func() {
		if out, err := exec.Command("ip", "addr", "flush", "dev", "cable").CombinedOutput(); err != nil {
			h.t.Fatalf("%v: %s", err, out)
		}
	})
}
