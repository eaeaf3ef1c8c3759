package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
)

// serverTLS is TLS towards ESMEs.
type serverTLS struct{ files *files }

func newServerTLS(o ServerTLS, used func(time.Time), log *zap.Logger) (*serverTLS, error) {
	if o.CertFile == "" {
		return nil, errors.New("no certificate is set")
	}
	f := &files{cert: o.CertFile, key: o.KeyFile, ca: o.ClientCAFile, used: used, log: log}
	return &serverTLS{f}, f.read()
}

// accept makes the handshake on a connection of an ESME.
func (t *serverTLS) accept(ctx context.Context, s *socket) error {
	now := t.files.current()
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: now.certificates, DynamicRecordSizingDisabled: true}
	if now.authorities != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, now.authorities
	}
	return handshake(ctx, s, func(c net.Conn) *tls.Conn { return tls.Server(c, config) })
}

// clientTLS is TLS towards the SMSC.
type clientTLS struct {
	files *files
	name  string
}

func newClientTLS(o ClientTLS, used func(time.Time), log *zap.Logger) (*clientTLS, error) {
	f := &files{cert: o.CertFile, key: o.KeyFile, ca: o.CAFile, used: used, log: log}
	return &clientTLS{f, o.ServerName}, f.read()
}

// connect makes the handshake on a connection to address.
func (t *clientTLS) connect(ctx context.Context, s *socket, address string) error {
	now := t.files.current()
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: now.certificates, RootCAs: now.authorities,
		ServerName: t.name, DynamicRecordSizingDisabled: true}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		config.ServerName = host
	}
	return handshake(ctx, s, func(c net.Conn) *tls.Conn { return tls.Client(c, config) })
}

func handshake(ctx context.Context, s *socket, over func(net.Conn) *tls.Conn) error {
	var c *tls.Conn
	s.secure(func(raw net.Conn) net.Conn { c = over(raw); return c })
	return c.HandshakeContext(ctx)
}

// files are a certificate, its key and the authorities to ask of the peer's. They are looked at before each
// handshake and read again when one of them has changed, so that a renewed certificate needs no restart. While what
// is there cannot be read, the last good ones stay in use.
type files struct {
	cert, key, ca string
	used          func(expiry time.Time)
	log           *zap.Logger

	mu    sync.Mutex
	seen  [3]stamp
	state material
}

// material is what the files held.
type material struct {
	certificates []tls.Certificate // one or, without a file, none
	authorities  *x509.CertPool    // nil: without a file
}

// stamp tells one version of a file from the next.
type stamp struct {
	modified time.Time
	size     int64
}

func (f *files) names() [3]string { return [3]string{f.cert, f.key, f.ca} }

// current gives what the files hold now.
func (f *files) current() material {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stamps() != f.seen {
		if err := f.load(); err != nil {
			f.log.Error("changed TLS files cannot be used; the earlier ones stay", zap.Error(err))
		}
	}
	return f.state
}

func (f *files) read() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load()
}

func (f *files) stamps() (at [3]stamp) {
	for i, name := range f.names() {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil {
			at[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return at
}

// load reads all files. The stamps are taken before, so that what changes meanwhile is read again; and kept also
// where reading fails, so that one fault is logged once. Caller holds the mutex.
func (f *files) load() error {
	f.seen = f.stamps()
	var m material
	if f.cert != "" || f.key != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return err
		}
		m.certificates = []tls.Certificate{pair}
	}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return err
		}
		m.authorities = x509.NewCertPool()
		if !m.authorities.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: %w", f.ca, errNoCertificate)
		}
	}
	f.state = m
	if len(m.certificates) > 0 {
		f.used(m.certificates[0].Leaf.NotAfter)
	}
	return nil
}

var errNoCertificate = errors.New("holds no PEM certificate")

// certificateUsed shows when the certificate used on a leg expires.
func (p *Proxy) certificateUsed(d side) func(time.Time) {
	gauge := p.metrics.expiry.WithLabelValues(d.String())
	return func(expiry time.Time) { gauge.Set(float64(expiry.Unix())) }
}
