package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// copyCommand is the first argument with which the bench runs itself as the relay that others are compared with.
const copyCommand = "io-copy-relay"

// serveCopies is that relay: what comes in is copied to upstream and back, as plainly as the standard library
// does it (on Linux that is splice(2): the bytes never reach user space). It ends with ctx.
func serveCopies(ctx context.Context, address, upstream string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("io.Copy relay: %w", err)
	}
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("io.Copy relay: %w", err)
		}
		go copyBothWays(conn, upstream)
	}
}

func copyBothWays(esme net.Conn, upstream string) {
	defer esme.Close()
	smsc, err := net.Dial("tcp", upstream)
	if err != nil {
		return
	}
	defer smsc.Close()
	var ways sync.WaitGroup
	ways.Go(func() { copyOneWay(smsc, esme) })
	ways.Go(func() { copyOneWay(esme, smsc) })
	ways.Wait()
}

// copyOneWay passes the end of the stream on as well, so that the other way can still be read to its end. Where
// copying fails one of the peers is gone, and the other way fails by itself.
func copyOneWay(to, from net.Conn) {
	io.Copy(to, from)
	if tcp, ok := to.(*net.TCPConn); ok {
		tcp.CloseWrite()
	}
}
