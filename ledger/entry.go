package ledger

import "slices"

// An account is the scope of all that follows: one system_id at one upstream.
type account struct {
	name       string
	policy     Policy
	window     int        // the most submissions that a session of it had open at a time
	submitters int        // bound sessions that can submit
	since      Time       // when the first of them was bound
	waiting    []*session // ended ones that no session able to submit has followed yet
	suspected  []*session // bound ones whose ESME may be dead
	stalled    []*Claim   // of other sessions, oldest first: they wait to hear what one of those is
	recent     recent     // where it has several sessions
	hasher     *Hasher
	blind      Time                // until then no receipt proves anything: there may be attempts that the ledger does not know
	several    map[*entry]struct{} // live records to several destinations that lack an id: a receipt of any destination may be theirs
}

// A session lives here from its bind until nothing live refers to it any more.
type session struct {
	id        SessionID
	account   *account
	canSubmit bool
	ended     Time     // 0: bound
	again     Time     // the first moment, at or after ended, at which the account could submit; 0: not yet
	claims    []*Claim // whose answers have not been given
	// While its ESME may be dead: the answers that it may not have read, by their keys and those of the other parts of their
	// messages. nil: it is not suspected.
	unread map[Key][]*Ticket
}

// bound is false for none.
func (s *session) bound() bool { return s != nil && s.ended == 0 }

// enter and leave keep the list of a session's unanswered claims.
func (s *session) enter(c *Claim) {
	c.session, c.place = s, len(s.claims)
	s.claims = append(s.claims, c)
	s.account.window = max(s.account.window, len(s.claims))
}

func (s *session) leave(c *Claim) {
	last := len(s.claims) - 1
	s.claims[c.place] = s.claims[last]
	s.claims[c.place].place = c.place
	s.claims[last] = nil
	s.claims = s.claims[:last]
	c.session = nil
}

// A leg is a living SMSC leg.
type leg struct {
	id      LegID
	flights []*flight
}

// A flight is an attempt whose answer can still come: in flight, or in doubt on a leg that lives.
type flight struct {
	number Number
	e      *entry
	claim  *Claim // whose attempt it is; nil once that is answered or dropped
	leg    *leg
	place  int // its index in leg.flights
	at     Time
	handed bool // to the proxy: from then on it may be on the wire
	named  bool // a receipt has told its id, or its answer: it is not outstanding

	prev, next *flight // by time of the claim
	due        bool    // overdue already: in book.overdue, at rank, instead of that list
	rank       int
}

// An entry is a record that is live: in flight, in doubt, waited for, or able to absorb. All fields belong to the
// ledger's goroutine.
type entry struct {
	Record
	account  *account
	session  *session // of the standing submission
	group    *group   // the long message of which it is a part; nil: none
	older    bool     // its standing submission is of an earlier sending than its group, which repeats that one
	waiting  []*Claim // unanswered submissions of this record, oldest first
	beneath  []place  // earlier stands that come back when the standing one is sent back
	flights  int
	indexed  bool   // found by its key
	closed   bool   // needs no memory any more: unindexed once its batches are committed
	released bool   // closed, and committed: memory holds it no longer, but a ticket may
	finishes uint64 // book.finishes when it was released
	pending  int    // batches that hold puts of it and are not committed
	batch    uint64 // serial of the newest of them
	// displaced: the SMSC gave another message the same id. That one has the place in the store under the id, and this record
	// is kept under its number.
	displaced bool
	volatile  bool // began without an intent (bypass): not in the store, and not to be put there
	doubted   bool // counted in the in-doubt gauge
	spent     bool // absorbs nothing: not indexed, and kept for receipts alone
	listed    bool // in book.nameless

	prev, next *entry // of the same key
}

// A place is a stand and the session it belongs to.
type place struct {
	Stand
	session *session
}

// standsFor tells whether c is the standing submission.
func (e *entry) standsFor(c *Claim) bool {
	s := &e.Standing
	return s.Session == c.Session && s.Sequence == c.Sequence && s.At == c.At
}

// stand puts c in the record's place. What stood there comes back if c is sent back.
func (e *entry) stand(c *Claim, d *Decision) {
	e.beneath = append(e.beneath, place{e.Standing, e.session})
	e.Standing = c.stand(d.Verdict, d.Reason)
	e.session = c.session
}

// stand is c in a record's place, or in its history.
func (c *Claim) stand(v Verdict, why Reason) Stand {
	return Stand{Session: c.Session, Sequence: c.Sequence, At: c.At, Verdict: v, Reason: why, Reference: c.reference}
}

// sendBack takes c out of the record's place again, and remembers it as s: its answer absorbs nothing.
func (e *entry) sendBack(c *Claim, s Stand) {
	e.remember(s)
	e.giveUp(c)
}

// giveUp takes c out of the record's place.
func (e *entry) giveUp(c *Claim) {
	if e.standsFor(c) {
		if n := len(e.beneath); n > 0 {
			e.Standing, e.session = e.beneath[n-1].Stand, e.beneath[n-1].session
			e.beneath = e.beneath[:n-1]
		}
		return
	}
	for i := range e.beneath {
		if b := &e.beneath[i]; b.Session == c.Session && b.Sequence == c.Sequence && b.At == c.At {
			e.beneath = append(e.beneath[:i], e.beneath[i+1:]...)
			return
		}
	}
}

// settleStands says that nothing will be sent back any more: earlier stands are history.
func (e *entry) settleStands() {
	for _, b := range e.beneath {
		e.remember(b.Stand)
	}
	e.beneath = nil
}

// drop takes c off the waiting list.
func (e *entry) drop(c *Claim) {
	for i, w := range e.waiting {
		if w == c {
			e.waiting = slices.Delete(e.waiting, i, i+1)
			break
		}
	}
	c.e = nil
}

// situation is what Decide must know of e.
func (e *entry) situation() Situation {
	w := Situation{LegLives: e.flights > 0}
	if e.session != nil {
		w.SessionEnded, w.CanSubmitAgain = e.session.ended, e.session.again
	}
	return w
}
