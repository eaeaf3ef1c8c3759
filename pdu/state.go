package pdu

import "bytes"

// State is what a receipt says of its message, normalised.
type State uint8

// The states, in the order in which a message may pass through them.
const (
	Unknown         State = iota
	Accepted              // taken, or taken note of, by someone further on
	EnRoute               // scheduled, buffered or on its way
	Delivered             //
	FailedTemporary       // not delivered yet; being tried again
	FailedPermanent       // undeliverable or rejected
	Expired               // its validity period ended
	Deleted               // cancelled
)

var stateNames = [...]string{
	Unknown:         "unknown",
	Accepted:        "accepted",
	EnRoute:         "enroute",
	Delivered:       "delivered",
	FailedTemporary: "failed_temporary",
	FailedPermanent: "failed_permanent",
	Expired:         "expired",
	Deleted:         "deleted",
}

// String is the state's name in logs and metrics: a closed set.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Unknown]
}

// longestStatus is the length of the longest status word.
const longestStatus = len("UNDELIVERABLE")

// statusWords are the values of stat: seen in the field, beside those of
// appendix B. Any other, and "0", is Unknown: providers do not agree on them.
var statusWords = []struct {
	word  string
	state State
}{
	{"DELIVRD", Delivered}, {"DELIVERED", Delivered},
	{"UNDELIV", FailedPermanent}, {"UNDELIVERABLE", FailedPermanent},
	{"EXPIRED", Expired},
	{"REJECTD", FailedPermanent}, {"REJECTED", FailedPermanent},
	{"ACCEPTD", Accepted}, {"ACCEPTED", Accepted}, {"ACKED", Accepted},
	{"ENROUTE", EnRoute},
	{"BUFFRED", EnRoute}, {"BUFFERD", EnRoute}, {"BUFFERED", EnRoute},
	{"SCHEDLD", EnRoute}, {"SCHEDULED", EnRoute},
	{"FAILED", FailedPermanent}, {"NACK", FailedPermanent}, {"SKIPPED", FailedPermanent},
	{"DELETED", Deleted},
	{"UNKNOWN", Unknown},
}

// stateOfWord reads a status word, in any case. known is false for words that
// nobody has been seen to use.
func stateOfWord(word []byte) (state State, known bool) {
	for _, w := range statusWords {
		if bytes.EqualFold(word, []byte(w.word)) {
			return w.state, true
		}
	}
	return Unknown, false
}

// stateOfTLV reads a message_state (section 5.2.28; 0 and 9 are SMPP 5.0's).
func stateOfTLV(value []byte) (state State, known bool) {
	if len(value) != 1 {
		return Unknown, false
	}
	switch value[0] {
	case 0, 1: // SCHEDULED, ENROUTE
		return EnRoute, true
	case 2:
		return Delivered, true
	case 3:
		return Expired, true
	case 4:
		return Deleted, true
	case 5, 8, 9: // UNDELIVERABLE, REJECTED, SKIPPED
		return FailedPermanent, true
	case 6:
		return Accepted, true
	case 7:
		return Unknown, true
	}
	return Unknown, false
}
