package ledger

import (
	"fmt"
	"testing"
	"time"
)

func TestAReceiptFindsItsMessageInMemoryAndInTheStore(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.hang = true // its outcome is not committed yet
	m.accept("77")
	r.look("acme", "77", m.Destination, 0)
	r.release(nil)
	r.wait(time.Second)
	if n := len(r.l.book.ids); n != 0 {
		t.Errorf("%d ids are kept in memory, want none", n)
	}
	r.look("acme", "77", m.Destination, 0)
	r.kill(48 * time.Hour)
	r.look("acme", "77", m.Destination, 0)
	r.look("acme", "76", m.Destination, 0)
	if got := r.found["77"]; fmt.Sprint(got) != "[{true [55 55]} {true [55 55]} {true [55 55]}]" {
		t.Errorf("77 is found as %v, want itself three times", got)
	}
	if got := r.found["76"]; len(got) != 1 || got[0].Known {
		t.Errorf("76 is found as %v, want unknown", got)
	}
}

func TestAReceiptIsToldAfterTheAnswerThatItOvertook(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	answersThen := -1
	r.l.Lookup("acme", &Receipt{ID: []byte("77"), Destination: m.Destination}, 3*time.Second, func(f Found) {
		answersThen = len(m.answers)
		if !f.Known || string(f.ESMEID) != "77" {
			t.Errorf("found %+v", f)
		}
	})
	r.run()
	r.wait(2 * time.Second)
	if answersThen != -1 {
		t.Fatal("told before the answer came")
	}
	r.hang = true
	m.accept("77")
	r.release(nil)
	if answersThen != 1 {
		t.Errorf("told after %d answers, want 1", answersThen)
	}
}

func TestAReceiptWaitsNoLongerThanItMay(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.look("acme", "77", m.Destination, 3*time.Second)
	r.look("acme", "78", m.Destination, time.Second)
	r.look("acme", "79", m.Destination, 0)
	r.look("acme", "80", s.h.Address([]byte("elsewhere")), 3*time.Second)
	for id, want := range map[string]int{"77": 0, "78": 0, "79": 1, "80": 1} {
		if got := len(r.found[id]); got != want {
			t.Errorf("%s told %d times at once, want %d", id, got, want)
		}
	}
	r.at(1)
	if len(r.found["78"]) != 1 {
		t.Error("78 waits too long")
	}
	r.at(3)
	m.accept("77")
	for _, id := range []string{"77", "78", "79", "80"} {
		if got := r.found[id]; len(got) != 1 || got[0].Known {
			t.Errorf("%s is told as %v, want unknown, once", id, got)
		}
	}
	if n := r.l.book.parked; n != 0 {
		t.Errorf("%d parked", n)
	}
}

func TestAnAnswerAndTheStoreBothKnowButAReceiptIsToldOnce(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	m := s.submit("A")
	r.reading = true
	r.look("acme", "77", m.Destination, 3*time.Second)
	m.accept("77")
	if got := r.found["77"]; len(got) != 1 || !got[0].Known {
		t.Fatalf("found %v", got)
	}
	r.reading = false
	r.run()
	r.wait(time.Minute)
	if got := r.found["77"]; len(got) != 1 {
		t.Errorf("told %d times", len(got))
	}
}

func TestParkedReceiptsAreBounded(t *testing.T) {
	r := newRig(t)
	m := r.bind("acme").submit("A")
	for i := range maxParked + 5 {
		r.l.Lookup("acme", &Receipt{ID: []byte(fmt.Sprint(i)), Destination: m.Destination}, time.Hour, func(f Found) { r.found["all"] = append(r.found["all"], f) })
	}
	r.run()
	if got := len(r.found["all"]); got != 5 {
		t.Errorf("%d told at once, want the 5 beyond the bound", got)
	}
}

func TestTheReceiptOfAnUntoldAttemptGoesUnderTheToldID(t *testing.T) {
	r := newRig(t)
	s := r.bind("acme")
	first := s.submit("A")
	s.end(Closed)
	s2 := r.bind("acme")
	r.at(60 + 600) // in doubt on a leg that lives, past its deadline
	second := s2.submit("A").isForwarded(1)
	second.accept("2")
	second.isAnswered("2", Forward)
	first.accept("1")
	for range 2 {
		for _, id := range []string{"1", "2"} {
			r.look("acme", id, first.Destination, 0)
			if got := r.found[id]; string(got[len(got)-1].ESMEID) != "2" {
				t.Errorf("%s is found as %v, want 2", id, got)
			}
		}
		r.kill(time.Hour)
	}
}

func TestWhatWasNotDeliveredMayBeSentAgain(t *testing.T) {
	for name, when := range map[string]func(*rig, *message){
		"while it is in memory": func(r *rig, _ *message) {},
		"from the store":        func(r *rig, _ *message) { r.wait(time.Hour) },
		"after a restart":       func(r *rig, _ *message) { r.kill(time.Second); r.bind("acme") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.bind("acme")
			m := s.submit("A", withID("a"))
			m.accept("77")
			when(r, m)
			r.l.Finished("acme", []byte("77"), Expired)
			r.l.Finished("acme", []byte("unknown"), Failed)
			r.run()
			r.kill(time.Second)
			s = r.bind("acme")
			again := s.submit("A", withID("a")).isForwarded(1)
			again.accept("78")
			s.submit("A", withID("a")).isForwarded(0).isAnswered("78", Replay)
			if got := r.metric(`smpponce_resubmissions_total{key="explicit",state="undelivered",verdict="forward"}`); got != 1 {
				t.Errorf("forwarded because undelivered %v times, want 1", got)
			}
			for _, id := range []string{"77", "78"} {
				r.look("acme", id, m.Destination, 0)
				if got := r.found[id]; string(got[0].ESMEID) != id {
					t.Errorf("%s is found as %v, want itself: the ESME was told both", id, got)
				}
			}
		})
	}
}

func TestAReceiptOfFailureCountsThoughTheAnswerBeforeItWasLost(t *testing.T) {
	r := newRig(t)
	transmitter, receiver := r.bind("acme"), r.bindAs("acme", false)
	m := transmitter.submit("A")
	m.accept("77")
	r.wait(time.Second) // memory has let go of it
	r.l.Finished("acme", []byte("77"), Failed)
	r.run()
	transmitter.end(Vanished, m.unacked())
	receiver.end(Unbound)
	r.bind("acme").submit("A").isForwarded(1) // the message was not delivered
}

func TestARecordFromTheStoreHasNoAttemptInFlight(t *testing.T) {
	r := newRig(t, func(_ *Options, p *Policy) { p.OnInDoubt = ForwardInDoubt })
	s := r.bind("acme")
	first := s.submit("A", withID("a"))
	m := s.submit("A", withID("a"))
	r.at(121) // in doubt on a leg that lives, and forwarded again
	m.isForwarded(1)
	first.accept("77")
	m.isAnswered("77", Replay)
	r.kill(0)
	r.wait(time.Minute)
	r.l.Finished("acme", []byte("77"), Expired)
	r.run()
	s = r.bind("acme")
	m = s.submit("A", withID("a")).isForwarded(1) // the second attempt is in doubt, not in flight
	m.accept("78")
	m.isAnswered("78", Forward)
}
