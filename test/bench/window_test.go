package main

import (
	"testing"
	"time"
)

func TestSequenceNumbersCountUpWhileAnswersComeInOrder(t *testing.T) {
	w := newWindow(3)
	for want := uint32(1); want <= 10; want++ {
		sequence, ok := w.take(int(want), time.Time{})
		if !ok || sequence != want {
			t.Fatalf("take: got %d, %v, want %d", sequence, ok, want)
		}
		if number, _, ok := w.give(sequence); !ok || number != int(want) {
			t.Fatalf("give(%d): got %d, %v", sequence, number, ok)
		}
	}
}

func TestOnlyTheFirstAnswerToWhatIsOutCounts(t *testing.T) {
	w := newWindow(3)
	for number := range 3 {
		w.take(number, time.Unix(int64(number), 0))
	}
	if _, ok := w.take(3, time.Time{}); ok || w.unanswered() != 3 {
		t.Fatalf("a full window gave a slot; %d unanswered, want 3", w.unanswered())
	}
	for _, step := range []struct {
		sequence uint32
		number   int
		ok       bool
	}{
		{sequence: 0},
		{sequence: 4},
		{sequence: 0xFFFFFFFF},
		{sequence: 3, number: 2, ok: true},
		{sequence: 3},
		{sequence: 1, number: 0, ok: true},
	} {
		number, since, ok := w.give(step.sequence)
		if number != step.number || ok != step.ok || ok && since.Unix() != int64(number) {
			t.Errorf("give(%d): got %d, %v, %v; want %d, %v", step.sequence, number, since, ok, step.number, step.ok)
		}
	}
	// The slots of 3 and 1 are used again, in that order; an answer to their old numbers is a repeated one.
	for _, want := range []uint32{6, 4} {
		if got, ok := w.take(9, time.Time{}); !ok || got != want {
			t.Errorf("take: got %d, %v, want %d", got, ok, want)
		}
	}
	if _, _, ok := w.give(3); ok {
		t.Error("a repeated answer was taken for that of the slot's next message")
	}
	if w.unanswered() != 3 {
		t.Errorf("%d unanswered, want 3", w.unanswered())
	}
}
