package proxy

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/wire"
)

// pending is a session with a submission unanswered.
func pending(r *rig) (esme, smsc *peer) {
	r.t.Helper()
	esme, smsc = r.bound()
	esme.send(submitFrame(1, "unanswered"))
	smsc.want(wire.SubmitSM)
	return esme, smsc
}

func told(r *rig) []string {
	return view(r.ledger, func() []string { return slices.Clone(r.ledger.told) })
}

// CASES 10.
func TestAVanishedESMEIsFoundWhenItsClientBindsAnew(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, _ := pending(r)
		esme.Vanish()
		start := time.Now()
		r.boundAs("another pod")
		if time.Since(start) != 0 {
			t.Errorf("the bind took %v, want none: only what is equal waits", time.Since(start))
		}
		if got := told(r); !slices.Contains(got, "suspect") || slices.Contains(got, "close session") {
			t.Fatalf("when the new session was bound the ledger had been told %v", got)
		}
		time.Sleep(suspectTime - 50*time.Millisecond)
		if got := told(r); slices.Contains(got, "close session") || slices.Contains(got, "trust") {
			t.Fatalf("before %v the ledger had been told %v", suspectTime, got)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if n := len(r.ledger.ends); n != 1 || r.ledger.ends[0].How != ledger.Vanished {
			t.Errorf("%d ends, %v; want one that vanished", n, r.ledger.ends)
		}
	})
}

// CASES 11.
func TestABusyESMEWhoseKernelAcknowledgesTheProbeLives(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, _ := pending(r) // it reads nothing
		r.boundAs("a colleague")
		time.Sleep(100 * time.Millisecond)
		if got := told(r); !slices.Contains(got, "trust") {
			t.Errorf("the ledger was told %v, want trust", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(r.ledger.ends); n != 0 {
			t.Errorf("%d sessions ended", n)
		}
		esme.want(wire.EnquireLink)
	})
}

func TestAnESMEThatTakesNothingMoreIsNotTakenForDead(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, _ := pending(r)
		esme.Stall(0) // its window is closed
		r.boundAs("a colleague")
		time.Sleep(3 * time.Second)
		if got := told(r); !slices.Contains(got, "trust") {
			t.Errorf("the ledger was told %v, want trust", got)
		}
	})
}

// CASES 12.
func TestAnAnswerThatAVanishedESMECannotHaveIsToldOf(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "answered into the void"))
		f := smsc.want(wire.SubmitSM)
		esme.Vanish()
		smsc.send(answer(f.Sequence(), "id"))
		time.Sleep(3 * time.Second)
		r.boundAs("another pod")
		if got := view(r.ledger, func() []int { return slices.Clone(r.ledger.unread) }); len(got) != 1 || got[0] != 1 {
			t.Fatalf("suspicions with %v unread answers, want one with 1", got)
		}
		time.Sleep(suspectTime + 100*time.Millisecond)
		synctest.Wait()
		if n := len(r.ledger.ends); n != 1 || len(r.ledger.ends[0].Answers) != 1 || r.ledger.ends[0].Answers[0].Acked {
			t.Errorf("ends %+v, want one with an answer that was not acknowledged", r.ledger.ends)
		}
	})
}

func TestWhoHasNothingAtStakeIsNotAsked(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "answered and read"))
		smsc.send(answer(smsc.want(wire.SubmitSM).Sequence(), "id"))
		esme.want(wire.SubmitSM | wire.Response)
		r.boundAs("a colleague")
		esme.wantNothing(3 * time.Second)
		if got := told(r); slices.Contains(got, "suspect") {
			t.Errorf("the ledger was told %v", got)
		}
	})
}

func TestAReceiverMakesNobodySuspect(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, _ := pending(r)
		esme.Vanish()
		next := r.dial()
		next.send(wire.Bind(wire.BindReceiver, 1, "acme", "secret", ""))
		smsc := r.accept()
		smsc.send(wire.New(wire.BindReceiver|wire.Response, 0, smsc.want(wire.BindReceiver).Sequence(), []byte("smsc\x00")))
		next.want(wire.BindReceiver | wire.Response)
		synctest.Wait()
		if got := told(r); slices.Contains(got, "suspect") {
			t.Errorf("the ledger was told %v", got)
		}
	})
}

// It waits for room in the proxy; what the ESME had sent before is read after the probe.
func TestInputThatCameBeforeTheHostVanishedShowsNoLife(t *testing.T) {
	inBubble(t, func(o *Options) { unprobed(o); o.MaxPending = 1 }, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "in flight"), submitFrame(2, "not read yet"))
		first := smsc.want(wire.SubmitSM)
		synctest.Wait()
		esme.Vanish()
		r.boundAs("another pod")
		time.Sleep(time.Second)
		smsc.send(answer(first.Sequence(), "id"))
		smsc.want(wire.SubmitSM)
		time.Sleep(suspectTime + 100*time.Millisecond)
		if n := view(r.ledger, func() int { return len(r.ledger.ends) }); n != 1 {
			t.Errorf("%d sessions ended, want 1; the ledger was told %v", n, told(r))
		}
	})
}

// A writer that has taken the probe and has not come to send it is no closed window.
func TestAProbeThatIsNotWrittenYetShowsNoLife(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		pending(r)
		s := onlySession(r)
		now := s.now()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.suspect = &suspicion{since: now - suspectTime/2, told: true, over: make(chan struct{})}
		s.esme.sending = 16
		if trusted, _ := s.judge(now); trusted {
			t.Error("trusted")
		}
		s.esme.sending, s.suspect = 0, nil
	})
}

