package proxy

import (
	"math"
	"sync"
	"time"

	"github.com/linxGnu/gosmpp/data"
	"go.uber.org/zap"

	"smpponce/ledger"
	"smpponce/pdu"
)

// never is a time that does not come.
const never = time.Duration(math.MaxInt64)

// phase is how far a session has got.
type phase uint8

const (
	opening   phase = iota // the bind is with the SMSC
	contested              // it was refused, and perhaps on account of an earlier session of the same client
	bound
	refused  // the SMSC's refusal is being kept back
	leaving  // an end is being made of the ESME leg
	draining // the ESME is gone; answers of the SMSC are waited for
	parted   // the SMSC leg is being closed
	phases
)

func (p phase) String() string {
	return [...]string{"binding", "binding", "bound", "refused", "closing", "draining", "closing"}[p]
}

// session is an ESME leg and its SMSC leg, tied by one bind. Four goroutines move its PDUs, read and write for each
// leg; the one that accepted the connection is its watcher (run): it keeps the time and makes the end.
type session struct {
	p        *Proxy
	log      *zap.Logger
	account  Account
	systemID string
	command  data.CommandIDType // of the bind
	from     *arrival           // what it came from, to begin anew; nil once the SMSC has answered for good
	who      identity
	opened   time.Time
	release  func() // gives the ESME's place to the next
	esme     *leg
	smsc     *leg // another session may have taken it over: see heir

	poked     chan struct{} // something for the watcher; capacity 1
	esmeEnded chan struct{} // closed when the ledger knows that the ESME leg has ended
	drains    chan struct{} // closed when the SMSC leg stands without its ESME, and can be taken over
	smscEnded chan struct{} // closed when the SMSC leg is, and the ledger knows

	// What only the ESME's reader uses, and the SMSC's reader.
	hasher, receiptHasher *ledger.Hasher
	content               []byte

	// mu guards what follows, and of the legs what is named there. It is never held during a call of the ledger or
	// of a socket that could block. A session that takes an SMSC leg over takes the mutex with it.
	mu *sync.Mutex

	phase          phase
	id             ledger.SessionID // both 0 in mode off
	leg            ledger.LegID
	open           int  // submissions without answer, but for overdue ones
	untold         int  // claims noted and not yet made
	settling       int  // answers of the SMSC that the ledger has not given back yet
	parked         int  // receipts that wait in the ledger
	accepted       bool // the SMSC said yes to the bind
	lastSubmission ledger.Time

	bindResp pdu.Frame // the one that said yes
	heir     *session  // has the SMSC leg now
	expected bool      // a bind of the same client waits for this session's SMSC leg
	sick     bool      // no bind shall have the SMSC leg: it answers nothing
	showing  bool      // what the predecessor left unanswered is being shown: what comes waits behind it
	suspect  *suspicion

	refusal  pdu.Frame // the bind_resp that says no; nil: the SMSC said nothing
	refuseAt time.Duration

	unbinds    []pdu.Frame   // the ESME's, while they are held
	unbindAt   time.Duration // when they go though submissions are unanswered
	leaveBy    time.Duration // until when an ESME that has unbound and closed its half may hear the rest
	esmeParted bool          // the ESME has sent unbind, or answered one
	exchanged  side          // whose unbind was answered, once parting is done
	done       bool          // an unbind was relayed and answered

	refusing         bool          // the proxy shuts down
	drainBy          time.Duration // then: until when to wait for answers
	killed           bool          // then: no more waiting at all
	told             bool          // the ledger knows that the ESME leg has ended
	forwardedAll     bool          // and has handed over all that the ESME had sent
	left, smscClosed bool          // the legs are closed

	t tally
}

// poke has the watcher look.
func (s *session) poke() {
	select {
	case s.poked <- struct{}{}:
	default:
	}
}

// run is the life of a session, from the forwarded bind, or the SMSC leg that was taken over, to the last close. Where its bind is
// to be tried once more it gives the session that does so.
func (s *session) run() *session {
	go s.esme.read()
	go s.esme.write()
	if s.phase == opening {
		go s.smsc.read()
		go s.smsc.write()
		s.forwardBind()
	} else {
		s.showLeft()
	}
	why := s.relay()
	return s.makeEnd(why)
}

