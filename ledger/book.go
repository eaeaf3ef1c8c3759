package ledger

import (
	"cmp"
	"strconv"
	"time"

	"go.uber.org/zap"
)

// Bounds of what is held in memory.
const (
	maxWaiters  = 1000      // submissions that wait for one record
	maxLive     = 1_000_000 // live records; beyond them submissions are forwarded unprotected, and counted
	maxParked   = 10_000    // receipts that wait for their answer
	maxVoided   = 100_000   // request ids that proved to be none
	maxAttempts = 32        // attempts remembered of one record
)

// verdictLife is how long a verdict to forward may be acted on. A process that was paused for longer asks again.
const verdictLife = 10 * time.Second

// A book is the ledger's memory: all that is live, and the rules that change it. It is deterministic: events and their
// time come in, and what must be written and said goes into the open batch. It reads the store only for explicit keys
// and message ids that are not live. One goroutine owns it.
type book struct {
	store    reader
	reads    *reads // look-ups for the goroutine that asks the store
	policyOf func(account string) Policy
	hasherOf func(account string) *Hasher
	log      *zap.Logger
	m        *metrics

	responseTimeout time.Duration
	retention       time.Duration

	next      Number // the next attempt's
	unwritten Number // the next's that begins without an intent: another range, above all others
	batch     *batch // the open one
	serials   uint64 // given to batches
	accounts  map[string]*account
	sessions  map[SessionID]*session // bound
	legs      map[LegID]*leg         // living
	flights   map[Number]*flight
	index     map[Key]*entry       // live records that a submission may repeat; those of one key are chained
	spent     map[*entry]struct{}  // live records that none can repeat any more
	live      int                  // entries in index and spent
	nameless  map[Address][]*entry // live records with a nameless attempt, by destination
	groups    map[groupKey]*group  // long messages of which a part is still to come
	ids       map[[16]byte]*entry  // accepted records that are live or not committed yet, by message id
	voided    map[[16]byte]Time

	oldest, newest *flight // flights that are not overdue, by time of the claim
	overdue        []*flight
	holds          []*Claim
	stalled        int                    // in the accounts' lists
	lookups        map[[16]byte][]*lookup // under way, by message id: parked, or the store is asked
	parked         int                    // how many of them are parked
	outstanding    map[Address]int        // flights whose ids are not known, by destination
	unsaved        map[*entry]struct{}    // live, and not in the store: begun while it could not commit
	observed       Time                   // of the newest receipt that was written down
	finishes       uint64                 // receipts of failure for records that memory no longer held
	lastSweep      Time
	due            Time // when tick has something to do

	unwritable bool // the ledger cannot commit
	bypass     bool // on_failure: bypass
}

// A reader finds records in the store; nil where there is none.
type reader interface {
	explicit(hash [16]byte) (*Record, error)
	message(id [16]byte) (*Record, error)
	carried(reference [16]byte) ([]Number, error)
}

func (b *book) account(name string) *account {
	a := b.accounts[name]
	if a == nil {
		a = &account{name: name, policy: b.policyOf(name), hasher: b.hasherOf(name)}
		b.accounts[name] = a
	}
	return a
}

// claim decides a submission.
func (b *book) claim(c *Claim, now Time) {
	s := b.sessions[c.Session]
	if s == nil {
		return // its session has ended: nobody is there to be answered, and nothing was forwarded
	}
	s.enter(c)
	c.reference = c.Part.Reference
	b.consider(c, false, now)
}

// consider decides a submission of a bound session; again: once more, since another part of its message was.
func (b *book) consider(c *Claim, again bool, now Time) {
	s := c.session
	p := &s.account.policy
	if b.refuses(s.account) {
		b.m.submissions[Fail].Inc()
		b.reply(c, &Answer{Status: statusSystemError, Verdict: Fail})
		return
	}
	if b.isStalled(c) || b.question(c) {
		b.stall(c)
		return
	}
	c.group = b.joined(c, now)
	e, d := b.find(c, s.account, now)
	var back []*Claim
	if !again && c.mayDiffer(&d) {
		e, d, back = b.rejoin(c, e, d, now)
	}
	if e == nil && d.Reason == ReasonNotAbandoned {
		b.m.identical.Inc()
	}
	if d.Verdict == Join && len(e.waiting) >= maxWaiters {
		d.Verdict, d.Reason = Retry, ReasonWaiters
	}
	b.announce(c, e, &d)
	if p.Mode == Observe || b.unprotected(s.account) {
		d.Verdict = Forward
	}
	switch {
	case d.Verdict == Refuse && !d.Resubmission:
		b.reply(c, &Answer{Status: statusInvalidOptional, Verdict: Refuse})
	case d.Verdict == Fail:
		b.reply(c, &Answer{Status: statusSystemError, Verdict: Fail})
	default:
		b.carry(c, e, &d, now)
	}
	for _, w := range back {
		b.consider(w, true, now)
	}
	b.wholeCame(c.group, now)
}

