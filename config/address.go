package config

import (
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

func (k checker) listen(c *Listen) {
	k.require(localAddress(c.Address) == "", shown(c.Address)+" "+localAddress(c.Address), "listen.address")
	k.positive("listen.bind_timeout", c.BindTimeout)
	k.positive("listen.write_timeout", c.WriteTimeout)
	k.count("listen.max_sessions", c.MaxSessions, 1, 100_000)
	k.count("listen.max_pending", c.MaxPending, 1, 1_000_000)
	k.require(c.MaxPDUSize >= 1<<10 && c.MaxPDUSize <= 1<<20,
		c.MaxPDUSize.String()+" is out of bounds: write a size from 1KiB to 1MiB", "listen.max_pdu_size")
	for _, cidr := range c.ProxyProtocolFrom {
		_, err := netip.ParsePrefix(cidr)
		k.require(err == nil, shown(cidr)+" is no network: write an address and a prefix length, such as 10.0.0.0/8 or 192.0.2.7/32",
			"listen.proxy_protocol_from")
	}
	k.pair("listen.tls.cert_file", c.TLS.CertFile, "listen.tls.key_file", c.TLS.KeyFile)
	k.require(c.TLS.ClientCAFile == "" || c.TLS.CertFile != "",
		"is set without listen.tls.cert_file, so no TLS is spoken: set that and listen.tls.key_file too, or take this out",
		"listen.tls.client_ca_file", "listen.tls.cert_file")
}

func (k checker) upstream(c *Upstream) {
	k.require(scopeName.MatchString(c.Name), shown(c.Name)+" is no name: write 1 to 64 letters, digits, dots, dashes or underscores",
		"upstream.name")
	k.require(len(c.Addresses) > 0, "is missing: write the SMSC's host:port in the file, in "+EnvName("upstream.addresses")+
		" or after --upstream", "upstream.addresses")
	seen := map[string]bool{}
	for _, a := range c.Addresses {
		k.require(remoteAddress(a) == "", shown(a)+" "+remoteAddress(a), "upstream.addresses")
		k.require(!seen[a], shown(a)+" stands twice: write it once", "upstream.addresses")
		seen[a] = true
	}
	k.positive("upstream.dial_timeout", c.DialTimeout)
	k.positive("upstream.response_timeout", c.ResponseTimeout)
	k.pair("upstream.tls.cert_file", c.TLS.CertFile, "upstream.tls.key_file", c.TLS.KeyFile)
	if c.TLS.Enabled {
		return
	}
	for _, s := range []struct{ setting, value string }{
		{"upstream.tls.ca_file", c.TLS.CAFile},
		{"upstream.tls.cert_file", c.TLS.CertFile},
		{"upstream.tls.key_file", c.TLS.KeyFile},
		{"upstream.tls.server_name", c.TLS.ServerName},
	} {
		k.require(s.value == "", "is set while upstream.tls.enabled is false, so no TLS is spoken: set that to true, or take this out",
			s.setting, "upstream.tls.enabled")
	}
}

var scopeName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (k checker) count(setting string, n, least, most int) {
	k.require(n >= least && n <= most, strconv.Itoa(n)+" is out of bounds: write a number from "+
		strconv.Itoa(least)+" to "+strconv.Itoa(most), setting)
}

// pair requires both files or neither.
func (k checker) pair(certSetting, cert, keySetting, key string) {
	k.require(cert == "" || key != "", "is set without "+keySetting+": set both or neither", certSetting, keySetting)
	k.require(key == "" || cert != "", "is set without "+certSetting+": set both or neither", keySetting, certSetting)
}

// addresses looks for addresses that collide.
func (k checker) addresses(cfg *Config) {
	admin, listen := cfg.Admin.Address, cfg.Listen.Address
	k.require(localAddress(admin) == "", shown(admin)+" "+localAddress(admin), "admin.address")
	if localAddress(listen) != "" {
		return
	}
	k.apart(admin, "admin.address", listen, "listen.address")
	listenHost, listenPort, _ := net.SplitHostPort(listen)
	for _, a := range cfg.Upstream.Addresses {
		host, port, err := net.SplitHostPort(a)
		loop := err == nil && port == listenPort &&
			(host == listenHost || IsLoopback(host) && (isWildcard(listenHost) || IsLoopback(listenHost)))
		k.require(!loop, shown(a)+" is smpponce's own listen.address: write the SMSC's, or let smpponce listen on another port",
			"upstream.addresses", "listen.address")
	}
}

// apart requires that two addresses to listen on do not collide.
func (k checker) apart(address, setting, other, otherSetting string) {
	host, port, err := net.SplitHostPort(address)
	otherHost, otherPort, otherErr := net.SplitHostPort(other)
	sameHost := host == otherHost || isWildcard(host) || isWildcard(otherHost)
	k.require(err != nil || otherErr != nil || port != otherPort || port == "0" || !sameHost,
		shown(address)+" is the port of "+otherSetting+" too: write another port", setting, otherSetting)
}

func isWildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

// IsLoopback tells whether a host is this one, seen from itself.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// localAddress says what is wrong with an address to listen on, and remoteAddress with one to connect to.
func localAddress(address string) string { return addressFault(address, true) }

func remoteAddress(address string) string { return addressFault(address, false) }

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$`)

func addressFault(address string, local bool) string {
	example := "smsc.example.com:2775"
	if local {
		example = ":2775 or 127.0.0.1:2775"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "is not host:port: write it as " + example + ", an IPv6 host in brackets"
	}
	if host == "" && !local {
		return "has no host: write it as " + example
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" && (!hostName.MatchString(host) || len(host) > 253) {
		return "has no valid host: write it as " + example
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 && !local {
		return "has no valid port: write a number from 1 to 65535 after the colon"
	}
	return ""
}