// asked is the ledger's question of a submission about another session. Sessions and attempts are numbered by one counter there.
func asked(r *rig, about ledger.SessionID) {
	c := view(r.ledger, func() *ledger.Claim {
		for _, c := range r.ledger.claims {
			if c.Session != about {
				return c
			}
		}
		return nil
	})
	c.Waiter.Question(about)
}

// pool are two sessions of one client with a submission unanswered each, and the ledger's name for the first.
func pool(r *rig) (first *peer, smsc *peer, id ledger.SessionID) {
	first, smsc = pending(r)
	id = view(r.ledger, func() ledger.SessionID { return r.ledger.claimed[0].Session })
	esme, other := r.boundAs("a colleague")
	esme.send(submitFrame(1, "unanswered too"))
	other.want(wire.SubmitSM)
	time.Sleep(100 * time.Millisecond) // the first has proved that it lives
	r.ledger.mu.Lock()
	r.ledger.told = nil
	r.ledger.mu.Unlock()
	return first, smsc, id
}

func TestAQuestionIsAnsweredWithWhatBecameOfTheOtherSession(t *testing.T) {
	for want, happens := range map[string]func(*peer, *peer){
		"trust":         func(*peer, *peer) {},
		"close session": func(first, _ *peer) { first.Reset() },
	} {
		inBubble(t, unprobed, func(r *rig) {
			first, smsc, id := pool(r)
			happens(first, smsc)
			asked(r, id)
			time.Sleep(time.Second)
			if got := told(r); !slices.Contains(got, want) {
				t.Errorf("the ledger was told %v, want %s", got, want)
			}
		})
	}
}

func TestAVanishedESMEIsFoundByAQuestionToo(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		first, _, id := pool(r)
		first.Vanish()
		asked(r, id)
		time.Sleep(suspectTime + 100*time.Millisecond)
		if got := told(r); !slices.Contains(got, "close session") || slices.Contains(got, "trust") {
			t.Errorf("the ledger was told %v, want the session's end", got)
		}
	})
}

func TestAnESMEThatHasUnboundIsTrustedAtOnce(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		first, _, id := pool(r)
		first.send(wire.New(wire.Unbind, 0, 9, nil))
		synctest.Wait()
		asked(r, id)
		if got := told(r); !slices.Contains(got, "trust") {
			t.Errorf("the ledger was told %v, want trust", got)
		}
	})
}

func TestAQuestionAboutASessionWhoseInputIsNotReadWaitsForItsEnd(t *testing.T) {
	inBubble(t, func(o *Options) { unprobed(o); o.MaxPending = 1 }, func(r *rig) {
		first, smsc, id := pool(r)
		first.send(submitFrame(2, "not read yet"))
		synctest.Wait()
		_ = first.CloseWrite() // its kernel acknowledges the probe
		asked(r, id)
		time.Sleep(100 * time.Millisecond)
		if got := told(r); slices.Contains(got, "trust") {
			t.Fatalf("the ledger was told %v, though the ESME has hung up", got)
		}
		smsc.send(answer(2, "id")) // the bind was 1
		time.Sleep(time.Second)
		if got := told(r); !slices.Contains(got, "close session") {
			t.Errorf("the ledger was told %v, want the session's end", got)
		}
	})
}

// Long batches are under way to it all the time, and it takes them.
func TestAnESMEThatAcknowledgesSlowlyLives(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		for moved, lives := range map[time.Duration]bool{0: false, ackMargin / 2: false, ackMargin * 2: true} {
			esme, _ := r.boundAs(moved.String())
			s := newestSession(r)
			esme.Vanish()
			s.mu.Lock()
			s.probe(s.esme, s.now())
			s.esme.rouse()
			s.mu.Unlock()
			synctest.Wait()
			now := s.now()
			since := now - suspectTime
			s.mu.Lock()
			acked, _ := s.esme.socket.acked()
			s.suspect = &suspicion{since: since, told: true, over: make(chan struct{}), acked: acked, moved: since + moved}
			if trusted, _ := s.judge(now); trusted != lives {
				t.Errorf("acknowledged last %v after it was suspected: trusted is %v, want %v", moved, trusted, lives)
			}
			s.mu.Unlock()
		}
	})
}

// newestSession gives the one that was opened last.
func newestSession(r *rig) (newest *session) {
	last := ledger.SessionID(0)
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	for s := range r.proxy.sessions {
		s.mu.Lock()
		id := s.id
		s.mu.Unlock()
		if newest == nil || id > last {
			newest, last = s, id
		}
	}
	return newest
}

// It unbinds, closes its half and waits for the answers, which may take long.
func TestASuspectedESMEThatUnbindsIsTrustedAndHearsItsAnswers(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := pending(r)
		r.boundAs("another pod")
		esme.send(wire.New(wire.Unbind, 0, 2, nil))
		_ = esme.CloseWrite()
		time.Sleep(2 * suspectTime)
		if got := told(r); !slices.Contains(got, "trust") {
			t.Errorf("the ledger was told %v, want trust", got)
		}
		smsc.send(answer(2, "id")) // the bind was 1
		esme.want(wire.EnquireLink)
		esme.want(wire.SubmitSM | wire.Response)
	})
}