// refuses and unprotected say what becomes of an account's submissions while the ledger cannot commit: they are refused, or forwarded
// without an intent. Who only observes must stand in nobody's way.
func (b *book) refuses(a *account) bool {
	return b.unwritable && !b.bypass && a.policy.Mode != Observe
}

func (b *book) unprotected(a *account) bool {
	return b.unwritable && (b.bypass || a.policy.Mode == Observe)
}

// find looks for the record that c repeats, and decides. The entry is nil where c repeats none; it is not indexed
// where it was found in the store.
func (b *book) find(c *Claim, a *account, now Time) (*entry, Decision) {
	p := &a.policy
	if c.Key.Explicit && b.voided[c.Key.Value] < now {
		e, err := b.explicit(c.Key, a)
		if err != nil {
			// What cannot be read may have been accepted: refusing is safe, forwarding is not.
			b.m.errors("read").Inc()
			b.log.Error("cannot read a record", zap.String("key", c.Key.String()), zap.Error(err))
			return nil, Decision{Verdict: Fail, Reason: ReasonUnreadable}
		}
		if e == nil || e.Fingerprint == c.Fingerprint {
			return e, decideEntry(e, c, p, now)
		}
		if now > e.Claimed.Add(p.Window) {
			return nil, decideEntry(nil, c, p, now) // the id may be used again
		}
		b.void(c.Key, a, now)
		if p.OnMismatch == MismatchRefuse {
			c.Key = contentKey(c.Fingerprint)
			return nil, Decision{Verdict: Refuse, Reason: ReasonMismatch}
		}
	}
	c.Key = contentKey(c.Fingerprint)
	return b.match(c, p, now)
}

// match chooses among the records of c's content the one that c repeats.
func (b *book) match(c *Claim, p *Policy, now Time) (*entry, Decision) {
	var best, doubt *entry
	var decision, expired Decision
	reason := ReasonNew
	for e := b.index[c.Key]; e != nil; e = e.next {
		switch d := decideEntry(e, c, p, now); {
		case !c.fits(e, now):
			if d.Resent || d.Resubmission && e.State() == InDoubt {
				doubt, expired = e, Decision{Verdict: Forward, Reason: ReasonOtherMessage, Resent: true}
			}
		case d.Resubmission:
			if best == nil || c.prefers(e, best) {
				best, decision = e, d
			}
		case d.Resent:
			if doubt == nil || e.Number < doubt.Number {
				doubt, expired = e, d
			}
		case d.Reason == ReasonNotAbandoned && e.Standing.Answered == 0:
			reason = ReasonNotAbandoned
		}
	}
	if best != nil {
		return best, decision
	}
	if doubt != nil {
		return doubt, expired
	}
	return nil, Decision{Verdict: Forward, Reason: reason}
}

func decideEntry(e *entry, c *Claim, p *Policy, now Time) Decision {
	if e == nil {
		return Decide(nil, &c.Submission, Situation{}, p, now)
	}
	return Decide(&e.Record, &c.Submission, e.partSituation(c, now), p, now)
}

