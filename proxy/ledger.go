package proxy

import (
	"time"

	"smpponce/ledger"
)

// Ledger is what the proxy asks about submissions and receipts. *ledger.Ledger is one; one that several processes
// share could be another.
//
// No method waits for a disk, all may be called from any goroutine, and calls from one goroutine take effect in their
// order. It calls back through ledger.Waiter and found, at any time, also before the call that caused it returns:
// so no lock is held here while it is called.
type Ledger interface {
	// At gives the ledger's time for a moment, Now for this one.
	At(t time.Time) ledger.Time
	Now() ledger.Time
	// Hasher makes keys. Each reader has its own.
	Hasher(account string) *ledger.Hasher

	// OpenSession and OpenLeg come when a bind was accepted, before the ESME hears of it.
	OpenSession(account string, canSubmit bool) ledger.SessionID
	OpenLeg() ledger.LegID
	// CloseSession says that the ESME leg has ended. No claim of the session is answered after it. What was claimed
	// before is forwarded all the same: over is called when the last Forward has been.
	CloseSession(id ledger.SessionID, e ledger.End, over func())
	// Suspect says that the ESME of a session may be dead, and which of the answers that it was given its TCP has not acknowledged. What
	// equals one of those, or is unanswered on that session, waits in the others of its account until Trust or CloseSession.
	Suspect(id ledger.SessionID, unread []*ledger.Ticket)
	// Trust says that a suspected ESME lives.
	Trust(id ledger.SessionID)
	// CloseLeg says that the SMSC leg has ended: what is unanswered on it is in doubt.
	CloseLeg(id ledger.LegID)

	// Claim asks what is to happen to a submission; its Waiter hears. Where that hears Question, Suspect or CloseSession, or Trust at once, must
	// follow for the session in question.
	Claim(c *ledger.Claim)
	// Unsent says that attempt n was never on the wire as a whole. again: its verdict had become too old; decide anew.
	Unsent(n ledger.Number, again bool)
	// Settle says what the SMSC answered.
	Settle(n ledger.Number, r ledger.Response)
	// Undelivered gives back an answer that came after its ESME leg's end.
	Undelivered(t *ledger.Ticket)

	// Lookup finds the message that a receipt is about, once: at once, or where an answer to its destination is outstanding
	// within wait.
	Lookup(account string, r *ledger.Receipt, wait time.Duration, found func(ledger.Found))
	// Finished says that an accepted message will not be delivered.
	Finished(account string, id []byte, f ledger.Final)
}
