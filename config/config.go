package config

import "time"

// Config is all settings. Default gives the values used where nothing is set; Load refuses values that can't work.
type Config struct {
	Listen    Listen    `yaml:"listen"`
	Upstream  Upstream  `yaml:"upstream"`
	Keepalive Keepalive `yaml:"keepalive"`
	Dedup     Dedup     `yaml:"dedup"`
	Receipts  Receipts  `yaml:"receipts"`
	Ledger    Ledger    `yaml:"ledger"`
	Admin     Admin     `yaml:"admin"`

	// ShutdownGrace is how long a SIGTERM waits for pending submissions to be answered; what is unanswered then is
	// recorded in doubt. Keep it below the time after which the platform kills the process (Kubernetes: 30s), or the
	// same happens without a record of it. Default 25s.
	ShutdownGrace time.Duration `yaml:"shutdown_grace"`

	Log Log `yaml:"log"`

	// Accounts holds, for single system_ids, the settings that differ from Dedup and Receipts. Each entry is complete:
	// what the file leaves out was filled in from those. In the file's order, each system_id once.
	Accounts []Account `yaml:"accounts,omitempty"`
}

// Listen is the side of the clients (ESMEs).
type Listen struct {
	// Address is host:port to accept binds on; an empty host means all interfaces, port 0 a free port that the log tells.
	// Default ":2775".
	Address string `yaml:"address"`
	// BindTimeout is how long a new connection may take to send its bind. Default 5s.
	BindTimeout time.Duration `yaml:"bind_timeout"`
	// MaxSessions bounds the sessions of all accounts together. Default 1000.
	MaxSessions int `yaml:"max_sessions"`
	// MaxPending bounds the submissions of one session that may wait or be in flight; at the bound its client is not read
	// from. Smaller than the client's window, it slows the client down. Default 5000.
	MaxPending int `yaml:"max_pending"`
	// MaxPDUSize is the longest PDU relayed; a longer one gets generic_nack, and its connection is closed.
	// 1KiB to 1MiB, default 128KiB.
	MaxPDUSize ByteSize `yaml:"max_pdu_size"`
	// WriteTimeout is how long a peer (client or SMSC) may take nothing of what is sent to it before it counts as gone.
	// Default 30s.
	WriteTimeout time.Duration `yaml:"write_timeout"`
	// ProxyProtocolFrom lists the networks (CIDR) of load balancers whose PROXY protocol header is believed; from
	// elsewhere such a header is garbage. Default none.
	ProxyProtocolFrom []string  `yaml:"proxy_protocol_from,flow"`
	TLS               ListenTLS `yaml:"tls"`
}

// ListenTLS turns TLS on where it names a certificate. The files are read again when they change.
type ListenTLS struct {
	// CertFile and KeyFile are PEM files; both or neither. Default none: no TLS.
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
	// ClientCAFile makes a client certificate from one of these authorities a must. Needs CertFile. Default none.
	ClientCAFile string `yaml:"client_ca_file"`
}

// Upstream is the side of the SMSC.
type Upstream struct {
	// Name is part of the ledger's scope: with another name, what was sent before is no longer known. Default "default".
	Name string `yaml:"name"`
	// Addresses are host:port, tried in this order at each bind. The only setting without a default.
	Addresses []string `yaml:"addresses,flow"`
	// DialTimeout bounds the attempts to connect for one bind, all addresses together. Default 5s.
	DialTimeout time.Duration `yaml:"dial_timeout"`
	// ResponseTimeout is how long the SMSC may take to answer a submit_sm before it counts as overdue, and how long an
	// SMSC leg stays up for its unanswered submissions after the client is gone. Default 60s.
	ResponseTimeout time.Duration `yaml:"response_timeout"`
	TLS             UpstreamTLS   `yaml:"tls"`
}

// UpstreamTLS is TLS towards the SMSC. The files are read again when they change.
type UpstreamTLS struct {
	// Enabled turns TLS on. Default false; the other settings here are refused without it.
	Enabled bool `yaml:"enabled"`
	// CAFile holds the authorities to trust, PEM. Default: those of the system.
	CAFile string `yaml:"ca_file"`
	// CertFile and KeyFile are the certificate shown to the SMSC, PEM; both or neither. Default none.
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
	// ServerName is the name that the SMSC's certificate must bear. Default: the host of the address.
	ServerName string `yaml:"server_name"`
}

// Keepalive is enquire_link on legs (towards client and SMSC) on which nothing comes in.
type Keepalive struct {
	// Interval is how long a leg may be idle before it is probed. Default 30s.
	Interval time.Duration `yaml:"interval"`
	// Timeout is how long a probe may stay unanswered before the leg counts as dead. Default 10s.
	Timeout time.Duration `yaml:"timeout"`
}

// Admin is the addresses for operators.
type Admin struct {
	// Address is host:port of /metrics, /healthz and /readyz. Read-only, without authentication: keep it inside the cluster.
	// Default ":9550".
	Address string `yaml:"address"`
	// Control is where the commands doubts, settle and explain reach the running process: unix:/path of a socket that only the
	// process's own user may open, or host:port on a loopback address, which every process on the host may. Whoever reaches it can have a
	// message sent again, or kept from it. Default "": none.
	Control string `yaml:"control"`
}

// Log is what goes to standard error.
type Log struct {
	// Level is debug, info, warn or error. Default info; debug writes a line for each message.
	Level Level `yaml:"level"`
	// Format is json or console. Default json.
	Format Format `yaml:"format"`
}

// Account is what holds for one system_id.
type Account struct {
	// SystemID as the client writes it into its bind, to the letter; 0123 stays 0123.
	SystemID string   `yaml:"system_id"`
	Dedup    Dedup    `yaml:"dedup"`
	Receipts Receipts `yaml:"receipts"`
}

// Account gives what holds for a system_id: its own entry, or else the settings for all.
func (c *Config) Account(systemID string) Account {
	for _, a := range c.Accounts {
		if a.SystemID == systemID {
			return a
		}
	}
	return Account{SystemID: systemID, Dedup: c.Dedup, Receipts: c.Receipts}
}
