package config

import (
	"net"
	"path/filepath"
	"strings"
)

const unixPrefix = "unix:"

// UnixPath gives the path of the socket where the address has the form unix:/path.
func UnixPath(address string) (path string, ok bool) { return strings.CutPrefix(address, unixPrefix) }

// The kernel keeps 108 octets for the path of a socket, with its NUL (Linux, unix(7); others keep a few less).
const longestSocketPath = 100

// ControlFault says what is wrong with an address for admin.control, or nothing. Whoever reaches that address may decide what is sent
// again, so no other host may.
func ControlFault(address string) string {
	if path, ok := UnixPath(address); ok {
		if !filepath.IsAbs(path) || strings.HasSuffix(path, "/") || len(path) > longestSocketPath {
			return "is no path of a socket: write it as unix:/run/smpponce/control.sock, at most 100 octets long"
		}
		return ""
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "is neither unix:/path nor host:port: write it as unix:/run/smpponce/control.sock or 127.0.0.1:9551"
	}
	if !IsLoopback(host) {
		return "can be reached from other hosts: write unix:/path, or a loopback address such as 127.0.0.1:9551"
	}
	return localAddress(address)
}

// control checks admin.control, also against the other addresses to listen on.
func (k checker) control(cfg *Config) {
	control := cfg.Admin.Control
	if control == "" {
		return
	}
	fault := ControlFault(control)
	k.require(fault == "", shown(control)+" "+fault, "admin.control")
	k.apart(control, "admin.control", cfg.Listen.Address, "listen.address")
	k.apart(control, "admin.control", cfg.Admin.Address, "admin.address")
}
