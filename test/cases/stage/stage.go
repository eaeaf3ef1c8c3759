// Package stage sets a real proxy with a real ledger between scripted peers, all in one process.
//
// On a network in memory, inside a testing/synctest bubble, time is fake: a minute costs nothing, no timer of the proxy
// or the ledger fires early or late, and synctest.Wait says that everything has come to rest, the ledger's commits
// included. So a test uses the settings as they are by default, and lets time pass with time.Sleep where a person would
// look at a clock; it never waits with it. On the loopback interface time is real, and so is the kernel.
package stage

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"smpponce/ledger"
	"smpponce/proxy"
	"smpponce/test/memnet"
)

// Settings are those of the proxy and its ledger. They start out as an operator has them who sets nothing, but that no
// leg is probed.
type Settings struct {
	Proxy   proxy.Options
	Ledger  ledger.Options
	Policy  ledger.Policy // of every account
	Account proxy.Account // likewise

	// Loopback puts real sockets in place of the network in memory.
	Loopback bool
	// ESME and SMSC, where set, put something over the peers' ends of each connection: TLS.
	ESME, SMSC func(net.Conn) net.Conn
}

func defaults() Settings {
	return Settings{
		Proxy: proxy.Options{KeepaliveInterval: 240 * time.Hour, ResponseTimeout: time.Minute},
		Ledger: ledger.Options{
			Upstream: "default", LockWait: time.Second, MinFree: 1 << 20, ResponseTimeout: time.Minute, Retention: 72 * time.Hour,
		},
		Policy: ledger.Policy{
			Content: true, Window: 24 * time.Hour, ContentWindow: 10 * time.Minute, ContentLimit: time.Hour,
			ClientTimeout: time.Minute, Settle: time.Second, HoldTimeout: 3 * time.Second, InDoubtDeadline: time.Minute,
			ResponseTimeout: time.Minute, RetryStatus: RetryStatus,
		},
		Account: proxy.Account{Settle: time.Second, RaceWait: 3 * time.Second, RetryStatus: RetryStatus},
	}
}

// RetryStatus is ESME_RMSGQFUL, by which a client is told to try again.
const RetryStatus = 0x14

// A Stage is what a test plays on. Its methods fail the test by themselves.
type Stage struct {
	T       testing.TB
	Net     *memnet.Network // in memory: its OnDial is the stage's own
	Proxy   *proxy.Proxy
	Ledger  *ledger.Ledger // nil in mode off
	Metrics *prometheus.Registry
	Logs    *observer.ObservedLogs
	Path    string // of the ledger

	// Dialled, where set, sees both ends of each connection in memory before anybody uses it: the place to script a
	// cut. toProxy: it is an ESME's; otherwise it is the proxy's own to the SMSC.
	Dialled func(toProxy bool, dialer, accepted *memnet.Conn)

	settings Settings
	smsc     net.Listener
	address  string // where ESMEs dial
	served   chan error
	mu       sync.Mutex
	conns    []*memnet.Conn // in memory: every end
	peers    []*Peer        // a socket that nobody refers to is closed by the collector
}

const (
	proxyAddress = "proxy:2775"
	smscAddress  = "smsc:2775"
)

// InBubble runs a test on a stage in memory and fake time.
func InBubble(t *testing.T, set func(*Settings), test func(*Stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := Open(t, set)
		defer s.Close()
		test(s)
	})
}

// Open sets a stage. Close it, before its bubble ends.
func Open(t testing.TB, set func(*Settings)) *Stage {
	t.Helper()
	s := &Stage{T: t, Net: &memnet.Network{}, Path: filepath.Join(t.TempDir(), "ledger"), settings: defaults()}
	if set != nil {
		set(&s.settings)
	}
	if s.settings.Loopback {
		s.smsc = s.loopback()
	} else {
		s.Net.OnDial = s.dialled
		s.smsc = s.Net.Listen(smscAddress)
	}
	s.start()
	return s
}

