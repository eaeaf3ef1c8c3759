package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linxGnu/gosmpp/data"

	"smpponce/ledger"
	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// bindBody is the bind of the client that these tests are about.
func bindBody(sequence uint32) wire.Frame {
	return wire.Bind(wire.BindTransceiver, sequence, "acme", "secret", "")
}

// left is a session whose ESME has gone with a submission unanswered.
func left(r *rig) (smsc *peer, pending wire.Frame) {
	r.t.Helper()
	esme, smsc := r.bound()
	esme.send(submitFrame(1, "unanswered"))
	pending = smsc.want(wire.SubmitSM)
	_ = esme.Close()
	synctest.Wait()
	return smsc, pending
}

// back binds and must get an answer without anything reaching an SMSC.
func back(r *rig, bind wire.Frame) *peer {
	r.t.Helper()
	esme := r.dial()
	esme.send(bind)
	resp := esme.want(bind.Command() | wire.Response)
	if resp.Status() != 0 || resp.Sequence() != bind.Sequence() || !bytes.Equal(resp.Body(), []byte("smsc\x00")) {
		r.t.Fatalf("the bind was answered status %#x, number %d, body %q; want the answer of then", resp.Status(), resp.Sequence(), resp.Body())
	}
	return esme
}

func TestAClientThatIsBackGetsTheSMSCLegThatItHasLeft(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		smsc, pending := left(r)
		esme := back(r, bindBody(99))
		esme.send(submitFrame(7, "a new one"))
		second := smsc.want(wire.SubmitSM)
		smsc.send(answer(pending.Sequence(), "first"), answer(second.Sequence(), "second"))
		resp := esme.want(wire.SubmitSM | wire.Response)
		if resp.Sequence() != 7 || !bytes.HasPrefix(resp.Body(), []byte("second")) {
			t.Errorf("answered %d %q, want 7 and the second id", resp.Sequence(), resp.Body())
		}
		synctest.Wait()
		if n := len(r.ledger.settled); n != 2 {
			t.Errorf("%d answers reached the ledger, want both", n)
		}
		if got := r.value("smpponce_binds_total", "result", "adopted"); got != 1 {
			t.Errorf("%v adopted binds counted, want 1", got)
		}
		if got := r.value("smpponce_legs", "leg", "smsc", "state", "bound"); got != 1 {
			t.Errorf("%v SMSC legs counted as bound, want 1", got)
		}
		if n := r.ledger.legEnds; n != 0 {
			t.Errorf("the ledger was told of %d legs' ends, want none", n)
		}
	})
}

func TestALegIsAdoptedAgainAndAgain(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		smsc, pending := left(r)
		for i := range uint32(5) {
			esme := back(r, bindBody(i+1))
			_ = esme.Close()
			synctest.Wait()
		}
		esme := back(r, bindBody(100))
		smsc.send(answer(pending.Sequence(), "late"))
		synctest.Wait()
		if n := len(r.ledger.settled); n != 1 {
			t.Errorf("%d answers reached the ledger, want 1", n)
		}
		esme.send(wire.New(wire.Unbind, 0, 101, nil))
		smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
		esme.want(wire.Unbind | wire.Response)
		smsc.wantEnd()
	})
}

func TestALegGoesToTheSameClientOnly(t *testing.T) {
	for name, bind := range map[string]wire.Frame{
		"another password":    wire.Bind(wire.BindTransceiver, 1, "acme", "secres", ""),
		"another system_type": wire.Bind(wire.BindTransceiver, 1, "acme", "secret", "x"),
		"another command":     wire.Bind(wire.BindReceiver, 1, "acme", "secret", ""),
		"an octet more":       wire.New(wire.BindTransceiver, 0, 1, append(bytes.Clone(bindBody(1).Body()), 0)),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, unprobed, func(r *rig) {
				left(r)
				esme := r.dial()
				esme.send(bind)
				r.accept().want(bind.Command()) // a leg of its own
				_ = esme.Close()
			})
		})
	}
}

func TestNothingIsAdoptedAfterAnUnbind(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "unanswered"), wire.New(wire.Unbind, 0, 2, nil))
		smsc.want(wire.SubmitSM)
		_ = esme.Close() // without waiting
		synctest.Wait()
		next := r.dial()
		next.send(bindBody(3))
		r.accept().want(wire.BindTransceiver)
	})
}

func TestABindWaitsForTheLegThatIsBeingClosed(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		_ = esme.Close() // nothing pending: the proxy unbinds
		unbind := smsc.want(wire.Unbind)
		time.AfterFunc(time.Second, func() {
			smsc.send(wire.New(wire.Unbind|wire.Response, 0, unbind.Sequence(), nil))
			_ = smsc.CloseWrite()
		})
		start, next := time.Now(), r.dial()
		next.send(bindBody(2))
		r.accept().want(wire.BindTransceiver)
		if took := time.Since(start); took != time.Second {
			t.Errorf("the bind was forwarded after %v, want when the old one was gone", took)
		}
	})
}

