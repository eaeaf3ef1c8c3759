package ledger

import "slices"

// State of an attempt, and of a record as a whole. The order tells which state of several attempts is the record's.
type State uint8

const (
	Accepted    State = iota // the SMSC answered with ESME_ROK
	InFlight                 // forwarded, or about to be: counted from the claim, not from the write
	InDoubt                  // forwarded, and the answer can no longer be expected
	Rejected                 // the SMSC answered with another status, or generic_nack
	NeverSent                // no byte of it reached the SMSC
	Undelivered              // accepted, and then failed, expired, deleted or cancelled
	stateEnds                // for the codec
)

func (s State) String() string {
	return [...]string{"accepted", "in_flight", "in_doubt", "rejected", "never_sent", "undelivered"}[s]
}

// Evidence names what settled an attempt.
type Evidence uint8

const (
	NoEvidence    Evidence = iota
	ByResponse             // the SMSC's answer
	ByLate                 // the same, after response_timeout
	ByLegEnd               // its SMSC leg ended
	ByDeadline             // overdue for in_doubt_deadline though the leg lives
	ByUnsent               // it was still in our own queue, or the kernel's
	ByCommit               // its intent could not be committed
	ByRestart              // the process ended before
	ByReference            // a receipt that echoes its user_message_reference
	ByElimination          // a receipt that can belong to no other attempt
	ByOperator             // an operator's word
	evidenceEnds           // for the codec
)

func (e Evidence) String() string {
	return [...]string{"none", "response", "late_response", "leg_ended", "deadline", "unsent", "commit_failed", "restart", "receipt_reference", "receipt_elimination", "operator"}[e]
}

// An Attempt is one forwarding of a request to the SMSC.
type Attempt struct {
	Number   Number
	Leg      LegID
	Sequence uint32 // the leg's sequence_number; 0: not known (it was not written down before the process ended)
	At       Time   // claimed
	Ended    Time   // settled, or in doubt since
	State    State
	Evidence Evidence
	Status   uint32 // command_status of the response
	Nack     bool
	ID       []byte // SMSC message id, raw
	Told     bool   // the ESME was given ID
	Final    Final  // of an undelivered one

	key [16]byte // hash of ID, where it has one; not encoded
}

// A Stand is a submission in the place of a record.
type Stand struct {
	Session  SessionID
	Sequence uint32
	At       Time // received
	Verdict  Verdict
	Reason   Reason
	Answered Time // 0: unanswered
	Status   uint32
	Lost     Time // rule (d): its answer was lost when its leg ended, then; 0: nothing says so
	// Reference is the one that the ESME gave it, as a part of a long message; Record.Part has the one that the SMSC was given.
	Reference uint16
}

// A Record is what the ledger knows of one request.
type Record struct {
	Number           Number // of its first attempt
	Claimed          Time   // when that began
	Version          uint32 // grows with each change
	Account          string
	Key              Key
	Fingerprint      Fingerprint
	Schedule         int64
	ReceiptRequested bool
	Source           Address
	Destination      Address
	Several          bool
	Masked           string
	Reference        uint16
	Beginnings       [2]Beginning
	Part             Part // its Reference is the one that was forwarded

	Attempts  []Attempt // oldest first
	Forgotten uint32    // attempts before them that may have been sent
	Standing  Stand     // the latest submission that stands for it; its answer decides whether the record is abandoned
	History   []Stand   // earlier and refused submissions, oldest first; the first and the latest historyKept-1

	Loss     Time      // the first loss of an answer; 0: none yet
	Until    Time      // the end of its absorbing, fixed when it first absorbed
	Held     bool      // a resubmission has waited for evidence
	Released bool      // an operator has decided that what is in doubt may be sent again
	Answer   *Response // the first acceptance: what the ESME is told
}

// historyKept bounds the submissions kept of one record besides the standing one.
const historyKept = 32

// State is Accepted if any attempt is; else InFlight if any is; else InDoubt if any is: a second attempt that was
// rejected or never sent does not erase the doubt about the first.
func (r *Record) State() State {
	best := Undelivered
	for i := range r.Attempts {
		best = min(best, r.Attempts[i].State)
	}
	return best
}

// doubtful tells whether any attempt of r is in doubt, whatever became of the others.
func (r *Record) doubtful() bool {
	return slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return a.State == InDoubt })
}

// nameless tells that no answer will bring the SMSC's id of a any more, though there may be one: a receipt with an unknown id may
// belong to it.
func (a *Attempt) nameless() bool {
	return a.State == InDoubt || a.Evidence == ByOperator && len(a.ID) == 0
}

// nameless counts such attempts.
func (r *Record) nameless() (n int) {
	for i := range r.Attempts {
		if r.Attempts[i].nameless() {
			n++
		}
	}
	return n
}

// untell takes back that the ESME was told an id: its answer was never written.
func (r *Record) untell() {
	for i := range r.Attempts {
		r.Attempts[i].Told = false
	}
}

// attempt finds an attempt of r by its number.
func (r *Record) attempt(n Number) *Attempt {
	for i := range r.Attempts {
		if r.Attempts[i].Number == n {
			return &r.Attempts[i]
		}
	}
	return nil
}

// remember adds a submission that does not stand (any more) to the history.
func (r *Record) remember(s Stand) {
	if len(r.History) == historyKept {
		copy(r.History[1:], r.History[2:])
		r.History = r.History[:historyKept-1]
	}
	r.History = append(r.History, s)
}

// forget makes room for another attempt by dropping the oldest of those that prove nothing.
func (r *Record) forget() {
	for i := range r.Attempts {
		if a := &r.Attempts[i]; (a.State == Rejected || a.State == NeverSent) && !a.nameless() {
			if a.State == Rejected {
				r.Forgotten++
			}
			r.Attempts = append(r.Attempts[:i], r.Attempts[i+1:]...)
			return
		}
	}
}
