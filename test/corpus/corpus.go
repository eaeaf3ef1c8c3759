// Package corpus has SMPP frames as they are met in the field and as they must
// not be met at all, for tests that say: what goes in comes out, byte for byte.
// Most of them do not survive being parsed and written again by a library.
//
// The frames are whole and their command_length is right, so a relay can cut
// them off a stream; everything behind the header may be wrong. None is a
// bind, unbind or enquire_link, nor a response to one: those a proxy answers
// itself. The frames are made here from plain octets, without any of the code
// under test.
package corpus

import "encoding/binary"

// Direction is the way a frame goes.
type Direction uint8

// The two ways.
const (
	ToSMSC Direction = iota // sent by the ESME
	ToESME                  // sent by the SMSC
)

func (d Direction) String() string {
	if d == ToSMSC {
		return "to SMSC"
	}
	return "to ESME"
}

// Entry is one frame of the corpus.
type Entry struct {
	Name      string // short and unique
	Direction Direction
	Frame     []byte // its sequence_number may be any; set another as needed
	// Request is what a response answers: it goes the other way first, and the
	// response is sent under the sequence_number under which it arrived there.
	// It is nil where Frame is a request itself.
	Request []byte
}

// All gives the corpus, new copies at each call. Sequence numbers count up from
// 1, but for frames that are about them.
func All() []Entry {
	var all []Entry
	for _, part := range [][]Entry{
		submits(), submitTLVs(), delivers(), receipts(), otherRequests(), submitResponses(), otherResponses(), numbered(),
	} {
		all = append(all, part...)
	}
	for i := range all {
		if sequence(all[i].Frame) == unset {
			setSequence(all[i].Frame, uint32(i+1))
		}
		if all[i].Request != nil && sequence(all[i].Request) == unset {
			setSequence(all[i].Request, uint32(i+1))
		}
	}
	return all
}

// Max is the length of the longest frame, in octets: what a relay allows by
// default.
const Max = 131072

// unset marks a sequence_number that All is to choose.
const unset = 0x5EED5EED

func sequence(f []byte) uint32       { return binary.BigEndian.Uint32(f[12:]) }
func setSequence(f []byte, n uint32) { binary.BigEndian.PutUint32(f[12:], n) }
