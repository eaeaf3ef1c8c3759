package ledger

import (
	"testing"
	"time"
)

func TestWhatIsSpentAbsorbsNothingAndIsCountedOnce(t *testing.T) {
	for name, happens := range map[string]func(*rig){"at once": func(*rig) {}, "after a restart": func(r *rig) { r.kill(0) }} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			m := r.lose("A")
			s := r.bind("acme")
			r.wait(20 * time.Minute)
			s.submit("A").isForwarded(1).accept("2") // its time was over: a new message, but perhaps the same
			r.wait(time.Second)
			happens(r)
			before := r.metric("smpponce_in_doubt_resent_total")
			r.bind("acme").submit("A").isForwarded(1).accept("3")
			if after := r.metric("smpponce_in_doubt_resent_total"); after != before {
				t.Errorf("resent %v times, want %v", after, before)
			}
			r.isInDoubt(1)
			r.ask(m.receipt("1"), 0).isKnownAs("1")
			r.isInDoubt(0)
			if n := len(r.l.book.spent); n != 0 {
				t.Errorf("%d spent", n)
			}
		})
	}
}

func TestARequestIDLeadsToTheRecordThatIsKeptForItsReceipts(t *testing.T) {
	r := newRig(t)
	r.supersede("A", withID("a"))
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("1", Replay)
	if b := r.l.book; b.live != 1 || len(b.nameless) != 1 {
		t.Errorf("%d live, %d destinations in doubt, want one", b.live, len(b.nameless))
	}
	r.wait(25 * time.Hour) // longer than window: the id may be used again
	m := r.bind("acme").submit("A", withID("a")).isForwarded(1)
	m.accept("2")
	r.ask(m.receipt("1"), 0).isKnownAs("1")
	r.l.Finished("acme", []byte("1"), Failed) // the older one is written down again
	r.run()
	r.bind("acme").submit("A", withID("a")).isForwarded(0).isAnswered("2", Replay)
}

func TestAnAnswerThatWasLostMakesWhatIsSpentAbsorbAgain(t *testing.T) {
	for name, lose := range map[string]func(*rig, *binding, *message){
		"with its session": func(_ *rig, s *binding, m *message) { s.end(Vanished, m.unacked()) },
		"by a kill":        func(r *rig, _ *binding, _ *message) { r.kill(0) },
		"by a kill, after a checkpoint": func(r *rig, _ *binding, _ *message) {
			r.checkpoint()
			r.bind("acme")
			r.kill(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.lose("A")
			r.wait(time.Minute)
			s := r.bind("acme")
			m := s.submit("A").isForwarded(1)
			m.accept("1")
			lose(r, s, m)
			s = r.bind("acme")
			s.submit("A").isForwarded(0).isAnswered("1", Replay)
			s.submit("A").isForwarded(1)
		})
	}
}
