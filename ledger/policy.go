package ledger

import "time"

// Mode says what the ledger's verdicts are used for. Mode off never reaches the ledger.
type Mode uint8

const (
	Enforce Mode = iota // verdicts are carried out
	Observe             // verdicts are counted and recorded, and everything is forwarded
)

func (m Mode) String() string { return [...]string{"enforce", "observe"}[m] }

// DoubtPolicy says what becomes of the resubmission of a request whose acceptance nobody knows.
type DoubtPolicy uint8

const (
	Hold           DoubtPolicy = iota // wait for evidence, then retry status, then forward at the deadline
	ForwardInDoubt                    // forward at once: at least once
	RefuseInDoubt                     // retry status for as long as the record lives: at most once
)

// Mismatch says what becomes of a submission whose request id was seen with another content.
type Mismatch uint8

const (
	MismatchForward Mismatch = iota // the value is no reference: content rules
	MismatchRefuse                  // ESME_RINVOPTPARAMVAL
)

// Adopt says which receipts prove that what is in doubt was accepted (DESIGN 4.4).
type Adopt uint8

const (
	AdoptElimination Adopt = iota // those that can belong to nothing else, and those that echo its reference
	AdoptReference                // only the latter
	AdoptOff                      // none
)

// Policy holds the rules that are in force for one account. All durations are positive.
type Policy struct {
	Mode            Mode
	Content         bool          // false: only explicit keys are deduplicated
	Window          time.Duration // how long an explicit key is remembered
	ContentWindow   time.Duration // how long an abandoned record absorbs
	ContentLimit    time.Duration // the same, however long the client stays away
	ClientTimeout   time.Duration // the client's own response timer
	Settle          time.Duration // answers this young may be unread when their leg breaks
	OnMismatch      Mismatch
	OnInDoubt       DoubtPolicy
	HoldTimeout     time.Duration
	InDoubtDeadline time.Duration // from the loss of the SMSC leg
	ResponseTimeout time.Duration // after this an attempt is overdue
	Adopt           Adopt
	MaxAttempts     int           // of one request; beyond it resubmissions are sent back. 0: no limit
	MinInterval     time.Duration // between two attempts of one request; sooner it is sent back. 0: none
	RetryStatus     uint32        // command_status that sends a resubmission back
}

// Statuses that the ledger answers by itself (SMPP 3.4, 5.1.3).
const (
	statusSystemError     uint32 = 0x08 // ESME_RSYSERR: the ledger cannot commit
	statusInvalidOptional uint32 = 0xC4 // ESME_RINVOPTPARAMVAL: a request id with another content
	statusInvalidExpiry   uint32 = 0x62 // ESME_RINVEXPIRY: out of date; what message centres answer to a validity_period that lies in the past
)

// lateAbsorb is how long an answer that came after the client's timer may still be met by a resubmission.
const lateAbsorb = 5 * time.Minute