// carry carries a decision out.
func (b *book) carry(c *Claim, e *entry, d *Decision, now Time) {
	c.decided = now
	if !d.Resubmission {
		if d.Resent {
			b.m.resent.Inc()
		}
		if e != nil && e.indexed && d.Reason == ReasonExpired {
			b.retire(e)
		}
		b.decideGroup(c, e, d)
		b.open(c, d, now)
		return
	}
	b.revive(e)
	if d.Verdict == Retry || d.Verdict == Refuse {
		if g := c.group; g != nil {
			loss := cmp.Or(e.Loss, firstLoss(d.Rule, &e.Record, e.partSituation(c, now), &e.account.policy))
			b.decideGroup(c, e, d)
			if g.until == 0 { // the others are repeated too, though this one is sent back
				g.loss, g.until = loss, d.Absorbs
			}
		}
		b.retry(c, e, d, now)
		return
	}
	if e.Until == 0 && !e.Key.Explicit {
		e.Loss = firstLoss(d.Rule, &e.Record, e.partSituation(c, now), &e.account.policy)
		e.Until = d.Absorbs
		if e.Loss == 0 {
			e.Loss = now
		}
	}
	b.decideGroup(c, e, d)
	e.stand(c, d)
	b.follow(c, e)
	c.e = e
	e.waiting = append(e.waiting, c)
	switch d.Verdict {
	case Forward:
		if d.Resent {
			b.m.resent.Inc()
		}
		b.attempt(e, c, now)
	case Wait:
		b.hold(c, d.Until)
	case Replay:
		if c.waitsForWhole(now) {
			held := e.Held
			b.hold(c, c.group.whole)
			e.Held = held
			return
		}
		b.give(c, e.Answer, Replay, now)
		b.note(e)
		b.rest(e)
	}
}

func newBook(l *Ledger) *book {
	return &book{
		store:           l.store,
		reads:           &l.reads,
		policyOf:        l.o.PolicyOf,
		hasherOf:        l.Hasher,
		log:             l.log,
		m:               l.m,
		responseTimeout: l.o.ResponseTimeout,
		retention:       l.o.Retention,
		bypass:          l.o.Bypass,
		next:            1,
		unwritten:       Number(1<<63 | l.epoch<<40),
		batch:           &batch{serial: 1},
		serials:         1,
		accounts:        map[string]*account{},
		sessions:        map[SessionID]*session{},
		legs:            map[LegID]*leg{},
		flights:         map[Number]*flight{},
		index:           map[Key]*entry{},
		groups:          map[groupKey]*group{},
		ids:             map[[16]byte]*entry{},
		voided:          map[[16]byte]Time{},
		lookups:         map[[16]byte][]*lookup{},
		spent:           map[*entry]struct{}{},
		nameless:        map[Address][]*entry{},
		outstanding:     map[Address]int{},
		unsaved:         map[*entry]struct{}{},
		lastSweep:       l.Now(),
	}
}

// tell says something to the proxy after the next commit.
func (b *book) tell(e effect) { b.batch.effects = append(b.batch.effects, e) }

// announce counts a decision, and logs it where it is about a resubmission.
func (b *book) announce(c *Claim, e *entry, d *Decision) {
	b.m.submissions[d.Verdict].Inc()
	if d.Limit != NoLimit {
		b.m.limited[d.Limit].Inc()
	}
	if e == nil || !d.Resubmission && !d.Resent {
		return
	}
	state := e.State()
	b.m.resubmissions.WithLabelValues(e.Key.Kind(), state.String(), d.Verdict.String()).Inc()
	last := &e.Attempts[len(e.Attempts)-1]
	var told []byte
	if e.Answer != nil {
		told = e.Answer.MessageID
	}
	b.log.Info("resubmission",
		zap.String("account", logName(e.Account)), zap.String("request_key", e.Key.String()), zap.String("key", e.Key.Kind()),
		zap.Stringer("verdict", d.Verdict), zap.Stringer("mode", e.account.policy.Mode), zap.Stringer("reason", d.Reason), zap.Stringer("abandoned_by", d.Rule),
		zap.Stringer("state", state), zap.Uint64("attempt", uint64(last.Number)), zap.Bool("resent_in_doubt", d.Resent),
		zap.ByteString("esme_message_id", told), zap.ByteString("smsc_message_id", last.ID),
		zap.Stringer("session", c.Session), zap.Uint32("sequence_number", c.Sequence), zap.String("destination", c.Masked))
}

// logName is an account as it may stand in a log: the sender's choice, so quoted, and no longer than a system_id may be.
func logName(account string) string {
	const longest = 16
	if len(account) > longest {
		account = account[:longest]
	}
	return strconv.Quote(account)
}
