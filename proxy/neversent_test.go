package proxy

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// keeping is a connection whose kernel, when it is dead, has kept some of the last octets.
type keeping struct {
	*memnet.Conn
	kept *atomic.Uint64
}

func (c keeping) NeverSent() uint64 { return c.kept.Load() }

// kept has the SMSC legs of a rig end with so many octets not sent.
func kept(n *atomic.Uint64) func(*Options) {
	return func(o *Options) {
		unprobed(o)
		dial := o.Dial
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return keeping{c.(*memnet.Conn), n}, nil
		}
	}
}

func TestASubmissionIsNeverSentWhereAnyOctetOfItIsKept(t *testing.T) {
	size := uint64(len(submitFrame(1, "A")))
	const query = 18 // octets of the PDU behind the submissions
	for name, test := range map[string]struct {
		kept uint64
		want int
	}{
		"nothing":                        {0, 0},
		"only what is behind them":       {query, 0},
		"the last octet of the last":     {query + 1, 1},
		"all of the last":                {query + size, 1},
		"one octet of the one before it": {query + size + 1, 2},
		"all":                            {query + 3*size, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Uint64
			n.Store(test.kept)
			inBubble(t, kept(&n), func(r *rig) {
				esme, smsc := r.bound()
				esme.send(submitFrame(1, "A"), submitFrame(2, "B"))
				smsc.want(wire.SubmitSM)
				smsc.want(wire.SubmitSM)
				esme.send(submitFrame(3, "C"))
				smsc.want(wire.SubmitSM)
				esme.send(wire.New(wire.QuerySM, 0, 4, []byte{'1', 0}))
				smsc.want(wire.QuerySM)
				smsc.Reset()
				esme.wantEnd()
				_ = esme.Close()
				synctest.Wait()
				unsent := view(r.ledger, func() int { return len(r.ledger.unsent) })
				if unsent != test.want {
					t.Errorf("%d told as never sent, want %d", unsent, test.want)
				}
			})
		})
	}
}

func TestWhatWasAnsweredWasSent(t *testing.T) {
	var n atomic.Uint64
	n.Store(1 << 20)
	inBubble(t, kept(&n), func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "A"), submitFrame(2, "B"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "1"))
		smsc.want(wire.SubmitSM)
		esme.want(wire.SubmitSM | wire.Response)
		smsc.Reset()
		esme.wantEnd()
		_ = esme.Close()
		synctest.Wait()
		if unsent := view(r.ledger, func() int { return len(r.ledger.unsent) }); unsent != 1 {
			t.Errorf("%d told as never sent, want the one without answer", unsent)
		}
	})
}

// The kernel counts a FIN that it could not send any more like an octet. It must not make a message that was sent one
// that was not.
func TestTheFINIsNoOctetOfASubmission(t *testing.T) {
	var n atomic.Uint64
	n.Store(16 + 1) // our unbind, and the FIN
	inBubble(t, kept(&n), func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "A"))
		smsc.want(wire.SubmitSM)
		_ = esme.Close()
		smsc.want(wire.Unbind) // after response_timeout
		time.Sleep(lingerTime) // no answer
		smsc.wantEnd()
		_ = smsc.Close()
		synctest.Wait()
		if unsent, ends := view(r.ledger, func() int { return len(r.ledger.unsent) }), view(r.ledger, func() int { return r.ledger.legEnds }); unsent != 0 || ends != 1 {
			t.Errorf("%d told as never sent and %d legs ended, want none and one", unsent, ends)
		}
	})
}
