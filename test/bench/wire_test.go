package main

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestFramesAreCutWhateverAReadBrings(t *testing.T) {
	var stream []byte
	for i := range uint32(500) { // more than one buffer
		stream = appendFrame(stream, submitSM, 0, i, make([]byte, 200)...)
	}
	for name, source := range map[string]io.Reader{
		"an octet a read":     iotest.OneByteReader(bytes.NewReader(stream)),
		"as much as there is": bytes.NewReader(stream),
	} {
		t.Run(name, func(t *testing.T) {
			r := &frameReader{source: source}
			for i := range uint32(500) {
				frame, err := r.await()
				if err != nil || len(frame) != headerLength+200 || sequence(frame) != i {
					t.Fatalf("frame %d: %d octets, %v", i, len(frame), err)
				}
			}
			if _, err := r.await(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: got %v, want EOF", err)
			}
		})
	}
}

func TestALengthThatNoFrameHasEndsTheStream(t *testing.T) {
	for _, start := range []string{"\x00\x00\x00\x0F", "\x00\x01\x00\x01", "\xFF\xFF\xFF\xFF"} {
		r := &frameReader{source: bytes.NewReader([]byte(start))}
		if _, err := r.await(); !errors.Is(err, errFrameLength) {
			t.Errorf("%q: got %v, want %v", start, err, errFrameLength)
		}
	}
}
