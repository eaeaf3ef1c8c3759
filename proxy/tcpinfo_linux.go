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

// established is the state of a connection that neither side has ended (Linux, include/net/tcp_states.h).
const established = 1

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
