package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"smpponce/config"
)

// checkTLSFiles reads the files that TLS needs, so that one that is missing or wrong is told before anything starts. The proxy
// reads them again for itself, now and whenever they change.
func checkTLSFiles(cfg *config.Config) error {
	var faults config.Faults
	pair := func(section, cert, key string) {
		if cert == "" {
			return
		}
		if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
			faults = append(faults, config.Fault{Setting: section + ".cert_file",
				Text: fmt.Sprintf("%s and %s.key_file %s do not make a certificate (%v): name PEM files that belong together", cert, section, key, err)})
		}
	}
	authorities := func(setting, file string) {
		if file == "" {
			return
		}
		pem, err := os.ReadFile(file)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(pem) {
			err = fmt.Errorf("no certificate in it")
		}
		if err != nil {
			faults = append(faults, config.Fault{Setting: setting,
				Text: fmt.Sprintf("%s cannot be used (%v): name a PEM file of certificates", file, cause(err))})
		}
	}
	pair("listen.tls", cfg.Listen.TLS.CertFile, cfg.Listen.TLS.KeyFile)
	authorities("listen.tls.client_ca_file", cfg.Listen.TLS.ClientCAFile)
	pair("upstream.tls", cfg.Upstream.TLS.CertFile, cfg.Upstream.TLS.KeyFile)
	authorities("upstream.tls.ca_file", cfg.Upstream.TLS.CAFile)
	if len(faults) > 0 {
		return faults
	}
	return nil
}
