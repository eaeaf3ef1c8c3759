package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/wire"
)

func TestABindWaitsForTheEndOfASessionThatItsClientHasLeft(t *testing.T) {
	inBubble(t, func(o *Options) { unprobed(o); o.MaxPending = 1 }, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "in flight"), submitFrame(2, "not read yet"))
		pending := smsc.want(wire.SubmitSM)
		synctest.Wait()
		_ = esme.Close() // its end lies behind the second submission, unread
		time.AfterFunc(time.Second, func() { smsc.send(answer(pending.Sequence(), "id")) })

		start, next := time.Now(), r.dial()
		next.send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", "another")) // else it would get the old one's SMSC leg
		r.accept().want(wire.BindTransceiver)
		if took := time.Since(start); took != time.Second {
			t.Errorf("the bind was forwarded after %v, want when the old session was read to its end", took)
		}
		if n := view(r.ledger, func() int { return len(r.ledger.ends) }); n != 1 {
			t.Errorf("the ledger was told of %d ends before the bind, want 1", n)
		}
	})
}

func TestABindWaitsForNoOtherSession(t *testing.T) {
	inBubble(t, func(o *Options) { unprobed(o) }, func(r *rig) {
		_, _ = r.bound()     // alive
		_, smsc := r.bound() // its ESME has our end, and does not give its own
		_ = smsc.Close()
		synctest.Wait()
		start := time.Now()
		r.bound()
		if took := time.Since(start); took != 0 {
			t.Errorf("bound after %v, want at once", took)
		}
	})
}
