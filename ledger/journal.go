package ledger

import (
	"encoding/binary"
	"fmt"
)

// A journal is the one entry that each transaction adds beside the records: it tells which attempts began, which
// records need no memory any more, and which sessions and legs began and ended. The ledger's memory is rebuilt from the
// last checkpoint and the journals after it, and from the records that these say are live; never by a walk
// over all records.
type journal struct {
	Seq       uint64
	At        Time
	Told      Time     // when the batch before was done, and its answers were given
	First     Number   // the first attempt begun in this batch
	Opened    uint32   // how many
	Again     []Number // those of them that belong to an older record
	Closed    []liveRecord
	Live      []liveRecord
	Sessions  []sessionState // begun
	Ended     []sessionEnded
	LegsEnded []legEnded
	Voided    []voidedValue
	Blind     []blindAccount
}

// A liveRecord points to a record and says where its newest text lies.
type liveRecord struct {
	Number   Number
	Accepted bool // under the message id (ID) instead of under the number
	ID       [16]byte
	At       Time // answered (Closed), or answer lost (Live; 0: not lost)
	Unread   bool // the answer was never written: the submission counts as unanswered
	Spent    bool // it absorbs nothing: it is kept for receipts alone
}

type sessionState struct {
	ID        SessionID
	Account   string
	CanSubmit bool
	At        Time
	Ended     Time
	Again     Time
}

type sessionEnded struct {
	ID SessionID
	At Time
}

type legEnded struct {
	ID LegID
	At Time
}

// A voidedValue is a request id that proved to be none: it was seen with two contents.
type voidedValue struct {
	Value [16]byte
	Until Time
}

// A blindAccount has attempts that the ledger may not know: no receipt proves anything until then.
type blindAccount struct {
	Account string
	Until   Time
}

func (j *journal) empty() bool {
	return j.Opened == 0 && len(j.Closed) == 0 && len(j.Live) == 0 && len(j.Sessions) == 0 && len(j.Ended) == 0 &&
		len(j.LegsEnded) == 0 && len(j.Voided) == 0 && len(j.Blind) == 0
}

const journalVersion = 2

func appendJournal(dst []byte, j *journal) []byte {
	dst = append(dst, journalVersion)
	dst = binary.AppendUvarint(dst, j.Seq)
	dst = appendTime(dst, j.At)
	dst = appendTime(dst, j.Told)
	dst = binary.AppendUvarint(dst, uint64(j.First))
	dst = binary.AppendUvarint(dst, uint64(j.Opened))
	dst = binary.AppendUvarint(dst, uint64(len(j.Again)))
	for _, n := range j.Again {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = appendLive(dst, j.Closed)
	dst = appendLive(dst, j.Live)
	dst = appendSessions(dst, j.Sessions)
	dst = binary.AppendUvarint(dst, uint64(len(j.Ended)))
	for _, s := range j.Ended {
		dst = binary.AppendUvarint(dst, uint64(s.ID))
		dst = appendTime(dst, s.At)
	}
	dst = appendLegs(dst, j.LegsEnded)
	return appendBlind(appendVoided(dst, j.Voided), j.Blind)
}

func appendLive(dst []byte, list []liveRecord) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		l := &list[i]
		dst = binary.AppendUvarint(dst, uint64(l.Number))
		dst = append(dst, bit(l.Accepted)|bit(l.Unread)<<1|bit(l.Spent)<<2)
		if l.Accepted {
			dst = append(dst, l.ID[:]...)
		}
		dst = appendTime(dst, l.At)
	}
	return dst
}

func appendSessions(dst []byte, list []sessionState) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		s := &list[i]
		dst = binary.AppendUvarint(dst, uint64(s.ID))
		dst = appendBytes(dst, []byte(s.Account))
		dst = append(dst, bit(s.CanSubmit))
		dst = appendTime(appendTime(appendTime(dst, s.At), s.Ended), s.Again)
	}
	return dst
}

func appendLegs(dst []byte, list []legEnded) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, l := range list {
		dst = appendTime(binary.AppendUvarint(dst, uint64(l.ID)), l.At)
	}
	return dst
}

func appendVoided(dst []byte, list []voidedValue) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		dst = appendTime(append(dst, list[i].Value[:]...), list[i].Until)
	}
	return dst
}

func appendBlind(dst []byte, list []blindAccount) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		dst = appendTime(appendBytes(dst, []byte(list[i].Account)), list[i].Until)
	}
	return dst
}

func decodeJournal(b []byte) (*journal, error) {
	d := decoder{b: b}
	if v := d.byte(); v != journalVersion {
		return nil, fmt.Errorf("journal layout %d, this version reads %d: %w", v, journalVersion, errCorrupt)
	}
	j := &journal{Seq: d.uint(), At: d.time(), Told: d.time(), First: Number(d.uint()), Opened: uint32(d.uint())}
	for n := d.count(); n > 0; n-- {
		j.Again = append(j.Again, Number(d.uint()))
	}
	j.Closed, j.Live, j.Sessions = d.live(), d.live(), d.sessions()
	for n := d.count(); n > 0; n-- {
		j.Ended = append(j.Ended, sessionEnded{SessionID(d.uint()), d.time()})
	}
	j.LegsEnded, j.Voided, j.Blind = d.legs(), d.voided(), d.blind()
	if d.bad || len(d.b) > 0 {
		return nil, fmt.Errorf("journal of %d bytes: %w", len(b), errCorrupt)
	}
	return j, nil
}

func (d *decoder) live() (list []liveRecord) {
	for n := d.count(); n > 0; n-- {
		l := liveRecord{Number: Number(d.uint())}
		flags := d.below(8)
		l.Accepted, l.Unread, l.Spent = flags&1 != 0, flags&2 != 0, flags&4 != 0
		if l.Accepted {
			l.ID = [16]byte(d.fixed(16))
		}
		l.At = d.time()
		list = append(list, l)
	}
	return list
}

func (d *decoder) sessions() (list []sessionState) {
	for n := d.count(); n > 0; n-- {
		list = append(list, sessionState{SessionID(d.uint()), string(d.bytes()), d.bool(), d.time(), d.time(), d.time()})
	}
	return list
}

func (d *decoder) legs() (list []legEnded) {
	for n := d.count(); n > 0; n-- {
		list = append(list, legEnded{LegID(d.uint()), d.time()})
	}
	return list
}

func (d *decoder) voided() (list []voidedValue) {
	for n := d.count(); n > 0; n-- {
		list = append(list, voidedValue{[16]byte(d.fixed(16)), d.time()})
	}
	return list
}

func (d *decoder) blind() (list []blindAccount) {
	for n := d.count(); n > 0; n-- {
		list = append(list, blindAccount{string(d.bytes()), d.time()})
	}
	return list
}
