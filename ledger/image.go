package ledger

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"time"
)

// recentAnswer: what was told this shortly before the process ended may not have been read (DESIGN 4.2, after a
// restart). An answer is told when its batch is written, which a busy disk may put off for as long as it likes; when that was
// stands in the next journal. Of the last one's nobody knows.
const recentAnswer = 200 * time.Millisecond

// telling is when a journal was sealed, and when its batch was done and its answers were told; 0: that is not known yet.
type telling struct{ Sealed, Told Time }

// An image is what journals add up to: everything that memory is rebuilt from. It is kept beside the live state, one
// journal after the other, and written down whole as a checkpoint now and then. Opening the ledger applies the same
// journals to the same image.
type image struct {
	Seq      uint64 // of the last journal applied
	At       Time   // its time: the newest that the ledger knows
	Next     Number // the next attempt's
	Live     map[Number]liveRecord
	Heard    Time         // what was answered until then was told more than recentAnswer before At
	Telling  []telling    // the journals that tell of what was answered later, oldest first
	Recent   []liveRecord // closed, and answered after Heard, oldest first
	Sessions map[SessionID]*sessionState
	Legs     map[LegID]Time // ended ones
	Voided   map[[16]byte]Time
	Blind    map[string]Time // accounts
}

func newImage() *image {
	return &image{
		Next:     1,
		Live:     map[Number]liveRecord{},
		Sessions: map[SessionID]*sessionState{},
		Legs:     map[LegID]Time{},
		Voided:   map[[16]byte]Time{},
		Blind:    map[string]Time{},
	}
}

// apply adds a journal.
func (m *image) apply(j *journal) {
	m.Seq, m.At = j.Seq, max(m.At, j.At)
	m.tell(j)
	for i := range Number(j.Opened) {
		m.Live[j.First+i] = liveRecord{Number: j.First + i}
	}
	m.Next = max(m.Next, j.First+Number(j.Opened))
	for _, n := range j.Again {
		delete(m.Live, n)
	}
	for _, l := range j.Closed {
		delete(m.Live, l.Number)
		if l.Accepted && l.At > m.Heard {
			m.recent(l)
		}
	}
	for _, l := range j.Live {
		m.Live[l.Number] = l
	}
	old := sort.Search(len(m.Recent), func(i int) bool { return m.Recent[i].At > m.Heard })
	m.Recent = append(m.Recent[:0], m.Recent[old:]...)
	for i := range j.Sessions {
		s := j.Sessions[i]
		m.Sessions[s.ID] = &s
		if s.CanSubmit && s.Ended == 0 {
			m.canSubmit(s.Account, s.At)
		}
	}
	for _, e := range j.Ended {
		m.end(e)
	}
	for _, l := range j.LegsEnded {
		m.Legs[l.ID] = l.At
	}
	for _, v := range j.Voided {
		m.Voided[v.Value] = v.Until
	}
	for _, a := range j.Blind {
		m.Blind[a.Account] = a.Until
	}
}

// tell moves Heard on.
func (m *image) tell(j *journal) {
	if n := len(m.Telling); n > 0 {
		m.Telling[n-1].Told = j.Told
	}
	m.Telling = append(m.Telling, telling{Sealed: m.At})
	for len(m.Telling) > 1 && m.Telling[0].Told < m.At.Add(-recentAnswer) {
		m.Heard = m.Telling[0].Sealed
		m.Telling = m.Telling[1:]
	}
}

// recent keeps the list in order. A record can stand in it twice: it was let go of, answered again, and let go of again.
func (m *image) recent(l liveRecord) {
	i := len(m.Recent)
	for i > 0 && m.Recent[i-1].At > l.At {
		i--
	}
	m.Recent = slices.Insert(m.Recent, i, l)
}

// canSubmit notes the moment for all sessions of the account that have ended and waited for it.
func (m *image) canSubmit(account string, at Time) {
	for _, s := range m.Sessions {
		if s.Account == account && s.Ended != 0 && s.Again == 0 {
			s.Again = at
		}
	}
}

