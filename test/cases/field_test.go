package cases

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// FIELD: ten in flight (Kannel's window), the client's connection is cut, the SMSC accepted all.
func TestAWindowThatWasCutIsSentAgainAndReachesTheSMSCOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]func(int) string{
		"texts of their own": func(i int) string { return fmt.Sprint("message ", i) },
		"one text":           func(int) string { return "message" },
	} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				esme, draining := s.Bound("acme")
				ids := map[string]map[string]bool{} // by text
				var all []wire.Frame
				for i := range 10 {
					esme.Submit(stage.Message(text(i)))
					all = append(all, draining.WantSubmit())
				}
				for i, f := range all {
					id := fmt.Sprint("id ", i)
					draining.Answer(f, id)
					if ids[text(i)] == nil {
						ids[text(i)] = map[string]bool{}
					}
					ids[text(i)][id] = true
				}
				synctest.Wait()
				esme.Reset() // all answers unread
				draining.Part()

				again, smsc := s.Bound("acme")
				for i := range 10 {
					again.Send(stage.Numbered(uint32(100+i), stage.Message(text(i))))
				}
				for i := range 10 {
					id := again.WantAnswer(uint32(100+i), wire.OK)
					if !ids[text(i)][id] {
						t.Errorf("%q was answered with id %q, want one of %v, once", text(i), id, ids[text(i)])
					}
					delete(ids[text(i)], id)
				}
				smsc.WantNothing(time.Minute)
			})
		})
	}
}

// FIELD: the SMSC answers after the client's timer, and the client repeats on the same session.
func TestARepeatOnTheSameSessionAfterClientTimeoutGetsTheAnswerOfTheFirst(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{2 * time.Second, 10 * time.Second, time.Minute} {
		t.Run(timeout.String(), func(t *testing.T) {
			stage.InBubble(t, func(set *stage.Settings) {
				set.Policy.ClientTimeout, set.Policy.HoldTimeout = timeout, time.Second
			}, func(s *stage.Stage) {
				esme, smsc := s.Bound("acme")
				first := esme.Submit(stage.Message("A"))
				submit := smsc.WantSubmit()
				time.Sleep(timeout)
				second := esme.Submit(stage.Message("A"))
				smsc.WantNothing(10 * time.Second)
				smsc.Answer(submit, "1")
				for _, n := range []uint32{first, second} {
					if id := esme.WantAnswer(n, wire.OK); id != "1" {
						t.Errorf("%d was answered with id %q, want 1", n, id)
					}
				}
				if timeout <= 10*time.Second { // it came too late for the second's timer as well
					wantSuppressed(s, esme, smsc, stage.Message("A"), "1")
				} else {
					wantForwarded(s, esme, smsc, stage.Message("A"), "2")
				}
			})
		})
	}
}

// FIELD: the same text to the same number twice on a healthy session, both answered, or both at once.
func TestEqualMessagesOnAHealthySessionAreAllForwarded(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		for i := range 5 {
			wantForwarded(s, esme, smsc, stage.Message("A"), fmt.Sprint(i))
		}
		esme.Send(stage.Numbered(50, stage.Message("A")), stage.Numbered(51, stage.Message("A")))
		smsc.Answer(smsc.WantSubmit(), "50")
		smsc.Answer(smsc.WantSubmit(), "51")
		for n := range 2 {
			if got, want := esme.WantAnswer(uint32(50+n), wire.OK), fmt.Sprint(50+n); got != want {
				t.Errorf("%s was answered with id %q", want, got)
			}
		}
	})
}

// FIELD: most things get a vendor status, and the client tries twenty times.
func TestEveryTryAfterARejectionIsForwardedAndItsStatusRelayed(t *testing.T) {
	t.Parallel()
	for _, set := range []func(*stage.Settings){nil, requestIDs} {
		stage.InBubble(t, set, func(s *stage.Stage) {
			esme, smsc := s.Bound("acme")
			for i := range 20 {
				n := esme.Submit(identified("A", "one"))
				status := []uint32{0xFE, 0x450, wire.Throttled}[i%3]
				smsc.Send(stage.Refusal(smsc.WantSubmit(), status))
				esme.WantAnswer(n, status)
				time.Sleep(10 * time.Second)
			}
			wantForwarded(s, esme, smsc, identified("A", "one"), "1")
		})
	}
}

