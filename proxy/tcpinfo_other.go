//go:build !linux

package proxy

import (
	"net"
	"time"
)

// tcpAcknowledged does not know.
func tcpAcknowledged(*net.TCPConn) (octets uint64, roundTrip time.Duration, known bool) {
	return 0, 0, false
}

// tcpEnded does not know.
func tcpEnded(*net.TCPConn) bool { return false }

// tcpNeverSent does not know of any.
func tcpNeverSent(*net.TCPConn) uint64 { return 0 }

func tcpUnacknowledged(*net.TCPConn) (segments int, known bool) { return 0, false }
