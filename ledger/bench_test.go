package ledger

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
)

// An echo answers each attempt at once, as a fast SMSC would.
type echo struct {
	Claim
	l    *Ledger
	sem  chan struct{}
	seq  *atomic.Uint32
	body [9]byte
}

func (e *echo) Forward(n Number, _ Time) (uint32, bool) {
	binary.BigEndian.PutUint64(e.body[:], uint64(n))
	e.l.Settle(n, Response{MessageID: e.body[:8], Body: e.body[:]})
	return e.seq.Add(1), true
}

func (e *echo) Answer(Answer) { <-e.sem }

func (e *echo) Question(other SessionID) { e.l.Trust(other) }

// BenchmarkOrdinaryMessages is a claim, its commit, the answer and its commit, with 1,600 in flight.
func BenchmarkOrdinaryMessages(b *testing.B) {
	l := open(b, testOptions(b, b.TempDir()))
	defer l.Close()
	session := l.OpenSession("acme", true)
	leg := l.OpenLeg()
	h := l.Hasher("acme")
	sem := make(chan struct{}, 1600)
	var seq atomic.Uint32
	var text [8]byte
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		binary.BigEndian.PutUint64(text[:], uint64(i))
		f := h.Fingerprint(text[:])
		sem <- struct{}{}
		e := &echo{l: l, sem: sem, seq: &seq}
		e.Submission = Submission{Session: session, Leg: leg, Sequence: uint32(i), At: l.Now(), Key: h.Content(f), Fingerprint: f, Masked: "*******1234"}
		e.Waiter = e
		l.Claim(&e.Claim)
	}
	for range cap(sem) {
		sem <- struct{}{}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
