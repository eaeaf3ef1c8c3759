package main

import (
	"context"
	"net"
	"net/http"
)

// peerKey is under what the context of a request has who is at the other end of a unix socket.
type peerKey struct{}

// withPeer is an http.Server's ConnContext.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if u, ok := c.(*net.UnixConn); ok {
		return context.WithValue(ctx, peerKey{}, unixPeer(u))
	}
	return ctx
}

// peerOf tells the log who sent a request.
func peerOf(r *http.Request) string {
	if p, ok := r.Context().Value(peerKey{}).(string); ok {
		return p
	}
	return r.RemoteAddr
}