// FIELD: a storm of 5,000 repeats in a burst after an outage.
func TestAStormOfRepeatsCostsNoDuplicateNoLossAndLittle(t *testing.T) {
	t.Parallel()
	const storm = 5000
	s := stage.Open(t, func(set *stage.Settings) {
		set.Loopback, set.Proxy.MaxPending = true, storm
		set.Policy.Settle, set.Account.Settle = patience, patience // the client takes longer than a second to fall over
	})
	defer s.Close()
	message := func(i int) wire.Message { return stage.Message(fmt.Sprint("message ", i)) }
	esme, smsc := s.Bound("acme")
	var all []wire.Frame
	for i := range storm {
		all = append(all, stage.Numbered(uint32(10+i), message(i)))
	}
	esme.Send(all...)
	// It answers when it has all: who submits more, long after an answer, has read that.
	var submits []wire.Frame
	for range storm {
		submits = append(submits, smsc.WantSubmit())
	}
	for i, f := range submits {
		smsc.Answer(f, fmt.Sprint("id ", i))
	}
	// It has them all, and the client none: its end comes before a look at its socket.
	eventually(t, "all are accepted", func() bool { return s.Value("smpponce_outcomes_total", "outcome", "accepted") == storm })
	esme.Reset()
	smsc.Part()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	again, smsc := s.Bound("acme")
	start := time.Now()
	again.Send(all...)
	for i := range storm {
		f := again.Want(wire.SubmitSM | wire.Response)
		if got, want := f.ID(), fmt.Sprint("id ", f.Sequence()-10); got != want || f.Status() != wire.OK {
			t.Fatalf("answer %d: id %q, status %#x; want %q and 0", i, got, f.Status(), want)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the storm took %v", took)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	s.WantValue(storm, "smpponce_submissions_total", "verdict", "forward")
	s.WantValue(storm, "smpponce_submissions_total", "verdict", "replay")
	again.Unbind(smsc)
}

// FIELD: S repeats one submit_sm_resp several times.
func TestOnlyTheFirstOfRepeatedAnswersIsRelayed(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		n := esme.Submit(stage.Message("A"))
		f := smsc.WantSubmit()
		smsc.Send(stage.Answer(f, "1"), stage.Answer(f, "1"), stage.Answer(f, "2"), stage.Refusal(f, wire.Throttled))
		if id := esme.WantAnswer(n, wire.OK); id != "1" {
			t.Errorf("answered with id %q, want 1", id)
		}
		esme.WantNothing(time.Minute)
		s.WantValue(3, "smpponce_unmatched_responses_total", "leg", "smsc")
	})
}

// FIELD: S says 0x05 for two minutes after a loss. Relayed at once, each time; and the proxy's own leg is not the reason.
func TestAlreadyBoundIsRelayedAndNeverCausedByALeftoverLeg(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		start := time.Now()
		esme.Reset()
		smsc.Part()
		if took := time.Since(start); took > 0 {
			t.Errorf("the SMSC leg stayed for %v though nothing was pending", took)
		}
		for range 12 {
			esme := s.Dial()
			esme.Send(wire.Bind(wire.BindTransceiver, 7, "acme", "secret", ""))
			smsc := s.Accept()
			start := time.Now()
			smsc.Send(stage.Refusal(smsc.Want(wire.BindTransceiver), wire.AlreadyBound))
			f := esme.Want(wire.BindTransceiver | wire.Response)
			if f.Status() != wire.AlreadyBound || f.Sequence() != 7 || len(f) != 16 {
				t.Errorf("bind_resp %x, want status 5, number 7 and no body", f)
			}
			if took := time.Since(start); took > 0 {
				t.Errorf("told after %v, want at once", took)
			}
			esme.WantEnd()
			smsc.WantEnd()
			time.Sleep(10 * time.Second)
		}
	})
}

// FIELD: sequence numbers 0, beyond 2^31, all alike.
func TestAnyNumberIsPutBackOnItsOwnAnswer(t *testing.T) {
	t.Parallel()
	numbers := []uint32{0, 0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 7, 7, 7, 7}
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		want := map[string]uint32{} // by id
		for i, n := range numbers {
			esme.Send(stage.Numbered(n, stage.Message(fmt.Sprint("message ", i))))
			want[fmt.Sprint("id of message ", i)] = n
		}
		var submits []wire.Frame
		for range numbers {
			submits = append(submits, smsc.WantSubmit())
		}
		for i := range submits { // the last first
			f := submits[len(submits)-1-i]
			m, _ := wire.ParseMessage(f.Body())
			smsc.Answer(f, "id of "+string(m.Text))
		}
		for range numbers {
			f := esme.Want(wire.SubmitSM | wire.Response)
			if n, ok := want[f.ID()]; !ok || n != f.Sequence() {
				t.Errorf("id %q came under number %d, want %d", f.ID(), f.Sequence(), n)
			}
			delete(want, f.ID())
		}
	})
}

// FIELD: S's deliver_sm uses the number of C's submit.
func TestADeliveryUnderTheNumberOfASubmissionMixesNothingUp(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		esme.Send(stage.Numbered(5, stage.Message("A")))
		f := smsc.WantSubmit()
		mo := stage.Message("from a handset")
		smsc.Send(wire.New(wire.DeliverSM, 0, f.Sequence(), mo.Body()))
		d := esme.Want(wire.DeliverSM)
		esme.Send(wire.New(wire.DeliverSM|wire.Response, 0, d.Sequence(), []byte{0}))
		if r := smsc.Want(wire.DeliverSM | wire.Response); r.Sequence() != f.Sequence() {
			t.Errorf("deliver_sm_resp %d, want %d", r.Sequence(), f.Sequence())
		}
		smsc.Answer(f, "1")
		if id := esme.WantAnswer(5, wire.OK); id != "1" {
			t.Errorf("answered with id %q, want 1", id)
		}
	})
}

