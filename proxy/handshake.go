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
	c, why := p.handshake(raw)
	if c == nil {
		_ = raw.Close()
		p.metrics.bind(why)
		return
	}
	for s := p.begin(c); s != nil; {
		s.release = release
		s = s.run()
	}
}

// arrival is an ESME that has sent its bind.
type arrival struct {
	raw      net.Conn
	sock     *socket
	in       *pdu.Reader
	arrear   pdu.Frame // read behind the bind already
	bind     pdu.Frame
	systemID string
	who      identity
	source   string // where failed binds are counted
	log      *zap.Logger
	tries    int // how often its bind was forwarded
}

// handshake brings a connection to its bind.
func (p *Proxy) handshake(raw net.Conn) (*arrival, outcome) {
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

	return &arrival{raw: raw, sock: sock, in: in, bind: bind, systemID: string(view.SystemID), who: p.identify(bind, sock.Conn),
		source: sourceOf(peer), log: log}, bindAccepted
}

// begin finds an SMSC leg for the bind: the one that its predecessor has left, or a new one. Where there is none (nil) the ESME has its
// answer, and is gone.
func (p *Proxy) begin(c *arrival) *session {
	p.awaitPredecessors(c.systemID)
	if s := p.inherit(c); s != nil {
		return s
	}
	upstream, address, err := p.dial(p.life)
	if err != nil {
		c.log.Warn("no upstream address could be reached; bind answered ESME_RSYSERR", zap.Error(err))
		_ = c.sock.SetDeadline(time.Now().Add(p.o.WriteTimeout))
		_, _ = c.sock.Write(pdu.BindResp(c.bind.Command(), c.bind.Sequence(), data.ESME_RSYSERR))
		p.lingerClose(c.sock)
		p.metrics.bind(bindUnreachable)
		return nil
	}
	_ = c.sock.SetDeadline(time.Time{})
	s := p.newSession(c, new(sync.Mutex), c.log.With(zap.String("upstream", address)))
	s.from = c
	s.smsc = newLeg(s, smsc, upstream, pdu.NewReader(upstream, p.o.MaxPDUSize), p.o.MaxPending, s.now())
	s.smsc.address = address
	s.esme.other, s.smsc.other = s.smsc, s.esme
	if !p.opened(s, c.raw) {
		_ = upstream.Close()
		_ = c.raw.Close()
		p.metrics.bind(bindAbandoned)
		return nil
	}
	return s
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

// newSession makes a session that has no SMSC leg yet.
func (p *Proxy) newSession(c *arrival, mu *sync.Mutex, log *zap.Logger) *session {
	s := &session{p: p, log: log, account: p.o.AccountOf(c.systemID), systemID: c.systemID, command: c.bind.Command(), who: c.who, mu: mu,
		opened: time.Now(), poked: make(chan struct{}, 1), esmeEnded: make(chan struct{}), drains: make(chan struct{}), smscEnded: make(chan struct{})}
	if s.account.RetryStatus == 0 {
		s.account.RetryStatus = retryStatus
	}
	if s.protected() {
		s.hasher, s.receiptHasher = p.o.Ledger.Hasher(s.systemID), p.o.Ledger.Hasher(s.systemID)
	}
	c.in.SetMax(p.o.MaxPDUSize)
	s.esme = newLeg(s, esme, c.sock, c.in, p.o.MaxPending, s.now())
	s.esme.arrear = c.arrear
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
