//go:build !linux

package main

import "net"

// unixPeer cannot tell more here.
func unixPeer(*net.UnixConn) string { return "unix" }