// FIELD: bind_resp of 16 or 17 bytes. Those of submit_sm are in test/fidelity.
func TestABindRespOfAnyShapeIsRelayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status uint32
		body   string
	}{"16 bytes": {0, ""}, "17 bytes": {0, "\x00"}, "error of 16 bytes": {wire.BindFailed, ""}, "error with a system_id": {wire.BindFailed, "smsc\x00"},
		"no NUL": {0, "smsc"}, "TLVs": {0, "smsc\x00\x02\x10\x00\x01\x34\x14\x02\x00\x00"}, "vendor status": {0x450, "\x00"}} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				esme := s.Dial()
				esme.Send(wire.Bind(wire.BindTransceiver, 0xFFFFFFFF, "acme", "secret", "type"))
				smsc := s.Accept()
				bind := smsc.Want(wire.BindTransceiver)
				smsc.Send(wire.New(wire.BindTransceiver|wire.Response, c.status, bind.Sequence(), []byte(c.body)))
				f := esme.Want(wire.BindTransceiver | wire.Response)
				if f.Status() != c.status || string(f.Body()) != c.body || f.Sequence() != 0xFFFFFFFF {
					t.Errorf("got %x, want status %#x, number FFFFFFFF, body %x", f, c.status, c.body)
				}
			})
		})
	}
}

// FIELD: unbind from S.
func TestAnUnbindOfTheSMSCReachesTheESMEAndItsUnansweredAreInDoubt(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, onInDoubt(ledger.RefuseInDoubt), func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		esme.Submit(stage.Message("A"))
		smsc.WantSubmit()
		smsc.Send(wire.New(wire.Unbind, 0, 3, nil))
		unbind := esme.Want(wire.Unbind)
		esme.Send(stage.Refusal(unbind, wire.OK))
		if f := smsc.Want(wire.Unbind | wire.Response); f.Sequence() != 3 {
			t.Errorf("unbind_resp %d, want 3", f.Sequence())
		}
		_ = smsc.Close()
		esme.WantEnd()
		_ = esme.Close()
		s.WantValue(1, "smpponce_session_ends_total", "reason", "smsc_unbind")
		s.WantValue(1, "smpponce_in_doubt")
	})
}

// FIELD: S answers enquire_link but no submit.
func TestAnSMSCThatAnswersNothingButProbesIsVisible(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, probed, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		esme.Submit(stage.Message("A"))
		smsc.WantSubmit()
		keepAlive(esme, smsc)
		time.Sleep(90 * time.Second)
		if age := s.Value("smpponce_oldest_unanswered_seconds", "leg", "smsc"); age < 89 || age > 91 {
			t.Errorf("the oldest unanswered is told to be %v s old, want 90", age)
		}
		s.WantValue(1, "smpponce_overdue_submissions")
		s.WantValue(1, "smpponce_sessions")
	})
}

// probed has the default keepalive.
func probed(set *stage.Settings) {
	set.Proxy.KeepaliveInterval, set.Proxy.KeepaliveTimeout = 30*time.Second, 10*time.Second
}

// keepAlive answers every probe, until the connections end.
func keepAlive(peers ...*stage.Peer) {
	for _, p := range peers {
		go func() {
			for {
				f, err := p.Within(time.Hour)
				if err != nil {
					return
				}
				if f.Command() == wire.EnquireLink {
					_, _ = p.Write(stage.Refusal(f, wire.OK))
				}
			}
		}()
	}
}

// FIELD: half-open connections on either leg.
func TestAHostThatVanishedIsFoundWithinTheBoundsOfKeepalive(t *testing.T) {
	t.Parallel()
	for _, leg := range []string{"esme", "smsc"} {
		t.Run(leg, func(t *testing.T) {
			stage.InBubble(t, probed, func(s *stage.Stage) {
				esme, smsc := s.Bound("acme")
				gone, left := esme, smsc
				if leg == "smsc" {
					gone, left = smsc, esme
				}
				start := time.Now()
				gone.Mem().Vanish()
				for {
					f, err := left.Within(time.Hour)
					if err != nil {
						break
					}
					_, _ = left.Write(stage.Refusal(f, wire.OK)) // enquire_link, unbind
				}
				if took := time.Since(start); took > 45*time.Second {
					t.Errorf("the other leg was ended after %v, want about 40s", took)
				}
				_ = left.Close()
				time.Sleep(5 * time.Second) // the host that is gone closes nothing
				s.WantValue(1, "smpponce_session_ends_total", "reason", leg+"_silent")
			})
		})
	}
}
