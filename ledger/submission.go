package ledger

import (
	"fmt"
	"time"
)

// Number names an attempt, and by its first attempt a record. Numbers grow by one and are never used again.
type Number uint64

// SessionID and LegID name a session and an SMSC leg: the epoch (the ledger's open, counted) in the upper 32 bits,
// a counter below. So they are unique across restarts, and what belongs to an earlier process is seen at once.
type (
	SessionID uint64
	LegID     uint64
)

func (s SessionID) String() string { return fmt.Sprintf("%d.%d", uint64(s)>>32, uint32(s)) }
func (l LegID) String() string     { return fmt.Sprintf("%d.%d", uint64(l)>>32, uint32(l)) }

// A Submission is one submit_sm, submit_multi or data_sm as received from the ESME, without its text.
type Submission struct {
	Session          SessionID
	Leg              LegID  // the SMSC leg that would carry it
	Sequence         uint32 // the ESME's sequence_number
	At               Time   // when it was received
	Key              Key
	Fingerprint      Fingerprint
	Schedule         int64 // when it is to be delivered, in seconds since the Unix epoch; 0: at once
	ReceiptRequested bool
	Source           Address
	Destination      Address      // the first of several
	Several          bool         // it is a submit_multi, which may go to more than one destination
	Masked           string       // the destination address, all but its last four digits masked
	Reference        uint16       // user_message_reference; 0: none
	Beginnings       [2]Beginning // of the text: the long one, and the short one
	// Part says which part of a long message it is. When Waiter.Forward is called its Reference is the one that the part must carry.
	Part Part
	// ValidUntil, in seconds since the Unix epoch, or ValidFor, counted from the request's first submission: when the message is of no use any
	// more. 0: the SMSC's default.
	ValidUntil int64
	ValidFor   time.Duration
}

// A Claim asks what is to happen to a submission. It is allocated by the caller (embedded in its own record of the
// submission) and belongs to the ledger from Claim to Answer.
type Claim struct {
	Submission
	Waiter Waiter

	// The rest belongs to the ledger's goroutine.
	e         *entry   // the record it stands or waits for; nil once it is answered or dropped
	group     *group   // the long message that it is a part of; nil: none
	reference uint16   // of the concatenation, as the ESME gave it
	session   *session // while it is unanswered
	place     int      // its index in session.claims
	attempt   Number   // its own attempt, while in flight; 0: joined or held
	tried     bool     // an attempt of its own was handed over: it may have been accepted
	until     Time     // end of its hold; 0: not held
	decided   Time     // when its verdict was reached
	answer    *Answer  // decided, and to be given after the commit
	asked     bool     // it waited once until an ESME was known to live: it does not ask again
}

// Waiter is told what becomes of a claim. All methods are called on the ledger's goroutine and must not block.
// A claim hears Forward any number of times (a stale or unsent attempt is decided anew) and Answer exactly once,
// unless its session ends before.
type Waiter interface {
	// Forward says that the intent is durable: the submission is to be sent under attempt n, and not to be put on
	// the wire after until (then Unsent(n, true) has it decided anew). It returns the leg's sequence_number for
	// it, or false if the leg is gone and nothing was sent.
	Forward(n Number, until Time) (sequence uint32, ok bool)
	// Answer gives the submission's answer. It is committed before it is given.
	Answer(a Answer)
	// Question says that the submission equals what the ESME of another session of the account has not been answered. It waits until the
	// ledger hears, by Trust or CloseSession, whether that one lives: its end may not have been read yet, and the client may repeat what it
	// has lost in the sessions that it still has.
	Question(other SessionID)
}

// A Response is what the SMSC answered to an attempt.
type Response struct {
	Nack      bool   // generic_nack instead of submit_sm_resp
	Status    uint32 // command_status; 0 means accepted, unless Nack
	MessageID []byte // as the SMSC wrote it, without the NUL
	Body      []byte // everything after the header. The ledger keeps both slices
}

func (r *Response) accepted() bool { return r.Status == 0 && !r.Nack }

// An Answer is what the ESME is to get: a header with its own sequence_number, and Body.
type Answer struct {
	Nack    bool
	Status  uint32
	Body    []byte
	Verdict Verdict
	Ticket  *Ticket // to be handed back in End or to Undelivered; nil where nothing depends on its being read
}

// A Ticket stands for one answer. It is opaque.
type Ticket struct {
	e        *entry
	session  SessionID // with sequence and at: which submission was answered
	sequence uint32
	at       Time
	answered Time
}

// HowEnded says how an ESME leg ended.
type HowEnded uint8

const (
	Unbound  HowEnded = iota // by the ESME's unbind
	Closed                   // by its FIN, without unbind
	Reset                    // by its reset
	ByProxy                  // the proxy closed it
	Vanished                 // it did not answer a probe, or took nothing for write_timeout
)

func (h HowEnded) String() string {
	return [...]string{"unbound", "closed", "reset", "closed by proxy", "vanished"}[h]
}

// End is what was known of an ESME leg when it ended, for rule (d) of DESIGN 4.2.
type End struct {
	At                Time
	How               HowEnded
	DeliverUnanswered bool          // a deliver_sm was unanswered: its lying unread explains a reset
	RoundTrip         time.Duration // of the leg, as TCP measured it
	LastSubmission    Time          // when the newest submission arrived
	LastProbe         Time          // when the newest enquire_link that was answered had been sent
	Answers           []Answered    // those younger than Policy.Settle, or not acknowledged
}

// Answered tells how far an answer got.
type Answered struct {
	Ticket *Ticket
	At     Time // written to the socket; 0: it never was
	Acked  bool // the peer's TCP acknowledged its last byte
}

// A Receipt is what a delivery receipt tells.
type Receipt struct {
	ID          []byte // SMSC message id, raw
	Source      Address
	Destination Address      // source and destination of the message that it is about
	Reference   uint16       // user_message_reference; 0: none
	Beginnings  [2]Beginning // of the text that it quotes, as in Submission; zero where it quotes less
	State       string       // normalised
	Status      []byte       // as the SMSC wrote it
}

// Found is what a look-up of an SMSC message id gave.
type Found struct {
	Known  bool
	ESMEID []byte // the id that the ESME was told for this message; equal to the SMSC's or not
}

// Final is how an accepted message ended without being delivered.
type Final uint8

const (
	NotFinal Final = iota
	Failed
	Expired
	Deleted
	Cancelled
	finalEnds // for the codec
)

func (f Final) String() string {
	return [...]string{"none", "failed", "expired", "deleted", "cancelled"}[f]
}
