package proxy

import "time"

// hasParted says that the ESME has unbound: it repeats nothing when it comes back.
func (s *session) hasParted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.esmeParted
}

// awaitPredecessors waits until the ledger knows of the end of those sessions of an account whose ESME has hung up, and
// of all that it had sent. It comes before a new bind of the account is forwarded: a client repeats in its new session
// what is unanswered, two milliseconds after it left the old one, and that must be found abandoned. A reader that has
// stopped at a bound is not waited for any longer than lingerTime.
func (p *Proxy) awaitPredecessors(systemID string) {
	var gone []*session
	p.mu.Lock()
	for s := range p.sessions {
		if s.systemID == systemID && !isClosed(s.esmeEnded) && !s.hasParted() && s.esme.peerEnded() {
			gone = append(gone, s)
		}
	}
	p.mu.Unlock()
	if len(gone) == 0 {
		return
	}
	by := time.NewTimer(lingerTime)
	defer by.Stop()
	for _, s := range gone {
		select {
		case <-s.esmeEnded:
		case <-by.C:
			return
		case <-p.life.Done():
			return
		}
	}
}
