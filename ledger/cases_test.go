package ledger

import (
	"fmt"
	"testing"
	"time"
)

// Sequences that broke earlier drafts of the rules, as far as they can be told at the ledger.

func TestAScriptPerMessageThatUnbindsIsForwardedEachTime(t *testing.T) {
	r := newRig(t)
	for i := range 5 {
		s := r.bind("acme")
		m := s.submit("alarm").isForwarded(1)
		r.wait(20 * time.Millisecond)
		m.accept(fmt.Sprint(i))
		m.isAnswered(fmt.Sprint(i), Forward)
		s.end(Unbound, m.read())
		s.endLeg()
		r.wait(10 * time.Minute)
	}
}

func TestAReceiptLeftUnreadExplainsTheResetOfAScript(t *testing.T) {
	r := newRig(t)
	for i := range 3 {
		s := r.bind("acme")
		m := s.submit("alarm").isForwarded(1)
		m.accept(fmt.Sprint(i))
		m.isAnswered(fmt.Sprint(i), Forward)
		r.wait(300 * time.Millisecond)
		s.endWith(End{How: Reset, DeliverUnanswered: true, Answers: []Answered{m.read()}})
		s.endLeg()
		r.wait(5 * time.Minute)
	}
}

func TestAResetRightAfterAnAnswerLosesIt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("alarm")
	m.accept("77")
	r.wait(300 * time.Millisecond)
	s.end(Reset, m.read())
	r.bind("acme").submit("alarm").isForwarded(0).isAnswered("77", Replay)
}

func TestWhatWasAnsweredBeforeTheSMSCLegDiedWasRead(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m, lost := s.submit("alarm"), s.submit("unanswered")
	m.accept("77")
	r.wait(500 * time.Millisecond)
	s.endLeg()
	s.end(ByProxy, m.read())
	s = r.bind("acme")
	s.submit("alarm").isForwarded(1)
	s.submit("unanswered").isForwarded(0).waits()
	lost.waits()
}

func TestCrosswiseJoinsAreAllAnswered(t *testing.T) {
	r := newRig(t)
	one, two := r.bind("acme"), r.bind("acme")
	// Four submissions are there before any is decided.
	all := []*message{
		one.queue("A", withID("a")), two.queue("B", withID("b")),
		one.queue("B", withID("b")), two.queue("A", withID("a")),
	}
	r.run()
	forwarded := 0
	for i, m := range all {
		forwarded += len(m.forwards)
		if len(m.forwards) > 0 {
			m.accept(fmt.Sprint(i))
		}
	}
	if forwarded != 2 {
		t.Errorf("%d at the SMSC, want 2", forwarded)
	}
	all[0].isAnswered("0", Forward)
	all[1].isAnswered("1", Forward)
	all[2].isAnswered("1", Replay)
	all[3].isAnswered("0", Replay)
}

func TestAPoolThatLosesOneConnectionSendsTheSameAlarmTomorrow(t *testing.T) {
	for _, c := range []struct {
		after    time.Duration
		absorbed bool
	}{{11 * time.Minute, true}, {11*time.Minute + 1, false}, {24 * time.Hour, false}} { // client_timeout and content_window
		t.Run(c.after.String(), func(t *testing.T) {
			r := newRig(t)
			pool := []*binding{r.bind("acme"), r.bind("acme"), r.bind("acme")}
			m := pool[0].submit("alarm")
			pool[0].end(Reset)
			m.accept("77")
			r.wait(c.after)
			again := pool[1].submit("alarm")
			if c.absorbed {
				again.isForwarded(0).isAnswered("77", Replay)
			} else {
				again.isForwarded(1)
			}
		})
	}
}

func TestAReceiverThatComesBackDoesNotStartTheWindowOfItsTransmitter(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			r := newRig(t)
			transmitter := r.bind("acme")
			receiver := r.bindAs("acme", false)
			m := transmitter.submit("A")
			transmitter.end(Reset)
			receiver.end(Reset)
			m.accept("77")
			r.at(1)
			r.bindAs("acme", false)
			r.at(500)
			if restart {
				r.kill(0)
				r.bindAs("acme", false)
			}
			r.at(1000)
			s := r.bind("acme")
			r.at(1600)
			s.submit("A").isForwarded(0).isAnswered("77", Replay)
		})
	}
}