// CASES 9.
func TestAClientThatIsBackBeforeItsEndIsReadGetsItsLeg(t *testing.T) {
	inBubble(t, func(o *Options) { unprobed(o); o.MaxPending = 1 }, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "in flight"), submitFrame(2, "not read yet"))
		first := smsc.want(wire.SubmitSM)
		synctest.Wait()
		_ = esme.Close() // its end lies behind the second submission, unread
		time.AfterFunc(time.Second, func() { smsc.send(answer(first.Sequence(), "id")) })
		back(r, bindBody(5))
		smsc.want(wire.SubmitSM)
		if got := told(r); !slices.Equal(got, []string{"open", "close session", "open"}) {
			t.Errorf("the ledger was told %v, want the end of the first session before the second begins", got)
		}
	})
}

// CASES 27.
func TestASickLegIsClosedFirstAndTheClientBindsAfresh(t *testing.T) {
	inBubble(t, func(o *Options) { o.ResponseTimeout = 30 * time.Second }, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "never answered"))
		smsc.want(wire.SubmitSM)
		done := make(chan struct{})
		go func() { // it answers enquire_link, and nothing else
			defer close(done)
			for {
				f, err := smsc.in.Next()
				if err != nil {
					_ = smsc.Close()
					return
				}
				if f.Command() == wire.EnquireLink || f.Command() == wire.Unbind {
					_, _ = smsc.Write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
				}
			}
		}()
		go func() { _, _ = esme.in.Next() }()
		time.Sleep(29 * time.Second) // of the bubble's time
		esme.send(wire.New(wire.EnquireLink, 0, 5, nil))
		time.Sleep(2 * time.Second)
		_ = esme.Close()
		synctest.Wait()
		next := r.dial()
		next.send(bindBody(2))
		fresh := r.accept()
		fresh.want(wire.BindTransceiver)
		select {
		case <-done:
		default:
			t.Error("the sick leg still stood when the next was opened")
		}
	})
}

func TestWhatTheESMEHasNotAcknowledgedIsShownAgainInOrder(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		r.ledger.ids["77"] = "77"
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "unanswered"))
		smsc.want(wire.SubmitSM)
		deliver := func(sequence uint32, text string) wire.Frame {
			m := wire.Message{Source: wire.Address{Number: "491701234567"}, Destination: wire.Address{Number: "acme"}, Text: []byte(text)}
			return wire.New(wire.DeliverSM, 0, sequence, m.Body())
		}
		smsc.send(deliver(11, "read"), deliver(12, "unread"), deliver(13, "unread too"))
		for range 3 {
			f := esme.want(wire.DeliverSM)
			if bytes.HasSuffix(f, []byte("\x04read")) {
				esme.send(wire.New(wire.DeliverSM|wire.Response, 0, f.Sequence(), []byte{0}))
			}
		}
		if f := smsc.want(wire.DeliverSM | wire.Response); f.Sequence() != 11 {
			t.Fatalf("%d was acknowledged, want 11", f.Sequence())
		}
		_ = esme.Close()
		synctest.Wait()
		smsc.send(deliver(14, "while nobody was there"))
		smsc.wantNothing(time.Second)

		next := back(r, bindBody(2))
		for i, want := range []string{"unread", "unread too", "while nobody was there"} {
			f := next.want(wire.DeliverSM)
			if !bytes.HasSuffix(f, append([]byte{byte(len(want))}, want...)) {
				t.Fatalf("deliver_sm %d is %q, want %q", i, f.Body(), want)
			}
			next.send(wire.New(wire.DeliverSM|wire.Response, 0, f.Sequence(), []byte{0}))
			if f := smsc.want(wire.DeliverSM | wire.Response); f.Sequence() != uint32(12+i) {
				t.Errorf("%d was acknowledged, want %d", f.Sequence(), 12+i)
			}
		}
		smsc.wantNothing(time.Second)
	})
}

func TestTheAnswerToWhatAnotherSessionAskedReachesNobody(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		esme, smsc := r.bound()
		esme.send(submitFrame(1, "unanswered"))
		smsc.want(wire.SubmitSM)
		esme.send(wire.New(wire.QuerySM, 0, 2, []byte("77\x00\x00\x00\x00")))
		query := smsc.want(wire.QuerySM)
		_ = esme.Close()
		synctest.Wait()
		next := back(r, bindBody(9))
		smsc.send(wire.New(wire.QuerySM|wire.Response, 0, query.Sequence(), []byte("77\x00\x00\x02\x00")))
		next.wantNothing(time.Second)
	})
}

