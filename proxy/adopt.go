package proxy

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"

	"smpponce/ledger"
	"smpponce/pdu"
)

// maxTries is how often one bind is forwarded where the SMSC says ESME_RALYBND on account of a session that we have held.
const maxTries = 3

// identity is what a client is known by when it comes again: the keyed hash of its bind, sequence_number aside, and of its certificate.
// The bind holds a password, so nothing else of it is kept.
type identity [sha256.Size]byte

func (p *Proxy) identify(bind pdu.Frame, c net.Conn) (who identity) {
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte{byte(bind.Command())})
	if c, ok := c.(*tls.Conn); ok {
		if certificates := c.ConnectionState().PeerCertificates; len(certificates) > 0 {
			sum := sha256.Sum256(certificates[0].Raw)
			mac.Write(sum[:])
		}
	}
	mac.Write(bind.Body())
	mac.Sum(who[:0])
	return who
}

// inherit gives a client that is back the SMSC leg that it has left: many SMSCs refuse a second bind while the first stands, and
// what is unanswered on the leg is still going to be answered. It waits, at most heirWait, for a session of the client that is just ending:
// until its leg can be taken over, or is closed.
func (p *Proxy) inherit(c *arrival) *session {
	old := p.predecessor(c.who)
	if old == nil {
		return nil
	}
	defer old.expect(false)
	by := time.NewTimer(heirWait)
	defer by.Stop()
	select {
	case <-old.drains:
		if s := p.adopt(old, c); s != nil {
			return s
		}
	case <-old.smscEnded:
	case <-by.C:
	case <-p.life.Done():
	}
	select {
	case <-old.smscEnded:
	case <-by.C:
	case <-p.life.Done():
	}
	return nil
}

// predecessor chooses among the sessions of a client whose ESME has ended one that no other bind waits for; nil: there is none.
func (p *Proxy) predecessor(who identity) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		if hmac.Equal(s.who[:], who[:]) && s.expect(true) {
			return s
		}
	}
	return nil
}

// expect notes that a bind waits for what becomes of the SMSC leg, and says whether it may: one only, and no more than something is to come.
func (s *session) expect(yes bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if yes && (s.expected || s.heir != nil || s.done || isClosed(s.smscEnded) || s.esme.over == going && !s.told) {
		return false
	}
	s.expected = yes
	s.poke()
	return true
}

// adopt makes the session that takes over the SMSC leg of old; nil: it is not to be had.
func (p *Proxy) adopt(old *session, c *arrival) *session {
	book := p.o.Ledger
	s := p.newSession(c, old.mu, c.log.With(zap.String("upstream", old.smsc.address)))
	s.smsc, s.leg = old.smsc, old.leg
	s.esme.other = s.smsc
	s.id = book.OpenSession(s.systemID, s.canSubmit())
	if p.opened(s, c.raw) {
		s.suspectOthers()
		if s.take(old, c.bind.Sequence()) {
			_ = c.sock.SetDeadline(time.Time{})
			p.metrics.bindAccepted(bindAdopted, time.Now())
			s.log.Info("session opened", zap.Stringer("session", s.id), zap.Stringer("adopted_from", old.id))
			return s
		}
		p.withdraw(s, c.raw)
	}
	book.CloseSession(s.id, ledger.End{At: book.Now(), How: ledger.ByProxy}, func() {})
	return nil
}

// take moves the SMSC leg of old to s, unless it has ended or is sick, and answers the bind as the SMSC did then.
func (s *session) take(old *session, sequence uint32) bool {
	s.mu.Lock() // the mutex of both
	defer s.mu.Unlock()
	defer old.poke()
	l := old.smsc
	old.sick = old.sick || l.isSick(s.now())
	if old.phase != draining || l.over != going || !l.open() || l.parting || old.refusing || s.refusing || old.esmeParted || old.sick {
		old.expected = false
		return false
	}
	old.heir = s
	l.session, l.other = s, s.esme
	l.requests.disown()
	l.kept = append(old.esme.requests.frames(), l.kept...)
	l.keptSize = sizeOf(l.kept)
	s.phase, s.accepted, s.showing, s.bindResp = bound, true, true, old.bindResp
	s.esme.out.add(s.bindResp, sequence)
	s.t.out[esme][indexOf(s.bindResp.Command())]++
	return true
}

// withdraw takes a session back that did not get its leg.
func (p *Proxy) withdraw(s *session, c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
	if !p.stopping {
		p.early[c] = struct{}{}
	}
}