func TestAnAnswerReadBeforeAKillIsNotReplayed(t *testing.T) {
	for _, c := range []struct {
		before time.Duration // the kill, after the answer
		replay bool
	}{{0, true}, {200 * time.Millisecond, true}, {251 * time.Millisecond, false}, {time.Second, false}} {
		t.Run(c.before.String(), func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			m := s.submit("A")
			m.accept("77")
			m.isAnswered("77", Forward)
			r.wait(c.before)
			r.kill(time.Second)
			again := r.bind("acme").submit("A")
			if c.replay {
				again.isForwarded(0).isAnswered("77", Replay)
			} else {
				again.isForwarded(1)
			}
		})
	}
}

// The answer was decided, and given when its batch was written. What counts is when it was given.
func TestAnAnswerThatTheDiskHeldUpIsReplayedAfterAKillRightBehindIt(t *testing.T) {
	for before, replay := range map[time.Duration]bool{0: true, 50 * time.Millisecond: true, 300 * time.Millisecond: false} {
		for _, busy := range []bool{false, true} {
			r := newRig(t)
			s := r.bind("acme")
			m := s.submit("A")
			r.wait(time.Millisecond)
			r.hang = true
			m.accept("77")
			r.wait(time.Second)
			r.hang = false
			r.finish(nil)
			m.isAnswered("77", Forward)
			if busy {
				s.submit("B")
			}
			r.wait(before)
			if busy {
				s.submit("C")
			}
			r.kill(time.Second)
			again := r.bind("acme").submit("A")
			if replay {
				again.isForwarded(0).isAnswered("77", Replay)
			} else {
				again.isForwarded(1)
			}
		}
	}
}

func TestASlowSMSCMakesNoResubmissions(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var alarms []*message
	for i := range 20 {
		r.at(float64(10 * i))
		alarms = append(alarms, s.submit("alarm").isForwarded(1))
		if i >= 5 { // every answer takes 50 s
			alarms[i-5].accept(fmt.Sprint(i - 5))
			alarms[i-5].isAnswered(fmt.Sprint(i-5), Forward)
		}
	}
	if got := r.metric("smpponce_identical_in_flight_total"); got != 19 {
		t.Errorf("identical in flight %v, want 19", got)
	}
}

func TestFireAndForgetIsMostlySuppressed(t *testing.T) {
	r := newRig(t)
	forwarded := 0
	for i := range 10 {
		s := r.bind("acme")
		m := s.submit("backup done")
		if len(m.forwards) > 0 {
			forwarded++
			s.end(Reset)
			m.accept(fmt.Sprint(i))
		} else {
			s.end(Reset, m.unacked())
		}
		r.wait(time.Minute)
	}
	if forwarded != 1 {
		t.Errorf("%d of 10 forwarded; want 1: inherent, and told to users", forwarded)
	}
	if got := r.metric(`smpponce_resubmissions_total{key="content",state="accepted",verdict="replay"}`); got != 9 {
		t.Errorf("the metric shows %v, want 9", got)
	}
}

func TestAConstantRequestIDIsNoReference(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	var all []*message
	for i := range 100 {
		m := s.submit(fmt.Sprint("text ", i), withID("DLT-1234"))
		m.isForwarded(1)
		all = append(all, m)
	}
	for i, m := range all {
		m.accept(fmt.Sprint(i))
		m.isAnswered(fmt.Sprint(i), Forward)
	}
	s.submit("text 7", withID("DLT-1234")).isForwarded(1) // content rules: nothing was lost
	if got := r.metric("smpponce_key_mismatches_total"); got != 1 {
		t.Errorf("mismatches %v, want 1: once known it is no id", got)
	}
}
