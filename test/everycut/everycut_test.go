// Package everycut breaks each of the two connections at every octet of what is submitted and of what is answered, both
// ways, by FIN and by reset, with a real ledger behind the proxy; one message, several, and several that nothing tells
// apart.
//
// Whatever was cut: the SMSC gets each message once, or again where it had it and its answer could not arrive, as
// on_in_doubt says; nothing is swallowed; nobody is answered twice, and nobody is left waiting.
package everycut

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/ledger"
	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// deadline is in_doubt_deadline: long enough that a client is told to try again a few times.
const deadline = 10 * time.Second

// The center answers promptly, but not before the cut of an answer is set; or late, when the client is back.
const (
	prompt = 5 * time.Millisecond
	late   = 5 * time.Second
)

// scene is what is cut at every octet.
type scene struct {
	texts  []string
	delay  time.Duration // of the center's answers
	policy ledger.DoubtPolicy
}

func (c scene) messages() (all []wire.Message) {
	for _, text := range c.texts {
		all = append(all, stage.Message(text))
	}
	return all
}

// patience is how long a client goes on trying: past the deadline, or, where there is none, a few times.
func (c scene) patience() time.Duration {
	if c.policy == ledger.RefuseInDoubt {
		return 3 * tryAgain
	}
	return 2 * deadline
}

// lengths are the octets of all submissions, and of all their answers.
func (c scene) lengths() (submits, answers int) {
	for _, m := range c.messages() {
		submits += len(m.Submit(1))
		answers += len(stage.Answer(m.Submit(1), "000001"))
	}
	return submits, answers
}

// cuts are all that a scene is played with. On the ESME leg nothing comes to be in doubt, so one policy will do there.
func (c scene) cuts() (all []*cut) {
	submits, answers := c.lengths()
	ways := []way{esmeToProxy, proxyToSMSC, smscToProxy, proxyToESME}
	if c.policy != ledger.Hold {
		ways = []way{proxyToSMSC, smscToProxy}
	}
	step := 1
	if len(c.texts) > 1 {
		step = stride
	}
	for _, w := range ways {
		length := submits
		if w == smscToProxy || w == proxyToESME {
			length = answers
		}
		ends := []end{fin, reset}
		if w == proxyToSMSC || w == proxyToESME {
			ends = []end{fin, reset, lostFIN, lostReset}
		}
		for _, e := range ends {
			for octets := 0; octets <= length; octets += step {
				if octets < length || e == fin || e == reset { // behind the last octet nothing is lost
					all = append(all, &cut{way: w, end: e, octets: octets})
				}
			}
		}
	}
	return all
}

var policies = map[string]ledger.DoubtPolicy{"hold": ledger.Hold, "forward": ledger.ForwardInDoubt, "refuse": ledger.RefuseInDoubt}

func TestACutAtAnyOctetCostsNoMessageAndNoDuplicateButWhatIsInDoubt(t *testing.T) {
	for name, texts := range map[string][]string{"one message": {"A"}, "three messages": {"A", "B", "C"}, "three alike": {"A", "A", "A"}} {
		for when, delay := range map[string]time.Duration{"answered at once": prompt, "answered after the client is back": late} {
			for on, policy := range policies {
				if delay == late && policy != ledger.Hold {
					continue // when a client is back means nothing to what its SMSC leg left in doubt
				}
				t.Run(fmt.Sprintf("%s, %s, %s", name, when, on), func(t *testing.T) {
					t.Parallel()
					play(t, scene{texts, delay, policy})
				})
			}
		}
	}
}