func TestKeptDeliveriesAreBounded(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		smsc, _ := left(r)
		big := make([]byte, 100_000)
		for i := range uint32(60) { // 6 MB
			smsc.send(wire.New(wire.DeliverSM, 0, i+1, big))
		}
		synctest.Wait()
		s := onlySession(r)
		s.mu.Lock()
		size := s.smsc.keptSize
		s.mu.Unlock()
		if size > keptBound || size < keptBound-200_000 {
			t.Errorf("%d octets are kept, want nearly %d", size, keptBound)
		}
	})
}

func onlySession(r *rig) *session {
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	for s := range r.proxy.sessions {
		return s
	}
	r.t.Fatal("no session")
	return nil
}

// oneBind answers every bind on every connection, ESME_RALYBND while another stands, and each submission but those that say "silent".
type oneBind struct {
	r     *rig
	stood chan struct{} // a token while none stands
}

func (o *oneBind) serve() {
	o.stood = make(chan struct{}, 1)
	o.stood <- struct{}{}
	for {
		c, err := o.r.smsc.Accept()
		if err != nil {
			return
		}
		go o.talk(newPeer(o.r.t, "SMSC", c.(*memnet.Conn)))
	}
}

func (o *oneBind) talk(p *peer) {
	defer p.Close()
	stands := false
	defer func() {
		if stands {
			o.stood <- struct{}{}
		}
	}()
	for id := 0; ; id++ {
		f, err := p.in.Next()
		if err != nil {
			return
		}
		var body []byte
		status := uint32(0)
		switch f.Command() {
		case wire.BindTransceiver:
			select {
			case <-o.stood:
				stands, body = true, []byte("smsc\x00")
			default:
				status = uint32(data.ESME_RALYBND)
			}
		case wire.SubmitSM:
			if bytes.Contains(f, []byte("silent")) {
				continue
			}
			body = fmt.Appendf(nil, "%d\x00", id)
		case wire.EnquireLink, wire.Unbind:
		default:
			continue
		}
		if _, err := p.Write(wire.New(f.Command()|wire.Response, status, f.Sequence(), body)); err != nil {
			return
		}
	}
}

func TestAnESMEWhoseHostHasVanishedLeavesItsLegToTheOneThatIsRefusedOnItsAccount(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		go (&oneBind{r: r}).serve()
		esme := r.dial()
		esme.send(bindBody(1))
		esme.want(wire.BindTransceiver | wire.Response)
		esme.send(submitFrame(2, "one"))
		esme.want(wire.SubmitSM | wire.Response)
		esme.Vanish()
		next := r.dial()
		start := time.Now()
		next.send(bindBody(1), submitFrame(2, "behind its bind"))
		if f := next.want(wire.BindTransceiver | wire.Response); f.Status() != 0 {
			t.Fatalf("the bind was answered %#x after %v", f.Status(), time.Since(start))
		}
		next.want(wire.SubmitSM | wire.Response)
		if took := time.Since(start); took < suspectTime || took > suspectTime+heirWait {
			t.Errorf("bound after %v, want after %v", took, suspectTime)
		}
		if how := r.ledger.ends[0].How; how != ledger.Vanished {
			t.Errorf("the ledger was told that the first %v", how)
		}
	})
}

func TestASecondBindOfALivingClientIsRefusedAtOnceAsTheSMSCSays(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		go (&oneBind{r: r}).serve()
		esme := r.dial()
		esme.send(bindBody(1))
		esme.want(wire.BindTransceiver | wire.Response)
		next := r.dial()
		start := time.Now()
		next.send(bindBody(1))
		if f := next.want(wire.BindTransceiver | wire.Response); f.Status() != uint32(data.ESME_RALYBND) {
			t.Errorf("answered %#x, want ESME_RALYBND", f.Status())
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("refused after %v, want at once", took)
		}
		esme.wantPastProbes(wire.EnquireLink)
		esme.send(submitFrame(3, "alive"))
		esme.want(wire.SubmitSM | wire.Response)
	})
}

// The client is back 2 ms after each break, and no bind of it is ever refused on our account.
func TestAClientThatReturnsAtOnceNeverSeesThatItIsBoundAlready(t *testing.T) {
	inBubble(t, unprobed, func(r *rig) {
		go (&oneBind{r: r}).serve()
		for i := range uint32(200) {
			esme := r.dial()
			esme.send(bindBody(i + 1))
			if f := esme.want(wire.BindTransceiver | wire.Response); f.Status() != 0 {
				t.Fatalf("bind %d was answered %#x", i, f.Status())
			}
			text := "answered"
			if i%2 == 0 {
				text = "silent"
			}
			esme.send(submitFrame(1, text))
			synctest.Wait()
			if i%3 == 0 {
				esme.Reset()
			} else {
				_ = esme.Close()
			}
			time.Sleep(2 * time.Millisecond)
		}
	})
}
