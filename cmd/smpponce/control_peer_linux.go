package main

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// unixPeer names the process at the other end, as the kernel knows it.
func unixPeer(c *net.UnixConn) string {
	socket, err := c.SyscallConn()
	if err != nil {
		return "unix"
	}
	name := "unix"
	err = socket.Control(func(fd uintptr) {
		if p, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			name = fmt.Sprintf("unix uid %d pid %d", p.Uid, p.Pid)
		}
	})
	if err != nil {
		return "unix"
	}
	return name
}
