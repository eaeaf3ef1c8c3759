package everycut

import (
	"fmt"
	"testing"
	"time"

	"smpponce/test/cases/stage"
	network "smpponce/test/cut"
	"smpponce/test/wire"
)

// The proxy asks its kernel what of an answer has arrived. Here that is a real one: a relay on the way passes so many
// octets of the answer and resets both its sides, and the client is back at once.
func TestAnAnswerThatARealResetCutAtAnyOctetIsGivenAgain(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
	defer s.Close()
	smsc := &center{s: s, delay: prompt}
	go smsc.serve()
	proxy := s.Address()
	message := stage.Message("A")
	answer := len(stage.Answer(message.Submit(1), "000001"))
	for octets := range answer + 1 {
		account := fmt.Sprintf("acme%03d", octets)
		before := len(wire.Bind(wire.BindTransceiver, 1, account, "secret", "")) + wire.HeaderLen + len(stage.BindResp) + len(message.Submit(1))
		relay, err := network.Start(network.Options{Target: proxy, Cuts: 1, Min: int64(before + octets), Max: int64(before + octets), End: network.Reset})
		if err != nil {
			t.Fatal(err)
		}
		s.At(relay.Addr())
		esme := &client{s: s, account: account, messages: []wire.Message{message}, comeBack: time.Millisecond, until: time.Minute}
		esme.run()
		if relay.Cuts() != 1 {
			t.Errorf("%d octets: cut %d times, want once", octets, relay.Cuts())
		}
		relay.Close()
		for _, f := range esme.faults {
			t.Errorf("%d octets: %s", octets, f)
		}
		taken := smsc.of(account)
		if len(taken) != 1 || esme.ids[0] != taken[0].id {
			t.Errorf("%d octets: the SMSC has %d copies, answered is id %q; want one, and its id", octets, len(taken), esme.ids[0])
		}
	}
}