// play plays a scene with every cut, each for an account of its own, all on one ledger.
func play(t *testing.T, c scene) {
	stage.InBubble(t, func(set *stage.Settings) {
		set.Policy.OnInDoubt, set.Policy.InDoubtDeadline = c.policy, deadline
		set.Ledger.Sync = ledger.SyncNone // no power fails here
	}, func(s *stage.Stage) {
		smsc := &center{s: s, delay: c.delay}
		go smsc.serve()
		doubts := map[way]int{}
		for i, x := range c.cuts() {
			account := fmt.Sprint("acme", i)
			resent := s.Value("smpponce_in_doubt_resent_total")
			smsc.next(x)
			start := time.Now()
			esme := &client{s: s, account: account, messages: c.messages(), cut: x, comeBack: time.Second, until: c.patience()}
			esme.run()
			time.Sleep(late) // legs drain
			v := view{scene: c, cut: x, start: start, esme: esme, taken: smsc.of(account),
				resent: int(s.Value("smpponce_in_doubt_resent_total") - resent)}
			doubts[x.way] += v.check(t)
			if t.Failed() && testing.Short() {
				return
			}
		}
		// Or all this would show nothing.
		if doubts[proxyToSMSC] == 0 || doubts[smscToProxy] == 0 || doubts[esmeToProxy]+doubts[proxyToESME] > 0 {
			t.Errorf("in doubt were %v, want some on each way of the SMSC leg and none on the ESME leg", doubts)
		}
		s.WantValue(0, "smpponce_held_submissions")
		s.WantValue(0, "smpponce_overdue_submissions")
		s.WantValue(0, "smpponce_in_flight_requests")
		synctest.Wait()
	})
}

// view is what both ends saw.
type view struct {
	scene
	cut    *cut
	start  time.Time
	esme   *client
	taken  []taken
	resent int
}

// check says what is wrong, and how many messages were in doubt.
func (v view) check(t *testing.T) (doubts int) {
	t.Helper()
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%v: "+format, append([]any{v.cut}, args...)...)
	}
	for _, f := range v.esme.faults {
		wrong("%s", f)
	}
	texts := slices.Compact(slices.Sorted(slices.Values(v.texts)))
	for _, text := range texts {
		meant, copies, doubtful := 0, 0, 0
		told := map[string]int{} // id: how often
		for i, m := range v.texts {
			if m == text {
				meant++
				if id := v.esme.ids[i]; id != "" {
					told[id]++
				}
			}
		}
		known := map[string]bool{}
		for _, m := range v.taken {
			if m.text != text {
				continue
			}
			copies++
			if m.doubtful() {
				doubtful++
				continue
			}
			known[m.id] = true
			if doubtful > 0 && v.policy == ledger.Hold && copies > meant && m.at.Sub(v.start) < deadline {
				wrong("%q was sent again %v after the start, want not before the deadline of %v", text, m.at.Sub(v.start), deadline)
			}
		}
		doubts += doubtful
		for id, n := range told {
			if n > 1 || !known[id] {
				wrong("%q was answered %d times with id %s; ids whose answers arrived: %v", text, n, id, known)
			}
		}
		answered := len(told)
		switch v.policy {
		case ledger.Hold, ledger.ForwardInDoubt:
			if copies != meant+doubtful || answered != meant {
				wrong("%q: %d meant, %d in doubt, %d at the SMSC, %d answered; want %d at the SMSC and all answered", text, meant, doubtful, copies, answered, meant+doubtful)
			}
		case ledger.RefuseInDoubt:
			if copies > meant || answered != copies-doubtful {
				wrong("%q: %d meant, %d in doubt, %d at the SMSC, %d answered; want no copy, and an answer for each that is not in doubt", text, meant, doubtful, copies, answered)
			}
			if v.lossless() && copies != meant {
				wrong("%q: %d meant and %d at the SMSC: swallowed", text, meant, copies)
			}
		}
	}
	v.checkResent(wrong, doubts)
	return doubts
}

// lossless says that the proxy knows what has left its socket.
func (v view) lossless() bool {
	return v.cut.way != proxyToSMSC || v.cut.end == fin || v.cut.end == reset
}

// checkResent holds the metric of possible duplicates against the real ones. What a kernel lost may have been read for all that
// the proxy can know.
func (v view) checkResent(wrong func(string, ...any), doubts int) {
	switch {
	case v.policy == ledger.RefuseInDoubt && v.resent > 0:
		wrong("%d were sent again", v.resent)
	case v.policy == ledger.RefuseInDoubt:
	case v.lossless() && v.resent != doubts:
		wrong("the metric tells of %d sent again in doubt, want %d", v.resent, doubts)
	case v.resent < doubts || v.resent > len(v.texts):
		wrong("the metric tells of %d sent again in doubt, want %d to %d", v.resent, doubts, len(v.texts))
	}
	if doubts == 0 && v.lossless() && v.esme.told > 0 {
		wrong("told to try again %d times, though nothing was in doubt", v.esme.told)
	}
}