// end notes a session's end; where another session of its account can submit, the moment is the same, or when that one
// began: the journal lists beginnings before ends.
func (m *image) end(e sessionEnded) {
	s := m.Sessions[e.ID]
	if s == nil || s.Ended != 0 {
		return
	}
	s.Ended = e.At
	for _, other := range m.Sessions {
		if other.Account == s.Account && other.CanSubmit && other.Ended == 0 {
			if at := max(e.At, other.At); s.Again == 0 || at < s.Again {
				s.Again = at
			}
		}
	}
}

// prune forgets ended sessions and legs that nothing live refers to, and values and accounts whose time is over.
func (m *image) prune(sessions map[SessionID]bool, legs map[LegID]bool, now Time) {
	for id, s := range m.Sessions {
		if s.Ended != 0 && !sessions[id] {
			delete(m.Sessions, id)
		}
	}
	for id := range m.Legs {
		if !legs[id] {
			delete(m.Legs, id)
		}
	}
	for v, until := range m.Voided {
		if until < now {
			delete(m.Voided, v)
		}
	}
	for name, until := range m.Blind {
		if until < now {
			delete(m.Blind, name)
		}
	}
}

// appendImage encodes m. Maps come in any order.
func appendImage(dst []byte, m *image) []byte {
	dst = append(dst, journalVersion)
	dst = binary.AppendUvarint(dst, m.Seq)
	dst = appendTime(appendTime(dst, m.At), m.Heard)
	dst = binary.AppendUvarint(dst, uint64(len(m.Telling)))
	for _, t := range m.Telling {
		dst = appendTime(appendTime(dst, t.Sealed), t.Told)
	}
	dst = binary.AppendUvarint(dst, uint64(m.Next))
	live := make([]liveRecord, 0, len(m.Live))
	for _, l := range m.Live {
		live = append(live, l)
	}
	dst = appendLive(dst, live)
	dst = appendLive(dst, m.Recent)
	sessions := make([]sessionState, 0, len(m.Sessions))
	for _, s := range m.Sessions {
		sessions = append(sessions, *s)
	}
	dst = appendSessions(dst, sessions)
	legs := make([]legEnded, 0, len(m.Legs))
	for id, at := range m.Legs {
		legs = append(legs, legEnded{id, at})
	}
	dst = appendLegs(dst, legs)
	voided := make([]voidedValue, 0, len(m.Voided))
	for v, until := range m.Voided {
		voided = append(voided, voidedValue{v, until})
	}
	blind := make([]blindAccount, 0, len(m.Blind))
	for name, until := range m.Blind {
		blind = append(blind, blindAccount{name, until})
	}
	return appendBlind(appendVoided(dst, voided), blind)
}

func decodeImage(b []byte) (*image, error) {
	d := decoder{b: b}
	if v := d.byte(); v != journalVersion {
		return nil, fmt.Errorf("checkpoint layout %d, this version reads %d: %w", v, journalVersion, errCorrupt)
	}
	m := newImage()
	m.Seq, m.At, m.Heard = d.uint(), d.time(), d.time()
	for n := d.count(); n > 0; n-- {
		m.Telling = append(m.Telling, telling{d.time(), d.time()})
	}
	m.Next = Number(d.uint())
	for _, l := range d.live() {
		m.Live[l.Number] = l
	}
	m.Recent = d.live()
	for _, s := range d.sessions() {
		m.Sessions[s.ID] = &s
	}
	for _, l := range d.legs() {
		m.Legs[l.ID] = l.At
	}
	for _, v := range d.voided() {
		m.Voided[v.Value] = v.Until
	}
	for _, a := range d.blind() {
		m.Blind[a.Account] = a.Until
	}
	if d.bad || len(d.b) > 0 {
		return nil, fmt.Errorf("checkpoint of %d bytes: %w", len(b), errCorrupt)
	}
	return m, nil
}
