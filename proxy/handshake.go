package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/linxGnu/gosmpp/data"
	proxyproto "github.com/pires/go-proxyproto"
	"go.uber.org/zap"

	"smpponce/pdu"
)

// serve is the goroutine of one connection of an ESME: until its bind it talks to the ESME itself, then it watches
// over the session.
func (p *Proxy) serve(raw net.Conn) {
	release := sync.OnceFunc(func() { p.left(raw) })
	defer release()
	s, why := p.handshake(raw)
	if s == nil {
		_ = raw.Close()
		p.metrics.bind(why)
		return
	}
	s.release = release
	s.run()
}

// handshake brings a connection to the point where its bind can be forwarded on one to the SMSC.
func (p *Proxy) handshake(raw net.Conn) (*session, outcome) {
	by := time.Now().Add(p.o.BindTimeout)
	_ = raw.SetDeadline(by) // fails only on a closed connection, which the next read finds
	conn := raw
	if p.believed(raw.RemoteAddr()) {
		// Its own timeout would end by lifting our deadline.
		conn = proxyproto.NewConn(raw, proxyproto.WithPolicy(proxyproto.USE), proxyproto.SetReadHeaderTimeout(0))
	}
	sock := newSocket(conn)
	peer := conn.RemoteAddr() // reads the PROXY header, where there is one
	log := p.o.Log.With(zap.Stringer("peer", peer))
	if p.inbound != nil {
		ctx, cancel := context.WithDeadline(p.life, by)
		err := p.inbound.accept(ctx, sock)
		cancel()
		if err != nil {
			log.Info("no TLS handshake", zap.Error(err))
			return nil, bindBroken
		}
	}
	in := pdu.NewReader(sock, preBindSize)
	bind, err := awaitBind(sock, in)
	if err != nil {
		why := outcomeOf(err)
		level := zap.InfoLevel
		if why == bindAbandoned {
			level = zap.DebugLevel // probes come and go
		}
		log.Log(level, "no bind", zap.String("result", string(why)), zap.Error(err))
		return nil, why
	}
	bind = append(pdu.Frame(nil), bind...)
	view, _ := pdu.ParseBind(bind) // a bind that is cut short is the SMSC's to refuse
	log = log.With(zap.String("system_id", pdu.LogSystemID(view.SystemID)), zap.String("bind", bindName(bind.Command())))

	p.awaitPredecessors(string(view.SystemID))
	upstream, address, err := p.dial(p.life)
	if err != nil {
		log.Warn("no upstream address could be reached; bind answered ESME_RSYSERR", zap.Error(err))
		_ = sock.SetDeadline(time.Now().Add(p.o.WriteTimeout))
		_, _ = sock.Write(pdu.BindResp(bind.Command(), bind.Sequence(), data.ESME_RSYSERR))
		p.lingerClose(sock)
		return nil, bindUnreachable
	}
	_ = sock.SetDeadline(time.Time{})
	s := p.newSession(sock, in, upstream, bind, view, log.With(zap.String("upstream", address)))
	s.source = sourceOf(peer)
	if !p.opened(s, raw) {
		_ = upstream.Close()
		return nil, bindAbandoned
	}
	return s, bindAccepted
}

// awaitBind answers an ESME until it sends its bind.
func awaitBind(sock *socket, in *pdu.Reader) (pdu.Frame, error) {
	for {
		f, err := in.Next()
		var length *pdu.LengthError
		if errors.As(err, &length) {
			nack := pdu.GenericNack(0, data.ESME_RINVCMDLEN)
			nack.SetSequence(length.Sequence)
			_, _ = sock.Write(nack) // the connection ends either way
			linger(sock)
		}
		if err != nil {
			return nil, err
		}
		answer := notBound(f)
		switch command := f.Command(); {
		case pdu.IsBind(command):
			return f, nil
		case command == data.ENQUIRE_LINK:
			answer = pdu.EnquireLinkResp(0)
		case f.IsResponse():
			continue // nothing was asked
		}
		answer.SetSequence(f.Sequence())
		if _, err := sock.Write(answer); err != nil {
			return nil, err
		}
	}
}

// outcomeOf names why no bind came.
func outcomeOf(err error) outcome {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return bindTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
		return bindAbandoned
	}
	return bindBroken
}

// lingerClose gives a last answer the time to arrive.
func (p *Proxy) lingerClose(sock *socket) {
	linger(sock)
	_ = sock.Close()
}

// linger ends our side and reads to the end of the other, so that closing does not reset the connection.
func linger(sock *socket) {
	_ = sock.closeWrite()
	_ = sock.SetReadDeadline(time.Now().Add(lingerTime))
	var rest [1 << 10]byte
	for {
		if _, err := sock.Read(rest[:]); err != nil {
			return
		}
	}
}

// believed says whether a PROXY header from this address counts.
func (p *Proxy) believed(a net.Addr) bool {
	at, err := addrOf(a)
	if err != nil {
		return false
	}
	for _, prefix := range p.o.ProxyProtocolFrom {
		if prefix.Contains(at) {
			return true
		}
	}
	return false
}

// newSession ties the two connections.
func (p *Proxy) newSession(sock *socket, in *pdu.Reader, upstream *socket, bind pdu.Frame, view pdu.Bind, log *zap.Logger) *session {
	systemID := string(view.SystemID)
	s := &session{p: p, log: log, account: p.o.AccountOf(systemID), systemID: systemID, bind: bind,
		opened: time.Now(), poked: make(chan struct{}, 1), esmeEnded: make(chan struct{})}
	if s.account.RetryStatus == 0 {
		s.account.RetryStatus = retryStatus
	}
	if s.protected() {
		s.hasher, s.receiptHasher = p.o.Ledger.Hasher(systemID), p.o.Ledger.Hasher(systemID)
	}
	in.SetMax(p.o.MaxPDUSize)
	now := s.now()
	s.esme = newLeg(s, esme, sock, in, p.o.MaxPending, now)
	s.smsc = newLeg(s, smsc, upstream, pdu.NewReader(upstream, p.o.MaxPDUSize), p.o.MaxPending, now)
	s.esme.other, s.smsc.other = s.smsc, s.esme
	return s
}

// dial opens a connection to the first upstream address that takes one.
func (p *Proxy) dial(ctx context.Context) (*socket, string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.o.DialTimeout)
	defer cancel()
	by, _ := ctx.Deadline()
	var failed []error
	for i, address := range p.o.Upstream {
		// Each may take its share of what is left: one that does not answer leaves time for the next.
		share := time.Until(by) / time.Duration(len(p.o.Upstream)-i)
		sock, err := p.dialOne(ctx, address, share)
		if err == nil {
			return sock, address, nil
		}
		failed = append(failed, fmt.Errorf("%s: %w", address, err))
	}
	return nil, "", errors.Join(failed...)
}

func (p *Proxy) dialOne(ctx context.Context, address string, most time.Duration) (*socket, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	raw, err := p.o.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	sock := newSocket(raw)
	if p.outbound != nil {
		if err := p.outbound.connect(ctx, sock, address); err != nil {
			_ = raw.Close()
			return nil, err
		}
	}
	return sock, nil
}
