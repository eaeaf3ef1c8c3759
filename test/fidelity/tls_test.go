package fidelity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"smpponce/proxy"
	"smpponce/test/cases/stage"
)

// host is the name in the one certificate that both sides show and trust.
const host = "smsc.test"

// secured puts TLS on both legs, with client certificates.
func secured(t *testing.T) func(*stage.Settings) {
	t.Helper()
	certFile, keyFile := certificate(t)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	config := &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: pool, ServerName: host,
		ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	return func(set *stage.Settings) {
		set.Loopback = true
		set.Proxy.ListenTLS = &proxy.ServerTLS{CertFile: certFile, KeyFile: keyFile, ClientCAFile: certFile}
		set.Proxy.UpstreamTLS = &proxy.ClientTLS{CAFile: certFile, CertFile: certFile, KeyFile: keyFile, ServerName: host}
		set.ESME = func(c net.Conn) net.Conn { return tls.Client(c, config) }
		set.SMSC = func(c net.Conn) net.Conn { return shaken(c, config) }
	}
}

// shaken makes the SMSC's handshake at once: the proxy sends no bind before it.
func shaken(c net.Conn, config *tls.Config) net.Conn {
	s := tls.Server(c, config)
	_ = s.Handshake() // what fails is found by the first read
	return s
}

// certificate makes a self-signed certificate.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", secret)
}