// isSick says that an SMSC answers nothing any more, though it may answer enquire_link: a submission was sent since its last answer to one,
// and is unanswered for response_timeout. A client that comes again to get rid of such a leg must not get it back; where its own
// timer is as long, it is back a moment earlier. Caller holds the mutex.
func (l *leg) isSick(now time.Duration) bool {
	timeout := l.p.o.ResponseTimeout
	oldest, found := l.requests.oldest(func(r *request) bool { return r.kind == submission && r.at >= l.answered })
	return found && now-oldest >= timeout-min(time.Second, timeout/10)
}

// disown says that whoever asked what is unanswered is gone.
func (w *window) disown() {
	for i := range w.slots {
		w.slots[i].orphan = true
	}
}

// frames gives the deliveries that are unanswered and kept, oldest first.
func (w *window) frames() []pdu.Frame {
	var kept []*request
	for i := range w.slots {
		if w.slots[i].frame != nil {
			kept = append(kept, &w.slots[i])
		}
	}
	slices.SortFunc(kept, func(a, b *request) int { return cmp.Compare(w.age(b.seq), w.age(a.seq)) })
	frames := make([]pdu.Frame, len(kept))
	for i, r := range kept {
		frames[i] = r.frame
	}
	return frames
}

// age is how many numbers were given since seq was.
func (w *window) age(seq uint32) uint32 {
	if seq > w.last {
		return w.last + lastNumber - seq
	}
	return w.last - seq
}

// keep puts a deliver_sm by for the next session of the client: nobody acknowledges it meanwhile. Beyond keptBound it is the SMSC's
// to send it again, as it is where nobody comes. It says whether it was kept. Caller holds the mutex.
func (s *session) keep(f pdu.Frame) bool {
	l := s.smsc
	if s.id == 0 || s.esmeParted || s.done || l.over != going || s.esme.requests.octets+l.keptSize+len(f) > keptBound {
		return false
	}
	l.kept = append(l.kept, append(pdu.Frame(nil), f...))
	l.keptSize += len(f)
	return true
}

// show gives the ESME what it had left unanswered. Receipts are looked up again: their message may only now be answered. What the SMSC
// sends meanwhile waits its turn.
func (s *session) showLeft() {
	hasher := s.p.o.Ledger.Hasher(s.systemID)
	for {
		var receipts []*receipt
		s.mu.Lock()
		left := s.smsc.kept
		if len(left) == 0 || !s.esme.open() {
			s.showing = false
			s.mu.Unlock()
			return
		}
		s.smsc.kept, s.smsc.keptSize = nil, 0
		for _, f := range left {
			if r := s.receiptOf(f, s.now()); r != nil {
				receipts = append(receipts, r)
			}
		}
		s.esme.rouse()
		s.mu.Unlock()
		for _, r := range receipts {
			s.lookUp(r, hasher)
		}
	}
}

func sizeOf(frames []pdu.Frame) (n int) {
	for _, f := range frames {
		n += len(f)
	}
	return n
}

// contest is for a bind that the SMSC has refused with ESME_RALYBND. Where we hold a session of the same client, its ESME is asked for a sign
// of life. If that is dead, or the session is ending or has just ended, the refusal is our own doing: the connection goes on in
// another session, which takes the leg over or binds once more.
func (s *session) contest() bool {
	c := s.from
	if s.currentPhase() != contested || c == nil {
		return false
	}
	if c.tries++; c.tries >= maxTries || !s.p.twinEnds(s) || !s.detach() {
		s.setPhase(refused)
		s.mu.Lock()
		s.esme.room.Signal()
		s.mu.Unlock()
		return false
	}
	c.arrear = s.esme.arrear
	s.log.Info("bind refused while an earlier session of the client ends; it is tried again", zap.Int("tries", c.tries))
	return true
}

func (s *session) currentPhase() phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase
}

// twinEnds says whether we hold another session of the client of s whose ESME has ended; one that is bound is probed first.
func (p *Proxy) twinEnds(s *session) bool {
	var twins []*session
	p.mu.Lock()
	for t := range p.sessions {
		if t != s && hmac.Equal(t.who[:], s.who[:]) {
			twins = append(twins, t)
		}
	}
	p.mu.Unlock()
	for _, t := range twins {
		if t.isDead() {
			return true
		}
	}
	return false
}

// detach has both goroutines of the ESME leg return and leaves the connection as it is: false where it has ended.
func (s *session) detach() bool {
	l := s.esme
	s.mu.Lock()
	l.detached, l.shut, l.finish = true, true, true
	l.wakeAll()
	s.mu.Unlock()
	<-l.writeDone
	_ = l.SetReadDeadline(longAgo) // fails only on a closed connection
	<-l.readDone
	_ = l.SetDeadline(time.Time{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.over != going || l.unsent != nil || s.killed {
		return false
	}
	s.told, s.left = true, true
	close(s.esmeEnded)
	return true
}
