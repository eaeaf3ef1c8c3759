package main

import (
	"bytes"
	"testing"
)

func TestMessagesAreUniqueInDestinationAndText(t *testing.T) {
	c := newComposer(7, 15)
	seen := make(map[string]bool)
	for number := range 1200 {
		frame := c.appendNext(nil, uint32(number)+1)
		if len(frame) != submitLength || !intact(frame) || sequence(frame) != uint32(number)+1 {
			t.Fatalf("message %d: %q", number, frame)
		}
		cell, bind, got, ok := splitReference(reference(frame))
		if !ok || cell != 7 || bind != 15 || got != number {
			t.Fatalf("reference of message %d: got %d, %d, %d, %v", number, cell, bind, got, ok)
		}
		for _, part := range [][]byte{frame[destinationAt:middleAt], frame[middleAt:]} {
			if seen[string(part)] {
				t.Fatalf("message %d repeats %q", number, part)
			}
			seen[string(part)] = true
		}
	}
}

func TestAMessageWithAnyByteOfItsBodyChangedIsNotIntact(t *testing.T) {
	c := newComposer(1, 2)
	frame := c.appendNext(nil, 3)
	for i := headerLength; i < len(frame); i++ {
		changed := bytes.Clone(frame)
		changed[i] ^= 1
		if intact(changed) {
			t.Errorf("octet %d changed: not noticed", i)
		}
	}
	if intact(frame[:len(frame)-1]) || intact(append(frame, 0)) {
		t.Error("a change of length was not noticed")
	}
}

func TestAMessageIsAsLongAsAUsualOne(t *testing.T) {
	if submitLength != 215 || textLength > 160 {
		t.Errorf("submit_sm of %d octets with a text of %d; want 215, and at most 160", submitLength, textLength)
	}
}

func TestWhatIsNoReferenceIsRefused(t *testing.T) {
	for _, text := range []string{"", "123456789012", "12345678901234", "123456789012x", "-234567890123"} {
		if _, _, _, ok := splitReference([]byte(text)); ok {
			t.Errorf("%q was taken for a reference", text)
		}
	}
}
