package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// resolve is an operator's word; heard is nil until it is on the disk.
func (r *rig) resolve(n Number, as Resolution, id string) (heard *error) {
	r.Helper()
	heard = new(error)
	*heard = errUnheard
	r.l.queue.add(event{kind: called, call: func(now Time) { r.l.book.resolve(n, as, []byte(id), func(err error) { *heard = err }, now) }})
	r.run()
	return heard
}

var errUnheard = errors.New("not heard yet")

func (r *rig) resolved(n Number, as Resolution, id string) {
	r.Helper()
	if err := *r.resolve(n, as, id); err != nil {
		r.Fatalf("as %s: %v", as, err)
	}
}

func TestAnOperatorsWordSettlesWhatIsInDoubt(t *testing.T) {
	for _, policy := range []DoubtPolicy{Hold, RefuseInDoubt} {
		for name, c := range map[string]struct {
			as    Resolution
			id    string
			check func(*rig, *message)
		}{
			"accepted":            {ResolveAccepted, "77", func(_ *rig, m *message) { m.isForwarded(0).isAnswered("77", Replay) }},
			"accepted without id": {ResolveAccepted, "", func(_ *rig, m *message) { m.isForwarded(0).isAnswered("", Replay) }},
			"rejected": {ResolveRejected, "", func(r *rig, m *message) {
				m.isForwarded(1)
				if got := r.metric("smpponce_in_doubt_resent_total"); got != 0 {
					t.Errorf("resent in doubt %v, want none: it was not accepted", got)
				}
			}},
			"released": {ResolveReleased, "", func(r *rig, m *message) {
				m.isForwarded(1)
				if got := r.metric("smpponce_in_doubt_resent_total"); got != 1 {
					t.Errorf("resent in doubt %v, want 1", got)
				}
			}},
		} {
			for _, restart := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", policy ", policy, ", restart ", restart), func(t *testing.T) {
					r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = policy })
					n := r.lose("A").forwards[0]
					r.resolved(n, c.as, c.id)
					if c.as != ResolveReleased {
						r.isSettled(ByOperator, 1)
						r.isInDoubt(0)
					} else {
						r.isInDoubt(1)
					}
					if restart {
						r.cutPower(time.Second)
					}
					c.check(r, r.bind("acme").submit("A"))
				})
			}
		}
	}
}

func TestAnOperatorsWordReachesWhoIsHeld(t *testing.T) {
	for as, check := range map[Resolution]func(*message){
		ResolveAccepted: func(m *message) { m.isForwarded(0).isAnswered("77", Replay) },
		ResolveRejected: func(m *message) { m.isForwarded(1).waits() },
		ResolveReleased: func(m *message) { m.isForwarded(1).waits() },
	} {
		r := newRig(t)
		n := r.lose("A", withID("a")).forwards[0]
		m := r.bind("acme").submit("A", withID("a")).waits()
		r.resolved(n, as, map[Resolution]string{ResolveAccepted: "77"}[as])
		check(m)
	}
}

func TestAReleaseIsForOneAttempt(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = RefuseInDoubt })
	r.resolved(r.lose("A").forwards[0], ResolveReleased, "")
	r.lose("A")
	r.bind("acme").submit("A").isForwarded(0).isSentBack()
}

func TestAnOperatorsWordIsHeardOnceItIsOnTheDisk(t *testing.T) {
	r := newRig(t)
	n := r.lose("A").forwards[0]
	r.slow = true
	heard := r.resolve(n, ResolveAccepted, "77")
	if *heard != errUnheard {
		t.Fatalf("heard %v before the sync", *heard)
	}
	r.release(nil)
	if *heard != nil {
		t.Fatalf("heard %v", *heard)
	}

	n = r.lose("B").forwards[0]
	r.broken = errDisk
	if heard = r.resolve(n, ResolveRejected, ""); !errors.Is(*heard, errDisk) {
		t.Errorf("heard %v, want the disk's error", *heard)
	}
	if heard = r.resolve(n, ResolveRejected, ""); !errors.Is(*heard, ErrNotInDoubt) {
		t.Errorf("heard %v", *heard)
	}
}

func TestAnOperatorsWordIsRefusedWhileTheLedgerCannotWrite(t *testing.T) {
	r := newRig(t)
	n := r.lose("A").forwards[0]
	r.broken = errDisk
	r.bind("acme")
	if err := *r.resolve(n, ResolveRejected, ""); !errors.Is(err, ErrUnwritable) {
		t.Errorf("heard %v", err)
	}
	r.isInDoubt(1)
}

