package cases

import (
	"testing"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// CASES 1.
func TestAScriptThatBindsAndUnbindsForEachMessageIsForwardedEachTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause time.Duration
		runs  int
	}{"at once": {0, 10}, "a second later": {time.Second, 10}, "ten minutes later": {10 * time.Minute, 3}} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				for range c.runs {
					esme, smsc := s.Bound("acme")
					n := esme.Submit(stage.Message("Pump 3 is hot."))
					smsc.Answer(smsc.WantSubmit(), "77")
					esme.WantAnswer(n, wire.OK)
					esme.Unbind(smsc)
					time.Sleep(c.pause)
				}
				s.WantValue(float64(c.runs), "smpponce_submissions_total", "verdict", "forward")
			})
		})
	}
}

// CASES 2.
func TestAScriptWhoseReceiptLiesUnreadIsForwardedEachTime(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"at once": 0, "five minutes later": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				for range 3 {
					unreadReceipt(s)
					time.Sleep(pause)
				}
			})
		})
	}
}

// CASES 2, with a kernel's own reset.
func TestAScriptWhoseReceiptLiesUnreadInItsSocketIsForwardedEachTime(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
	defer s.Close()
	for range 3 {
		unreadReceipt(s)
	}
}

// unreadReceipt is one run: the receipt follows the answer, and the client closes without a look at it.
func unreadReceipt(s *stage.Stage) {
	s.T.Helper()
	esme, smsc := s.Bound("acme")
	n := esme.Submit(stage.Receipted("Pump 3 is hot."))
	smsc.Answer(smsc.WantSubmit(), "77")
	esme.WantAnswer(n, wire.OK)
	receipt := stage.Message("id:77 sub:001 dlvrd:001 submit date:2501010000 done date:2501010000 stat:DELIVRD err:000 text:")
	receipt.Source, receipt.Destination = receipt.Destination, receipt.Source
	receipt.ESMClass = 4
	smsc.Send(wire.New(wire.DeliverSM, 0, 9, receipt.Body()))
	lies(s.T, esme)
	_ = esme.Close()
	smsc.Part()
}

// CASES 3.
func TestAnAlarmReadJustBeforeTheSMSCLegDiedIsForwardedWhenItIsSentAgain(t *testing.T) {
	t.Parallel()
	for name, reset := range map[string]bool{"FIN": false, "reset": true} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				esme, smsc := s.Bound("acme")
				n := esme.Submit(stage.Message("Pump 3 is hot."))
				esme.Submit(stage.Message("Pump 4 is hot."))
				smsc.Answer(smsc.WantSubmit(), "77")
				smsc.WantSubmit() // and it dies before it answers this one
				esme.WantAnswer(n, wire.OK)
				time.Sleep(time.Second / 2)
				if reset {
					smsc.Reset()
				} else {
					_ = smsc.Close()
				}
				if esme.WantEnd() {
					t.Error("the proxy reset its ESME")
				}
				_ = esme.Close()
				again, smsc := s.Bound("acme")
				n = again.Submit(stage.Message("Pump 3 is hot."))
				smsc.Answer(smsc.WantSubmit(), "78")
				if id := again.WantAnswer(n, wire.OK); id != "78" {
					t.Errorf("the next alarm was answered with id %s, want its own, 78", id)
				}
			})
		})
	}
}

// CASES 9, as far as the end of the old connection has arrived: the repeat comes before anybody has read that. And the
// answer may be on its way through the ledger just then.
func TestAClientThatIsBackAtOnceFindsItsUnansweredMessageTakenForSent(t *testing.T) {
	t.Parallel()
	const rounds = 50
	answers := func(s *stage.Stage, draining *stage.Peer, submit wire.Frame) { draining.Answer(submit, "1") }
	nothing := func(*stage.Stage, *stage.Peer, wire.Frame) {}
	for name, c := range map[string]struct {
		before, after func(*stage.Stage, *stage.Peer, wire.Frame)
	}{
		"answered as it leaves": {answers, nothing}, "answered when it is back": {nothing, answers},
	} {
		for how, leave := range map[string]func(*stage.Peer){"FIN": func(p *stage.Peer) { _ = p.Close() }, "reset": (*stage.Peer).Reset} {
			for where, loopback := range map[string]bool{"in memory": false, "over TCP": true} {
				t.Run(name+", "+how+", "+where, func(t *testing.T) {
					play := func(s *stage.Stage) {
						for range rounds {
							first, draining := s.Bound("acme")
							first.Submit(stage.Message("A"))
							submit := draining.WantSubmit()
							c.before(s, draining, submit)
							leave(first)
							second, own := s.BoundElsewhere("acme")
							n := second.Submit(stage.Message("A"))
							c.after(s, draining, submit)
							if id := second.WantAnswer(n, wire.OK); id != "1" {
								t.Errorf("the repeat was answered with id %q, want that of the first", id)
							}
							draining.Part()
							second.Unbind(own)
						}
						s.WantValue(rounds, "smpponce_submissions_total", "verdict", "forward")
					}
					if loopback {
						s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
						defer s.Close()
						play(s)
					} else {
						stage.InBubble(t, nil, play)
					}
				})
			}
		}
	}
}
