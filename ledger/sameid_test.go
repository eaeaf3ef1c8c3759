package ledger

import (
	"testing"
	"time"
)

// An SMSC that counts its message ids anew after a restart, or gives all messages one id, must not have one message taken for another.

func TestAMessageWithTheIDOfALostOneIsNotTakenForItAfterARestart(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	a := s.submit("A")
	s.end(Reset)
	a.accept("77")
	s = r.bind("acme")
	b := s.submit("B")
	b.accept("77")
	r.wait(time.Second)
	s.end(Unbound, b.read())
	r.kill(time.Second)
	s = r.bind("acme")
	s.submit("B").isForwarded(1)
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
}

func TestALostMessageWhoseIDWasGivenAgainBeforeItsSessionEndedIsStillKnown(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	a, b := s.submit("A"), s.submit("B")
	a.accept("77")
	b.accept("77")
	s.end(Reset, a.unacked())
	s = r.bind("acme")
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
}
