package config

import "time"

// Dedup says what counts as a resubmission, and what happens to one.
type Dedup struct {
	// Mode is enforce; observe, which decides, counts and records but forwards everything; or off, a plain relay without
	// a ledger. Default enforce.
	Mode Mode `yaml:"mode"`
	// RequestIDTLVs lists, most telling first, the TLVs in which the client puts a reference of its own that is unique
	// to the message. A tag that is the same on all messages would be taken for one message: the ledger notices that by
	// the differing bodies and goes by content then. Default none.
	RequestIDTLVs []Tag `yaml:"request_id_tlvs,flow"`
	// Content is whether submissions without such a reference are recognised by their content. Default true.
	Content bool `yaml:"content"`
	// Window is how long a reference is remembered. Default 24h.
	Window time.Duration `yaml:"window"`
	// ContentWindow is how long after a client is back a submission of equal content may be its resubmission. Longer
	// catches slower clients, and takes more messages that are meant to be equal for resubmissions. More than twice
	// InDoubtDeadline, so that a client that was asked to try again finds its record. Default 10m.
	ContentWindow time.Duration `yaml:"content_window"`
	// ContentLimit bounds ContentWindow from the loss of the answer on, for clients that stay away. At least
	// ContentWindow. Default 1h.
	ContentLimit time.Duration `yaml:"content_limit"`
	// ClientTimeout is the client's own timer for a submit_sm_resp. Longer than the client's, its resubmissions on a
	// living session are taken for new messages (a duplicate); shorter, equal messages that are still unanswered may be
	// taken for resubmissions (a loss). Default 60s.
	ClientTimeout time.Duration `yaml:"client_timeout"`
	// Settle is how long after an answer a broken connection still raises the question whether the client read it.
	// Less than ClientTimeout. Default 1s.
	Settle time.Duration `yaml:"settle"`
	// OnMismatch is what happens to a submission with a known reference and another body: forward takes it for another
	// message, refuse answers ESME_RINVOPTPARAMVAL. Default forward.
	OnMismatch OnMismatch `yaml:"on_mismatch"`
	// OnInDoubt is what happens to the resubmission of a message that the SMSC may have accepted or not: hold waits for
	// evidence, then asks the client to try again until InDoubtDeadline, and then forwards it; forward does so at once
	// (at least once); refuse never does unless an operator says so (at most once). Default hold.
	OnInDoubt OnInDoubt `yaml:"on_in_doubt"`
	// HoldTimeout is how long hold keeps the client waiting for an answer. Less than ClientTimeout. Default 3s.
	HoldTimeout time.Duration `yaml:"hold_timeout"`
	// InDoubtDeadline is when hold forwards, counted from the loss of the SMSC leg. Default 60s.
	InDoubtDeadline time.Duration `yaml:"in_doubt_deadline"`
	// RetryStatus is the command_status that asks a client to try again later. It must be one that the client takes for
	// temporary: a client that takes it for final loses the message. Default 0x14 (ESME_RMSGQFUL).
	RetryStatus Status `yaml:"retry_status"`
	// MaxAttempts bounds how often one request may reach the SMSC, the first time included; a resubmission beyond it gets
	// RetryStatus. Such a message is lost where the SMSC accepted none of the attempts. 0 for no limit, the default; at most 1000000.
	MaxAttempts int `yaml:"max_attempts"`
	// MinInterval is how long after the latest attempt of a request the next may begin; a resubmission that would be forwarded
	// sooner gets RetryStatus. Less than ContentWindow, or no repeat would ever find its record. 0s for none, the default.
	MinInterval time.Duration `yaml:"min_interval"`
}

// Receipts says how delivery receipts are matched to messages.
type Receipts struct {
	// Retention is how long after a message its receipts are still recognised. At least dedup.window and
	// dedup.content_limit: whoever is told a message id again must get its receipt too. There is one ledger for all
	// accounts, which keeps to the longest time that any of them asks for. Default 72h.
	Retention time.Duration `yaml:"retention"`
	// RaceWait is how long a receipt that overtook the answer to its submit_sm waits for it; 0s: not at all. Default 3s.
	RaceWait time.Duration `yaml:"race_wait"`
	// Adopt says which receipts with an unknown message id prove that a message in doubt was accepted: elimination takes those that
	// can belong to no other message of the account to that number, and those that echo its user_message_reference; reference only the
	// latter; off none. Turn it down where other clients of the account reach the SMSC without this proxy, since a receipt of theirs could
	// be taken for that of a message in doubt, which is then not sent again. Default elimination.
	Adopt Adopt `yaml:"adopt"`
}

// Ledger is the store on disk.
type Ledger struct {
	// Path is its directory, made where it is missing. It must outlive the process and belong to one process.
	// Default ./smpponce-ledger.
	Path string `yaml:"path"`
	// Sync is intents, where what is about to be sent is synced to disk and outcomes follow with the next; all; or none,
	// for a volume that dies with the machine anyway. Default intents.
	Sync Sync `yaml:"sync"`
	// LockWait is how long to wait for another process to let go of the directory, as in a rolling update. Default 60s.
	LockWait time.Duration `yaml:"lock_wait"`
	// MinFree is the free space on the disk below which submissions are refused. A disk that runs really full kills the
	// process. At least 64MiB, default 256MiB.
	MinFree ByteSize `yaml:"min_free"`
	// MaxBytes is the size of the ledger above which submissions are refused; 0 for no limit, else at least 128MiB.
	// Default 0.
	MaxBytes ByteSize `yaml:"max_bytes"`
	// OnFailure is what happens to submissions while the ledger can't write: refuse (ESME_RSYSERR), or bypass, which
	// relays them without protection. Default refuse.
	OnFailure OnFailure `yaml:"on_failure"`
}
