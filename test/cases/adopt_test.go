package cases

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// CASES 9: the last of what it sent, and its FIN, are perhaps not read yet when the same client sends it again.
func TestAClientThatIsBackInTwoMillisecondsGetsItsLegAndSendsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*stage.Peer){"FIN": func(p *stage.Peer) { _ = p.Close() }, "reset": (*stage.Peer).Reset} {
		t.Run(name, func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) {
				esme, smsc := s.Bound("acme")
				for i := range 20 {
					text := fmt.Sprint("message ", i)
					esme.Submit(stage.Message(text))
					if name == "reset" {
						synctest.Wait() // what a reset finds unread is lost
					}
					leave(esme)
					time.Sleep(2 * time.Millisecond)
					esme = s.Back("acme")
					n := esme.Submit(stage.Message(text))
					smsc.Answer(smsc.WantSubmit(), text)
					if id := esme.WantAnswer(n, wire.OK); id != text {
						t.Errorf("answered with id %s, want %s", id, text)
					}
					smsc.WantNothing(10 * time.Millisecond)
				}
				s.WantValue(20, "smpponce_binds_total", "result", "adopted")
			})
		})
	}
}

// CASES 10, of a whole window; what equals nothing waits for nobody.
func TestTheWindowOfAVanishedHostIsNotSentTwice(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		esme, smsc := s.Bound("acme")
		const window = 10
		var first []wire.Frame
		for i := range window {
			esme.Submit(stage.Message(fmt.Sprint(i)))
			first = append(first, smsc.WantSubmit())
		}
		esme.Mem().Vanish()
		time.Sleep(20 * time.Second)
		again, own := s.BoundElsewhere("acme")
		var repeats []uint32
		for i := range window {
			repeats = append(repeats, again.Submit(stage.Message(fmt.Sprint(i))))
		}
		fresh := again.Submit(stage.Message("a new one, which waits for nobody"))
		own.Answer(own.WantSubmit(), "new")
		again.WantAnswer(fresh, wire.OK)
		own.WantNothing(3 * time.Second)
		for i, f := range first {
			smsc.Answer(f, fmt.Sprint("id ", i))
			if id := again.WantAnswer(repeats[i], wire.OK); id != fmt.Sprint("id ", i) {
				t.Errorf("repeat %d was answered with %s", i, id)
			}
		}
		own.WantNothing(time.Second)
		smsc.Part()
		s.WantValue(1, "smpponce_session_ends_total", "reason", "esme_silent")
	})
}

// soleBind is an SMSC that has one bind of an account at a time, and answers each submission after a moment, on the connection that it came on.
type soleBind struct {
	s     *stage.Stage
	delay time.Duration

	mu      sync.Mutex
	stands  *stage.Peer
	refused int
	taken   map[string]int // by text
}

func (o *soleBind) serve() {
	for {
		p, err := o.s.TryAccept()
		if err != nil {
			return
		}
		go o.talk(p)
	}
}

func (o *soleBind) talk(p *stage.Peer) {
	for {
		f, err := p.Within(time.Hour)
		if err != nil {
			break
		}
		status := wire.OK
		o.mu.Lock()
		switch f.Command() {
		case wire.BindTransceiver:
			if status = wire.AlreadyBound; o.stands == nil {
				o.stands, status = p, wire.OK
			} else {
				o.refused++
			}
		case wire.Unbind:
			o.stands = nil
		case wire.SubmitSM:
			m, _ := wire.ParseMessage(f.Body())
			o.taken[string(m.Text)]++
			time.AfterFunc(o.delay, func() { _, _ = p.Write(stage.Answer(f, string(m.Text))) })
			o.mu.Unlock()
			continue
		}
		o.mu.Unlock()
		if f.Command()&wire.Response == 0 {
			_, _ = p.Write(wire.New(f.Command()|wire.Response, status, f.Sequence(), []byte(stage.BindResp)))
		}
	}
	o.mu.Lock()
	if o.stands == p {
		o.stands = nil
	}
	o.mu.Unlock()
	_ = p.Close()
}

// A client breaks in the midst of each window, is back 2 ms later and repeats what it has not been answered.
func TestWithAnSMSCThatAllowsOneBindAClientThatIsBackAtOnceMeetsNoGhostOfItsOwn(t *testing.T) {
	t.Parallel()
	for how, leave := range map[string]func(*stage.Peer){"FIN": func(p *stage.Peer) { _ = p.Close() }, "reset": (*stage.Peer).Reset} {
		t.Run(how+", in memory", func(t *testing.T) {
			stage.InBubble(t, nil, func(s *stage.Stage) { meetNoGhost(s, leave) })
		})
		t.Run(how+", over TCP", func(t *testing.T) {
			s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
			defer s.Close()
			meetNoGhost(s, leave)
		})
	}
}

func meetNoGhost(s *stage.Stage, leave func(*stage.Peer)) {
	t := s.T
	smsc := &soleBind{s: s, delay: 5 * time.Millisecond, taken: map[string]int{}}
	go smsc.serve()
	const breaks, window = 100, 10
	var open []string // not answered yet
	answered := 0
	for i := range breaks {
		esme := s.Back("acme") // a refusal fails the test
		for j := range window {
			open = append(open, fmt.Sprint(i, "/", j))
		}
		asked := map[uint32]string{}
		for _, text := range open {
			asked[esme.Submit(stage.Message(text))] = text
		}
		stay := time.Duration(i%8) * time.Millisecond // it leaves before, between and after the answers
		if i == breaks-1 {
			stay = time.Minute
		}
		by := time.Now().Add(stay)
		for len(asked) > 0 {
			f, err := esme.Within(time.Until(by))
			if err != nil {
				break
			}
			if f.Command() == wire.EnquireLink {
				continue
			}
			text := asked[f.Sequence()]
			if f.Command() != wire.SubmitSM|wire.Response || f.Status() != wire.OK || f.ID() != text {
				t.Fatalf("%s was answered with command %#x, status %#x, id %s", text, f.Command(), f.Status(), f.ID())
			}
			delete(asked, f.Sequence())
			answered++
		}
		open = slices.Collect(maps.Values(asked))
		leave(esme)
		time.Sleep(2 * time.Millisecond)
	}
	if answered != breaks*window || len(open) > 0 {
		t.Errorf("%d answers, %d messages without one; want %d and none", answered, len(open), breaks*window)
	}
	smsc.mu.Lock()
	defer smsc.mu.Unlock()
	for text, n := range smsc.taken {
		if n != 1 {
			t.Errorf("the SMSC got %s %d times", text, n)
		}
	}
	if len(smsc.taken) != breaks*window {
		t.Errorf("the SMSC got %d messages, want %d", len(smsc.taken), breaks*window)
	}
	t.Logf("%v legs were adopted; the SMSC refused %d binds, of which the client heard nothing",
		s.Value("smpponce_binds_total", "result", "adopted"), smsc.refused)
}