// forwardBind sends the ESME's bind as it is, but for the sequence number.
func (s *session) forwardBind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forward(s.from.bind, request{kind: binding, at: s.now()})
	s.smsc.rouse()
}

// now is the time on the proxy's clock.
func (s *session) now() time.Duration { return s.p.since(time.Now()) }

// A step looks at the session under its mutex. It says whether what is waited for has come, or when to look again
// if nothing happens before.
type step func(now time.Duration) (done bool, next time.Duration)

// watch takes steps until one is done, and keeps both legs alive meanwhile. It gives up when the proxy must exit.
func (s *session) watch(take step) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		s.mu.Lock()
		now := s.now()
		s.giveUpDead(now)
		trusted, look := s.judge(now)
		done, next := take(now)
		if done || s.killed || trusted {
			s.mu.Unlock()
			if trusted {
				s.p.o.Ledger.Trust(s.id)
			}
			if done || s.killed {
				return
			}
			continue
		}
		next = min(next, look, s.keepAlive(s.esme, now), s.keepAlive(s.smsc, now))
		s.esme.rouse()
		s.smsc.rouse()
		s.mu.Unlock()

		timer.Reset(max(0, next-now))
		select {
		case <-s.poked:
		case <-timer.C:
		}
	}
}

// await watches until done says so, at most for the given time.
func (s *session) await(most time.Duration, done func() bool) {
	by := s.now() + most
	s.watch(func(now time.Duration) (bool, time.Duration) {
		return done() || now >= by, by
	})
}

// keepAlive probes or gives up a silent leg, and says when to look again. Caller holds the mutex.
func (s *session) keepAlive(l *leg, now time.Duration) time.Duration {
	if l.over != going || l.shut || !s.accepted {
		return never
	}
	k := keepalive{s.p.o.KeepaliveInterval, s.p.o.KeepaliveTimeout}
	due, next := k.check(l.alive, now)
	switch due {
	case ask:
		s.probe(l, now)
		l.alive.probed = now
	case silence:
		l.abort(silent)
		s.poke()
	}
	return next
}

// giveUpDead ends legs that could not be written to and have nothing more to say. A write error alone ends no SMSC
// leg: answers may still lie unread behind it. Caller holds the mutex.
func (s *session) giveUpDead(now time.Duration) {
	for _, l := range []*leg{s.esme, s.smsc} {
		if l.unsent == nil || l.over != going {
			continue
		}
		if now >= s.deadAt(l) {
			l.abort(causeOf(l.unsent))
		}
	}
}

func (s *session) deadAt(l *leg) time.Duration {
	if l.side == smsc && l.alive.stopped {
		return never
	}
	if l.side == smsc {
		return min(max(l.failedAt, l.alive.heard)+lingerTime, l.failedAt+s.p.o.ResponseTimeout)
	}
	return l.failedAt + lingerTime
}

// protected says whether the ledger is asked. Caller need not hold the mutex.
func (s *session) protected() bool { return s.account.Mode != Off }

// sweep counts no longer what is unanswered for response_timeout. Caller holds the mutex.
func (s *session) sweep(now time.Duration) {
	s.smsc.requests.sweep(now-s.p.o.ResponseTimeout, func(r *request) {
		if r.kind != submission {
			return
		}
		if r.claim == nil {
			s.open--
		} else if !r.claim.discharged { // answered already, by what the ledger knew
			r.claim.discharged = true
			r.claim.s.open--
		}
	})
}

// answeredOne notes that a submission needs to be waited for no longer. Caller holds the mutex.
func (s *session) answeredOne() {
	s.open--
	if s.esme.alive.stopped {
		s.esme.room.Signal()
	}
	if s.open == 0 && (len(s.unbinds) > 0 || s.refusing) {
		s.poke()
	}
}

// owes says whether a submission is to be waited for before the session may part: its own, or one that an earlier session has left on
// the SMSC leg. Caller holds the mutex.
func (s *session) owes() bool { return s.open > 0 || s.smsc.requests.waiting[submission] > 0 }
