package ledger

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestAHoldThatEndsLeavesTheRecordInDoubt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A").isForwarded(1)
	s.endBoth()
	s = r.bind("acme")
	r.at(10)
	second := s.submit("A").isForwarded(0).waits()
	r.at(12.9)
	second.waits()
	r.at(13)
	second.isSentBack()
	r.at(59)
	s.submit("A").isForwarded(0).isSentBack()
	r.at(70)
	third := s.submit("A").isForwarded(1)
	if got := r.metric("smpponce_in_doubt_resent_total"); got != 1 {
		t.Errorf("resent in doubt %v times, want 1", got)
	}
	third.accept("77")
	third.isAnswered("77", Forward)
	s.submit("A").isForwarded(1)
	m.waits()
}

func TestARefusalThatEndsTheWindowIsStillARefusal(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = RefuseInDoubt })
	s := r.bind("acme")
	s.submit("A").isForwarded(1)
	s.endBoth()
	s = r.bind("acme")
	for _, at := range []float64{10, 70, 590, 700, 3700, 80000} {
		r.at(at)
		s.submit("A").isForwarded(0).isSentBack()
	}
	r.at(day + 1)
	s.submit("A").isForwarded(1)
	if got := r.metric("smpponce_in_doubt_resent_total"); got != 1 {
		t.Errorf("resent in doubt %v times, want 1", got)
	}
}

func TestAnAnswerThatNeverComesLetsNobodyWaitForEver(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.InDoubtDeadline = 240 * time.Second })
	s := r.bind("acme")
	m := s.submit("A").isForwarded(1)
	r.at(60)
	if got := r.metric("smpponce_overdue_submissions"); got != 1 {
		t.Errorf("overdue %v, want 1", got)
	}
	r.at(148)
	second := s.submit("A").isForwarded(0).waits()
	r.at(296)
	third := s.submit("A").isForwarded(0).waits()
	r.at(299.9)
	m.waits()
	second.waits()
	third.waits()
	r.at(300) // response_timeout + in_doubt_deadline: the first is held, later ones don't wait
	m.waits()
	second.isSentBack()
	third.isSentBack()
	r.at(303)
	m.isSentBack()
	r.at(400)
	s.submit("A").isForwarded(0).isSentBack()
	r.at(60 + 10*240)
	resent := s.submit("A").isForwarded(1)
	resent.accept("78")
	resent.isAnswered("78", Forward)
	m.accept("77") // five minutes late and more
	if got := r.metric("smpponce_late_responses_total"); got != 1 {
		t.Errorf("late %v, want 1", got)
	}
	r.look("acme", "77", m.Destination, 0)
	if got := r.found["77"]; len(got) != 1 || string(got[0].ESMEID) != "78" {
		t.Errorf("77 is found as %v, want 78: the id that the ESME was told", got)
	}
}

func TestALateAnswerReachesTheSubmissionThatIsHeldForIt(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(121)
	m.waits().accept("77")
	m.isAnswered("77", Replay)
	if got := r.metric(`smpponce_in_doubt_settled_total{evidence="late_response"}`); got != 1 {
		t.Errorf("settled by a late answer %v, want 1", got)
	}
	r.at(180)
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
}

func TestALateAnswerAfterTheHoldIsThereForTheNextRepeat(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(123)
	m.isSentBack()
	m.accept("77")
	r.at(125)
	s.submit("A").isForwarded(0).isAnswered("77", Replay)
	s.submit("A").isForwarded(1)
}

func TestAWaiterOfADyingLegIsDecidedAnew(t *testing.T) {
	for policy, check := range map[DoubtPolicy]func(*rig, *message){
		Hold: func(r *rig, m *message) {
			m.waits()
			r.wait(3 * time.Second)
			m.isForwarded(0).isSentBack()
		},
		RefuseInDoubt: func(_ *rig, m *message) { m.isForwarded(0).isSentBack() },
		ForwardInDoubt: func(_ *rig, m *message) {
			m.isForwarded(1).waits()
			m.accept("78")
			m.isAnswered("78", Forward)
		},
	} {
		t.Run(fmt.Sprint("policy ", policy), func(t *testing.T) {
			r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = policy })
			s := r.bind("acme")
			s.submit("A").isForwarded(1)
			s.end(Closed)
			r.at(1)
			second := r.bind("acme")
			m := second.submit("A").isForwarded(0).waits()
			r.at(2)
			s.endLeg()
			check(r, m)
		})
	}
}

func TestARejectedSecondAttemptDoesNotFreeWhatIsInDoubt(t *testing.T) {
	for name, spoil := range map[string]func(*rig, *binding, *message){
		"rejected": func(_ *rig, _ *binding, m *message) {
			m.reject(0x58)
			m.isRefused(0x58, Forward)
		},
		"never sent": func(r *rig, s *binding, m *message) {
			r.l.Unsent(m.last, false)
			r.run()
			s.endBoth()
			m.waits()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			s.submit("A").isForwarded(1)
			s.endBoth()
			s = r.bind("acme")
			r.at(61)
			spoil(r, s, s.submit("A").isForwarded(1))
			r.at(70)
			s = r.bind("acme")
			s.submit("A").isForwarded(1)
			if got := r.metric(`smpponce_resubmissions_total{key="content",state="in_doubt",verdict="forward"}`); got != 2 {
				t.Errorf("forwarded in doubt %v times, want 2: the doubt stands", got)
			}
			if got := r.metric("smpponce_in_doubt_resent_total"); got != 2 {
				t.Errorf("resent %v times, want 2", got)
			}
		})
	}
}

func TestTheProxySendsNothingAgainOfItsOwnAccord(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	r := newRig(t, func(o *Options, p *Policy) { p.OnInDoubt, o.Log = ForwardInDoubt, zap.New(core) })
	s := r.bind("acme")
	m := s.submit("A")
	r.at(119)
	joined := s.submit("A").isForwarded(0)
	r.at(3600) // the SMSC answers no submit_sm
	m.isForwarded(1).isSentBack()
	joined.isForwarded(1).isSentBack() // the client's own repeat was forwarded, once
	told := logs.FilterMessage("resubmission").FilterField(zap.Bool("resent_in_doubt", true)).Len()
	if n := r.metric("smpponce_in_doubt_resent_total"); told != 1 || n != 1 {
		t.Errorf("the log tells of %d and the metric of %v that were sent again in doubt, want 1", told, n)
	}
}
