package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"smpponce/config"
)

// listenControl opens the listener of admin.control.
func listenControl(address string) (net.Listener, error) {
	const setting = "admin.control"
	path, ok := config.UnixPath(address)
	if !ok {
		l, err := listen(setting, address)
		if err != nil {
			return nil, err
		}
		if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
			_ = l.Close()
			return nil, fmt.Errorf("%s: %s is no loopback address on this host: write 127.0.0.1 or a unix:/path", setting, address)
		}
		return l, nil
	}
	if err := removeStale(path); err != nil {
		return nil, listenError{setting, address, err}
	}
	l, err := listenPrivately(path)
	if err != nil {
		return nil, listenError{setting, address, err}
	}
	return l, nil
}

// private gives a socket's file its mode before it is there, so that nobody can be quicker. Only Linux can; elsewhere the call fails.
var private = net.ListenConfig{Control: func(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}}

// listenPrivately makes a socket that nobody but its owner may open. It goes when the listener is closed.
func listenPrivately(path string) (net.Listener, error) {
	l, err := private.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

var (
	errNoSocket = errors.New("there is a file that is no socket")
	errInUse    = errors.New("another process listens there")
)

// removeStale removes the socket that a killed process left behind, and nothing else.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errNoSocket
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
		return errInUse
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
