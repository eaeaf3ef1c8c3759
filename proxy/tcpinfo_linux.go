package proxy

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// tcpAcknowledged asks TCP_INFO. It is answered also after a reset, as long as the descriptor is open.
func tcpAcknowledged(c *net.TCPConn) (octets uint64, roundTrip time.Duration, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			return
		}
		octets, roundTrip, known = info.Bytes_acked, time.Duration(info.Rtt)*time.Microsecond, true
	})
	return octets, roundTrip, known && err == nil
}

// tcpUnacknowledged says how many segments are on their way and not acknowledged. What a closed window of the peer keeps back is not.
func tcpUnacknowledged(c *net.TCPConn) (segments int, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			segments, known = int(info.Unacked), true
		}
	})
	return segments, known && err == nil
}

// States of a connection (Linux, include/net/tcp_states.h).
const (
	established = 1 // neither side has ended it
	dead        = 7 // it was reset, or the kernel has given it up: nothing leaves any more
)

// tcpEnded says whether the connection is in another state.
func tcpEnded(c *net.TCPConn) (ended bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		ended = err == nil && info.State != established
	})
	return ended || err != nil // it is closed already
}

// tcpNeverSent says how many of the last octets that the kernel was given have never been on the wire. Only of a dead
// connection is that a last word, so of another it says 0. The kernel counts a FIN that it owes as one of them.
func tcpNeverSent(c *net.TCPConn) (octets uint64) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.State == dead {
			octets = uint64(info.Notsent_bytes)
		}
	})
	if err != nil {
		return 0
	}
	return octets
}