// Around sets peers around a proxy that runs elsewhere: the program itself. It is to dial Upstream; At says where it
// listens.
func Around(t testing.TB) *Stage {
	t.Helper()
	s := &Stage{T: t, settings: Settings{Loopback: true}}
	s.smsc = s.loopback()
	t.Cleanup(func() { _ = s.smsc.Close() })
	return s
}

// Upstream is the SMSC's address.
func (s *Stage) Upstream() string { return s.smsc.Addr().String() }

// At says where ESMEs are to dial from now on.
func (s *Stage) At(address string) { s.address = address }

// dialled keeps every connection so that Kill can end it.
func (s *Stage) dialled(address string, dialer, accepted *memnet.Conn) {
	s.mu.Lock()
	s.conns = append(s.conns, dialer, accepted)
	s.mu.Unlock()
	if s.Dialled != nil {
		s.Dialled(address == proxyAddress, dialer, accepted)
	}
}

func (s *Stage) listen() net.Listener {
	s.T.Helper()
	if s.settings.Loopback {
		return s.loopback()
	}
	return s.Net.Listen(proxyAddress)
}

func (s *Stage) loopback() net.Listener {
	s.T.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.T.Fatal(err)
	}
	return l
}

// start opens the ledger and the proxy.
func (s *Stage) start() {
	s.T.Helper()
	core, logs := observer.New(zap.InfoLevel)
	log := zap.New(core)
	s.Logs, s.Metrics = logs, prometheus.NewRegistry()

	set := s.settings
	set.Ledger.Path, set.Ledger.Log, set.Ledger.Metrics = s.Path, log, s.Metrics
	if set.Ledger.PolicyOf == nil {
		set.Ledger.PolicyOf = func(string) ledger.Policy { return set.Policy }
	}
	set.Proxy.Upstream = []string{s.smsc.Addr().String()}
	set.Proxy.Log, set.Proxy.Metrics = log, s.Metrics
	if set.Proxy.AccountOf == nil {
		set.Proxy.AccountOf = func(string) proxy.Account { return set.Account }
	}
	if !set.Loopback {
		set.Proxy.Dial = s.Net.Dial
	}
	if set.Account.Mode != proxy.Off {
		l, err := ledger.Open(s.T.Context(), set.Ledger)
		if err != nil {
			s.T.Fatal(err)
		}
		s.Ledger, set.Proxy.Ledger = l, l
	}
	p, err := proxy.New(set.Proxy)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Proxy = p
	listener := s.listen()
	s.address, s.served = listener.Addr().String(), make(chan error, 1)
	go func() { s.served <- p.Serve(context.Background(), listener) }()
}

// Close ends the proxy, at once, and then the ledger.
func (s *Stage) Close() {
	s.T.Helper()
	s.stop()
	_ = s.smsc.Close()
}

func (s *Stage) stop() {
	s.T.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Proxy.Shutdown(ended) // it says that it did not wait
	if err := <-s.served; err != nil {
		s.T.Errorf("Serve ended with %v", err)
	}
	if s.Ledger != nil {
		if err := s.Ledger.Close(); err != nil {
			s.T.Errorf("closing the ledger: %v", err)
		}
	}
}

// Restart ends proxy and ledger in order and starts them again.
func (s *Stage) Restart() {
	s.T.Helper()
	s.stop()
	s.start()
}

// Kill is a kill -9 and a new start: the ledger goes on from what its files hold at this moment, and every connection
// is reset. Only in memory.
func (s *Stage) Kill() {
	s.T.Helper()
	left := filepath.Join(s.T.TempDir(), "ledger")
	copyFiles(s.T, s.Path, left)
	s.mu.Lock()
	for _, c := range s.conns {
		c.Reset()
	}
	s.conns = nil
	s.mu.Unlock()
	s.stop()
	s.Path = left
	s.start()
}

// copyFiles copies what a directory holds while its owner has it open. The owner must be at rest.
func copyFiles(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		return copyFile(path, target)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}
