package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// Bounds that are no settings: what they keep small no operator needs to tune.
const (
	preBindSize  = 1 << 10             // octets of a frame before the bind
	queueBound   = 4 << 20             // octets waiting for one leg's socket at which the other leg's reader stops
	answerBound  = queueBound + 64<<10 // octets at which our own answers to that leg's peer are left out
	markCost     = 512                 // octets that a queued submission or answer keeps in memory beside its frame
	keptBound    = 4 << 20             // octets of unanswered deliver_sm kept for a client that may come back
	maxUnbinds   = 16                  // of an ESME, that are held at a time
	heirWait     = 2 * time.Second     // of a bind, for the SMSC leg of its predecessor
	suspectTime  = 2 * time.Second     // for a sign of life of an ESME that may be dead
	lingerTime   = 2 * time.Second     // for the peer's own end, after ours
	maxParked    = 1000                // receipts of a session that may wait for their answer
	maxOverdue   = 1 << 16             // requests of a leg remembered beyond response_timeout
	maxTracked   = 1 << 16             // answers of a leg whose reading is not yet certain
	maxSources   = 1 << 16             // addresses remembered for their failed binds
	acceptPause  = time.Second         // the longest pause after an accept that failed
	retryStatus  = 0x14                // ESME_RMSGQFUL, where an account names none
	settleAnswer = 5 * time.Second     // for answers already in the ledger when their session ends
)

// Options is everything a Proxy needs. Zero values are filled by New where a default is named; all else is taken as
// it stands: whoever loads the settings has checked them.
type Options struct {
	// BindTimeout is how long a connection may take from accept to its bind, PROXY header and TLS handshake
	// included. Default 5s.
	BindTimeout time.Duration
	// MaxSessions bounds the connections of ESMEs, bound or not; one more is closed at once. SMSC legs that drain
	// after their ESME is gone do not count, and are bounded by the same number. Default 1000.
	MaxSessions int
	// MaxPending bounds the submissions of one session that wait or are in flight; at the bound its ESME is not
	// read from. One that is unanswered for ResponseTimeout counts no longer. Default 5000.
	MaxPending int
	// MaxPDUSize is the longest command_length relayed, in octets. Default 131072.
	MaxPDUSize int
	// WriteTimeout ends a leg whose peer takes nothing for so long. Default 30s.
	WriteTimeout time.Duration
	// ProxyProtocolFrom lists the networks whose PROXY v1 or v2 header is believed, where they send one. From
	// elsewhere it is taken for what it is: no PDU.
	ProxyProtocolFrom []netip.Prefix
	// ListenTLS turns TLS on towards ESMEs. nil: plain TCP.
	ListenTLS *ServerTLS

	// Upstream lists the SMSC's addresses, host:port, tried in this order at each bind. At least one.
	Upstream []string
	// DialTimeout is for all of them together, TLS handshake included. Default 5s.
	DialTimeout time.Duration
	// ResponseTimeout is how long an answer of the SMSC may take. A bind_resp that takes longer ends the session,
	// an unbind waits no longer for submissions, and an SMSC leg drains no longer. Default 60s.
	ResponseTimeout time.Duration
	// UpstreamTLS turns TLS on towards the SMSC. nil: plain TCP.
	UpstreamTLS *ClientTLS

	// KeepaliveInterval is how long a leg may be silent before it is probed with an enquire_link. Default 30s.
	KeepaliveInterval time.Duration
	// KeepaliveTimeout is how long after that probe a silent leg has ended. Default 10s.
	KeepaliveTimeout time.Duration

	// AccountOf gives the settings for one system_id; it is asked once a session. Required.
	AccountOf func(systemID string) Account
	// Ledger decides submissions. It may be nil if every account's mode is Off.
	Ledger Ledger

	// Dial opens a connection to the SMSC. Default net.Dialer. Tests put an in-memory network here.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log gets a line when a session opens and one when it ends. Default: none.
	Log *zap.Logger
	// Metrics gets the collectors of this package. nil: none.
	Metrics prometheus.Registerer
}

// Mode says what the ledger is asked for.
type Mode uint8

const (
	Enforce Mode = iota // its verdicts are carried out
	Observe             // it decides and counts, and everything is forwarded as it came
	Off                 // it is not asked: a plain relay
)

// Account is what is set for one system_id. The rules for its submissions are the ledger's own (ledger.Policy).
type Account struct {
	Mode Mode
	// RequestTags are the TLVs that may carry a request id, in order of preference.
	RequestTags []uint16
	// Settle must equal ledger.Policy.Settle: answers older than this, and acknowledged, are not reported at the
	// end of a leg.
	Settle time.Duration
	// RaceWait is how long a receipt may wait for the answer it has overtaken. 0: not at all.
	RaceWait time.Duration
	// RetryStatus answers submissions that come while the proxy shuts down. 0: ESME_RMSGQFUL.
	RetryStatus uint32
}

// ServerTLS names the files for TLS towards ESMEs (at least 1.2). They are read again when they change.
type ServerTLS struct {
	CertFile, KeyFile string
	// ClientCAFile, where set, makes a client certificate signed by one of its authorities a condition.
	ClientCAFile string
}

// ClientTLS names the files for TLS towards the SMSC (at least 1.2). They are read again when they change.
type ClientTLS struct {
	// CAFile replaces the system's authorities. Empty: the system's.
	CAFile string
	// CertFile and KeyFile are our own certificate, where the SMSC wants one.
	CertFile, KeyFile string
	// ServerName is the name the SMSC's certificate must bear. Empty: the host of the address.
	ServerName string
}

// filled gives o with its defaults, or what is missing.
func (o Options) filled() (Options, error) {
	for _, d := range []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&o.BindTimeout, 5 * time.Second}, {&o.WriteTimeout, 30 * time.Second},
		{&o.DialTimeout, 5 * time.Second}, {&o.ResponseTimeout, time.Minute},
		{&o.KeepaliveInterval, 30 * time.Second}, {&o.KeepaliveTimeout, 10 * time.Second},
	} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
	for _, d := range []struct {
		at    *int
		value int
	}{{&o.MaxSessions, 1000}, {&o.MaxPending, 5000}, {&o.MaxPDUSize, 131072}} {
		if *d.at <= 0 {
			*d.at = d.value
		}
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	var faults []error
	if len(o.Upstream) == 0 {
		faults = append(faults, errors.New("proxy: Options.Upstream is empty, want at least one host:port"))
	}
	if o.AccountOf == nil {
		faults = append(faults, fmt.Errorf("proxy: Options.AccountOf is nil"))
	}
	return o, errors.Join(faults...)
}