func TestWhatAnOperatorCannotSettle(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	flying := s.submit("A").forwards[0]
	accepted := s.submit("B", to("elsewhere"))
	accepted.accept("1")
	n := r.lose("C").forwards[0]
	r.supersede("D")
	for name, c := range map[string]struct {
		n    Number
		as   Resolution
		id   string
		want error
	}{
		"no such number":             {99, ResolveAccepted, "", ErrUnknown},
		"in flight":                  {flying, ResolveRejected, "", ErrNotInDoubt},
		"accepted long ago":          {accepted.forwards[0], ResolveAccepted, "", ErrUnknown},
		"superseded":                 {n + 1, ResolveAccepted, "", ErrNotInDoubt},
		"under another message's id": {n, ResolveAccepted, "1", ErrMessageID},
		"under too long an id":       {n, ResolveAccepted, fmt.Sprintf("%065d", 1), ErrMessageID},
		"under an id with a NUL":     {n, ResolveAccepted, "1\x00", ErrMessageID},
		"rejected with an id":        {n, ResolveRejected, "77", ErrMessageID},
	} {
		if err := *r.resolve(c.n, c.as, c.id); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	r.isInDoubt(1)
}

func TestWhatAnOperatorSettledWithoutAnIDMayGetAReceiptStill(t *testing.T) {
	for name, as := range map[string]Resolution{"accepted": ResolveAccepted, "rejected": ResolveRejected} {
		for when, happens := range between {
			t.Run(name+", "+when, func(t *testing.T) {
				r := newRig(t)
				settled := r.lose("A")
				r.resolved(settled.forwards[0], as, "")
				other := r.lose("B")
				happens(r)
				r.ask(other.receipt("77"), 0).isUnknown() // it may be A's
			})
		}
	}
}

func TestTheSMSCsOwnAnswerCompletesOrContradictsAnOperatorsWord(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.at(130)
	r.resolved(m.forwards[0], ResolveAccepted, "")
	r.lose("C")
	q := r.ask(m.receipt("77"), 3*time.Second).waits()
	m.accept("77")
	r.wait(3 * time.Second)
	q.isKnownAs("77")
	r.isInDoubt(1) // it is not taken for C's
	s.submit("A").isForwarded(0).isAnswered("", Replay)
	r.ask(m.receipt("77"), 0).isKnownAs("77")

	m = s.submit("B")
	r.wait(130 * time.Second)
	r.resolved(m.forwards[0], ResolveRejected, "")
	m.accept("78")
	s.submit("B").isForwarded(0).isAnswered("78", Replay)
	s.endBoth()
	r.isInDoubt(1)
}

func TestDoubtsAreListedWithWhatHappensNextTheOldestFirst(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	first := s.submit("A")
	r.at(10)
	second := r.lose("B", withID("b"), withoutReceipt)
	s.submit("C", to("elsewhere")).accept("1")
	r.supersede("D") // takes a minute
	r.at(121)
	back := r.bind("acme").submit("A").isSentBack()
	list := r.l.book.doubts()
	if len(list) != 2 || list[0].Number != first.forwards[0] || list[1].Number != second.forwards[0] {
		t.Fatalf("listed %+v", list)
	}
	r.isInDoubt(2)
	a, b := list[0], list[1]
	if a.State != InDoubt || a.Waiting != 1 || a.Deadline != rigStart.Add(660*time.Second) || a.Attempts[0].Evidence != ByDeadline || a.Masked != "*******1234" {
		t.Errorf("the first is told as %+v", a)
	}
	if len(a.History) != 1 || a.History[0].At != back.At || a.History[0].Verdict != Retry || a.Standing.At != first.At {
		t.Errorf("its submissions are told as %+v and %+v", a.History, a.Standing)
	}
	if b.Waiting != 0 || b.Deadline != rigStart.Add(70*time.Second) || b.Attempts[0].Evidence != ByLegEnd || !b.Key.Explicit || b.ReceiptRequested {
		t.Errorf("the second is told as %+v", b)
	}
	a.Attempts[0].State = Accepted // a copy
	r.isInDoubt(2)
	if r.l.book.doubts()[0].State != InDoubt {
		t.Error("a story is no copy")
	}
	r.wait(30 * time.Hour)
	if list = r.l.book.doubts(); len(list) != 2 || list[0].Deadline == 0 || list[1].Deadline != 0 {
		t.Errorf("a day later %+v", list)
	}
}

func TestOperatorsAreAnsweredByARunningLedgerAndByAClosedOne(t *testing.T) {
	ctx := context.Background()
	l := open(t, testOptions(t, t.TempDir()))
	e := newESME(t, l, "acme")
	n := e.submit("A").forwarded()
	l.CloseLeg(e.leg)
	list, err := l.Doubts(ctx)
	if err != nil || len(list) != 1 || list[0].Number != n {
		t.Fatalf("%+v, %v", list, err)
	}
	before := l.store.syncs.Load()
	if err := l.Resolve(ctx, n, ResolveAccepted, []byte("77")); err != nil {
		t.Fatal(err)
	}
	if l.store.syncs.Load() == before {
		t.Error("an operator's word was not synced")
	}
	if err := l.Resolve(ctx, n, ResolveAccepted, nil); !errors.Is(err, ErrNotInDoubt) && !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Doubts(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	blocked := &Ledger{stopped: make(chan struct{})}
	blocked.queue.init()
	if err := blocked.Resolve(ended, n, ResolveAccepted, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
