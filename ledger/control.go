package ledger

// A Story is all that is known of one request.
type Story struct {
	Record
	State    State
	Waiting  int           // submissions that wait for it
	Deadline Time          // when it is forwarded though it is in doubt; 0: it is not, or never
	Receipts []Observation // oldest first
}

// An Observation is a receipt that came for a message.
type Observation struct {
	At     Time
	ID     []byte // as the receipt had it
	State  string // normalised
	Status []byte // as the SMSC wrote it
}

// A Resolution is an operator's word about what is in doubt.
type Resolution uint8

const (
	ResolveAccepted Resolution = iota // the SMSC has accepted it
	ResolveRejected                   // it has not: a resubmission is forwarded, and is no duplicate
	ResolveReleased                   // nobody knows: a resubmission is forwarded, and counted as resent in doubt
)

func (r Resolution) String() string { return [...]string{"accepted", "rejected", "released"}[r] }
