package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"smpponce/test/cut"
	"smpponce/test/program"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// patience bounds every wait: far more than a loaded machine needs, and only spent where a test
// fails.
const patience = 60 * time.Second

// TestMain lets more tests run at once than there are processors: most of them wait, for receipts and deadlines.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "10"); err != nil { // the command line has the last word
		panic(err)
	}
	program.Main(m)
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	return ctx
}

func startSMSC(t *testing.T, o smsc.Options) *smsc.Server {
	t.Helper()
	s, err := smsc.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// startCuts puts a relay with ten cuts of that kind before address. Its seed is logged.
func startCuts(t *testing.T, address string, end cut.End) *cut.Relay {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed of the cuts: %d", seed)
	r, err := cut.Start(cut.Options{Target: address, Seed: seed, Cuts: cuts, Min: 600, Max: 2500, End: end, Spread: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// cuts is how often a client's connection is cut while it submits, and receiptCuts how often while
// it gets its receipts. These come when everything is answered: where nothing is unanswered, a
// connection that is reset with receipts unread looks the same whether the client had read its last
// answers or not, and the proxy then takes them for read (DESIGN 4.2), so receipts among the answers
// would show that rule's limit and not its aim.
const cuts, receiptCuts = 10, 2

// answered lets the receipts come, and their cuts.
func answered(s *smsc.Server, r *cut.Relay) {
	r.More(receiptCuts)
	s.Release()
}

// faulty is an SMSC for clients that are cut. Answers take 5 ms and more, each its own time, so that
// they come one by one; receipts wait.
func faulty(ids smsc.IDForm) smsc.Options {
	return smsc.Options{
		IDs: ids, Receipts: &smsc.Receipts{Held: true},
		Script: func(m smsc.Submission) smsc.Plan {
			return smsc.Plan{Delay: time.Duration(5+m.N*7%11) * time.Millisecond}
		},
	}
}

// differing are n messages with texts of their own, each asking for a receipt.
func differing(n int) []wire.Message {
	all := make([]wire.Message, n)
	for i := range all {
		all[i] = wire.Message{
			Source:             wire.Address{TON: 5, Number: "Shop"},
			Destination:        wire.Address{TON: 1, NPI: 1, Number: fmt.Sprintf("49151%08d", i)},
			RegisteredDelivery: 1, Text: fmt.Appendf(nil, "message %d", i),
		}
	}
	return all
}

// identical are n messages that nothing tells apart.
func identical(n int) []wire.Message {
	all := make([]wire.Message, n)
	for i := range all {
		all[i] = wire.Message{
			Source: wire.Address{TON: 5, Number: "Alarm"}, Destination: wire.Address{TON: 1, NPI: 1, Number: "4915112345678"},
			RegisteredDelivery: 1, Text: []byte("Pump 3 is hot."),
		}
	}
	return all
}
