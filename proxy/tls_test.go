package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// authority signs certificates. Its times fit the clock of a bubble, which starts in the year 2000.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(4e9, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	a.key = key
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(name, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// issue writes name.pem and name.key for a host.
func (a *authority) issue(name, host string, expiry time.Time) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(expiry.UnixNano()), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Unix(0, 0), NotAfter: expiry, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".pem", "CERTIFICATE", der)
	a.write(name+".key", "EC PRIVATE KEY", keyDER)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// secured is a peer behind TLS.
type secured struct {
	*peer
	tls *tls.Conn
}

func (r *rig) dialTLS(config *tls.Config) *secured {
	p := r.dial()
	c := tls.Client(p.Conn, config)
	return &secured{&peer{t: r.t, name: "ESME", Conn: p.Conn, in: wire.NewReader(c)}, c}
}

func (s *secured) send(f wire.Frame) {
	s.t.Helper()
	if _, err := s.tls.Write(f); err != nil {
		s.t.Fatalf("could not send: %v", err)
	}
}

func TestESMEsMustShowACertificateWhereAnAuthorityIsSet(t *testing.T) {
	a := newAuthority(t, t.TempDir())
	stranger := newAuthority(t, t.TempDir())
	far := time.Unix(3e9, 0)
	a.issue("server", "proxy", far)
	mine, theirs := a.issue("client", "acme", far), stranger.issue("client", "acme", far)
	inBubble(t, func(o *Options) {
		o.ListenTLS = &ServerTLS{CertFile: a.file("server.pem"), KeyFile: a.file("server.key"), ClientCAFile: a.file("ca.pem")}
	}, func(r *rig) {
		for name, certificates := range map[string][]tls.Certificate{"none": nil, "a stranger's": {theirs}} {
			esme := r.dialTLS(&tls.Config{RootCAs: a.pool(), ServerName: "proxy", Certificates: certificates})
			_, _ = esme.tls.Write(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", "")) // TLS 1.3 tells later
			if f, err := esme.in.Next(); err == nil {
				t.Errorf("with %s certificate the ESME got %x", name, f)
			}
			_ = esme.Close()
		}
		old := r.dialTLS(&tls.Config{RootCAs: a.pool(), ServerName: "proxy", Certificates: []tls.Certificate{mine}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
		if err := old.tls.Handshake(); err == nil {
			t.Error("TLS 1.1 was accepted")
		}
		_ = old.Close()
		esme := r.dialTLS(&tls.Config{RootCAs: a.pool(), ServerName: "proxy", Certificates: []tls.Certificate{mine}})
		esme.send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
		smsc := r.accept()
		smsc.send(wire.New(wire.BindTransceiver|wire.Response, 0, smsc.next().Sequence(), nil))
		esme.want(wire.BindTransceiver | wire.Response)
		esme.send(submitFrame(1, "hello"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		synctest.Wait()
		if got := r.value("smpponce_binds_total", "result", "broken"); got != 3 {
			t.Errorf("%v broken handshakes counted, want 3", got)
		}
		// It ends with close_notify, so that nobody takes it for an attack; and the answer counts as acknowledged.
		_ = smsc.Close()
		esme.wantEnd()
		if end := lastEnd(t, r.ledger); len(end.Answers) != 1 || !end.Answers[0].Acked {
			t.Errorf("answers %+v, want one, acknowledged", end.Answers)
		}
	})
}

func TestUnderTLSCiphertextTellsWhatWasAcknowledged(t *testing.T) {
	a := newAuthority(t, t.TempDir())
	a.issue("server", "proxy", time.Unix(3e9, 0))
	inBubble(t, func(o *Options) {
		unprobed(o)
		o.ListenTLS = &ServerTLS{CertFile: a.file("server.pem"), KeyFile: a.file("server.key")}
	}, func(r *rig) {
		esme := r.dialTLS(&tls.Config{RootCAs: a.pool(), ServerName: "proxy"})
		esme.send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
		smsc := r.accept()
		smsc.send(wire.New(wire.BindTransceiver|wire.Response, 0, smsc.next().Sequence(), nil))
		esme.want(wire.BindTransceiver | wire.Response)
		for i := range uint32(2) {
			esme.send(submitFrame(i, "hello"))
		}
		one, two := smsc.want(wire.SubmitSM), smsc.want(wire.SubmitSM)
		smsc.send(answer(one.Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		synctest.Wait()
		esme.Vanish()
		smsc.send(answer(two.Sequence(), "id"))
		synctest.Wait()
		_ = smsc.Close()
		time.Sleep(10 * time.Second)
		end := lastEnd(t, r.ledger)
		if len(end.Answers) != 2 || !end.Answers[0].Acked || end.Answers[1].Acked || end.Answers[1].At == 0 {
			t.Errorf("answers %+v, want the first acknowledged and the second not", end.Answers)
		}
	})
}

func TestTheSMSCIsReachedOverTLSWithACertificateOfOurOwn(t *testing.T) {
	a := newAuthority(t, t.TempDir())
	far := time.Unix(3e9, 0)
	server := a.issue("server", "smsc.example.com", far)
	a.issue("proxy", "proxy", far)
	for name, c := range map[string]struct {
		serverName string
		reached    bool
	}{"right": {"smsc.example.com", true}, "wrong": {"other.example.com", false}, "of the address": {"", false}} {
		t.Run("name "+name, func(t *testing.T) {
			inBubble(t, func(o *Options) {
				o.UpstreamTLS = &ClientTLS{CAFile: a.file("ca.pem"), CertFile: a.file("proxy.pem"), KeyFile: a.file("proxy.key"), ServerName: c.serverName}
			}, func(r *rig) {
				esme := r.dial()
				esme.send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", ""))
				smsc := r.accept()
				over := tls.Server(smsc.Conn, &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: a.pool(), ClientAuth: tls.RequireAndVerifyClientCert})
				in := wire.NewReader(over)
				f, err := in.Next()
				if !c.reached {
					if got := esme.want(wire.BindTransceiver | wire.Response); got.Status() != wire.SystemError {
						t.Errorf("got %x, want ESME_RSYSERR", got)
					}
					if !strings.Contains(r.logs.FilterMessageSnippet("no upstream").All()[0].ContextMap()["error"].(string), "certificate") {
						t.Errorf("the log says %v", r.logs.All())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				_, _ = over.Write(wire.New(wire.BindTransceiver|wire.Response, 0, f.Sequence(), nil))
				esme.want(wire.BindTransceiver | wire.Response)
			})
		})
	}
}

func TestChangedCertificatesAreUsedWithoutARestart(t *testing.T) {
	a := newAuthority(t, t.TempDir())
	first, second := time.Unix(3e9, 0), time.Unix(3e9+1e6, 0)
	a.issue("server", "proxy", first)
	inBubble(t, func(o *Options) {
		o.ListenTLS = &ServerTLS{CertFile: a.file("server.pem"), KeyFile: a.file("server.key")}
	}, func(r *rig) {
		expiry := func() int64 {
			esme := r.dialTLS(&tls.Config{RootCAs: a.pool(), ServerName: "proxy"})
			defer func() { _ = esme.Close() }()
			if err := esme.tls.Handshake(); err != nil {
				t.Fatal(err)
			}
			return esme.tls.ConnectionState().PeerCertificates[0].NotAfter.Unix()
		}
		shown := func() int64 {
			return int64(r.value("smpponce_tls_certificate_expiry_timestamp_seconds", "leg", "esme"))
		}
		check := func(when string, want time.Time) {
			t.Helper()
			if got := expiry(); got != want.Unix() || shown() != got {
				t.Errorf("%s the certificate expires at %d, shown %d, want %d", when, got, shown(), want.Unix())
			}
		}
		check("at first", first)
		a.issue("server", "proxy", second)
		touch(t, a.file("server.pem"), 1)
		check("after a change", second)
		if err := os.WriteFile(a.file("server.pem"), []byte("half a file"), 0o600); err != nil {
			t.Fatal(err)
		}
		check("after a change that cannot be read", second)
		check("and once more", second)
		if n := r.logs.FilterMessageSnippet("changed TLS files").Len(); n != 1 {
			t.Errorf("%d lines tell of it, want 1", n)
		}
		a.issue("server", "proxy", first)
		touch(t, a.file("server.pem"), 2)
		check("after a repair", first)
	})
}

// touch makes sure that a file's time differs from that of its last version.
func touch(t *testing.T, name string, n int) {
	t.Helper()
	at := time.Unix(2e9+int64(n), 0)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestTLSFilesThatCannotBeUsedAreFoundAtStart(t *testing.T) {
	a := newAuthority(t, t.TempDir())
	a.issue("one", "one", time.Unix(3e9, 0))
	a.issue("two", "two", time.Unix(3e9, 0))
	if err := os.WriteFile(a.file("empty.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	network := new(memnet.Network)
	for name, set := range map[string]func(*Options){
		"no certificate":      func(o *Options) { o.ListenTLS = &ServerTLS{} },
		"no such file":        func(o *Options) { o.ListenTLS = &ServerTLS{CertFile: a.file("none.pem"), KeyFile: a.file("one.key")} },
		"key of another":      func(o *Options) { o.ListenTLS = &ServerTLS{CertFile: a.file("one.pem"), KeyFile: a.file("two.key")} },
		"authorities missing": func(o *Options) { o.UpstreamTLS = &ClientTLS{CAFile: a.file("none.pem")} },
		"authorities empty":   func(o *Options) { o.UpstreamTLS = &ClientTLS{CAFile: a.file("empty.pem")} },
	} {
		o := Options{Upstream: []string{"smsc:1"}, Dial: network.Dial, AccountOf: func(string) Account { return Account{Mode: Off} }}
		set(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
