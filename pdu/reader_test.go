package pdu

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"

	"smpponce/test/corpus"
)

// chunks is a stream that gives one chunk a read, each with its error, and
// fails the test when it is read once more: there a real stream would block.
type chunks struct {
	t    testing.TB
	list []chunk
}

type chunk struct {
	octets []byte
	err    error
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.list) == 0 {
		c.t.Fatal("read again, where the stream would block")
	}
	next := &c.list[0]
	n := copy(p, next.octets)
	if next.octets = next.octets[n:]; len(next.octets) > 0 {
		return n, nil
	}
	err := next.err
	c.list = c.list[1:]
	return n, err
}

func stream(t testing.TB, octets ...string) *chunks {
	c := &chunks{t: t}
	for _, o := range octets {
		c.list = append(c.list, chunk{octets: []byte(o)})
	}
	return c
}

func framed(sequence uint32, body string) string {
	return string(Response(data.SUBMIT_SM, 0, sequence, []byte(body)))
}

func TestAStreamComesThroughAReaderWhateverItsChunks(t *testing.T) {
	all := corpus.All()
	rapid.Check(t, func(t *rapid.T) {
		var want []byte
		var frames [][]byte
		for range rapid.IntRange(1, 60).Draw(t, "frames") {
			f := all[rapid.IntRange(0, len(all)-1).Draw(t, "frame")].Frame
			frames = append(frames, f)
			want = append(want, f...)
		}
		src := &chunks{}
		for rest := want; len(rest) > 0; {
			n := rapid.IntRange(0, min(len(rest), rapid.SampledFrom([]int{1, 20, 300, 1 << 20}).Draw(t, "most"))).Draw(t, "chunk")
			src.list = append(src.list, chunk{octets: rest[:n]})
			rest = rest[n:]
		}
		src.list = append(src.list, chunk{err: io.EOF}, chunk{err: io.EOF})

		r := NewReader(src, corpus.Max)
		for i := range frames {
			buffered := r.Buffered()
			left := len(src.list)
			f, err := r.Next()
			if err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			if !bytes.Equal(f, frames[i]) {
				t.Fatalf("frame %d: got % X, want % X", i, f, frames[i])
			}
			if read := len(src.list) != left; buffered && read {
				t.Fatalf("frame %d was buffered, and yet the stream was read", i)
			}
			f.SetSequence(^f.Sequence()) // the frame is the caller's
			_ = append(f, "and not what follows it"...)
			if len(r.buf) > corpus.Max {
				t.Fatalf("the buffer has %d octets, want at most %d", len(r.buf), corpus.Max)
			}
		}
		if f, err := r.Next(); err != io.EOF {
			t.Fatalf("at the end: got frame % X, error %v; want io.EOF", f, err)
		}
	})
}

func TestFramesComeOneOctetARead(t *testing.T) {
	first, second := framed(1, ""), framed(2, "body")
	r := NewReader(iotest.OneByteReader(bytes.NewReader([]byte(first+second))), 1024)
	for _, want := range []string{first, second} {
		if r.Buffered() {
			t.Error("a frame is said to be buffered before it was read")
		}
		if f, err := r.Next(); err != nil || string(f) != want {
			t.Fatalf("got % X, %v; want % X", f, err, want)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("got %v, want io.EOF", err)
	}
}

func TestOnlyACompleteFrameCountsAsBuffered(t *testing.T) {
	whole := framed(1, "abc")
	for cut := range len(whole) {
		r := NewReader(stream(t, framed(9, "")+whole[:cut], whole[cut:]), 1024)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if r.Buffered() {
			t.Errorf("%d of %d octets count as a frame", cut, len(whole))
		}
	}
	r := NewReader(stream(t, framed(9, "")+whole), 1024)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if !r.Buffered() {
		t.Error("a whole frame does not count as buffered")
	}
}

func TestAFrameOfExactlyTheMaximumIsLegal(t *testing.T) {
	for _, limit := range []int{16, 17, 1024, firstBuffer, firstBuffer + 1, busyBuffer, 131072} {
		want := framed(7, string(make([]byte, limit-HeaderSize)))
		r := NewReader(stream(t, want+want), limit)
		for range 2 {
			if f, err := r.Next(); err != nil || string(f) != want {
				t.Errorf("max %d: got %d octets, %v; want %d", limit, len(f), err, limit)
			}
		}
		if len(r.buf) > limit {
			t.Errorf("max %d: the buffer has %d octets", limit, len(r.buf))
		}
	}
}

func TestAnIllegalLengthIsToldWithItsSequenceNumber(t *testing.T) {
	const rest = "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x02\x9A" // submit_sm, 666
	tests := []struct {
		name   string
		stream *chunks
		want   LengthError
	}{
		{"one more than the maximum", stream(t, "\x00\x00\x04\x01"+rest+"body"), LengthError{1025, 1024, 666, true}},
		{"all ones", stream(t, "\xFF\xFF\xFF\xFF"+rest), LengthError{0xFFFFFFFF, 1024, 666, true}},
		{"too long, in pieces", stream(t, "\x00\x01", "\x00\x00", rest[:7], rest[7:]), LengthError{65536, 1024, 666, true}},
		{"too long, and the stream ends", &chunks{t, []chunk{{[]byte("\x00\x01\x00\x00" + rest[:5]), io.EOF}}}, LengthError{65536, 1024, 0, false}},
		{"15", stream(t, "\x00\x00\x00\x0F"+rest), LengthError{15, 1024, 666, true}},
		{"15, and no more comes", stream(t, "\x00\x00\x00\x0F"+rest[:11]), LengthError{15, 1024, 0, false}},
		{"4, alone", stream(t, "\x00\x00\x00\x04"), LengthError{4, 1024, 0, false}},
		{"0", stream(t, "\x00\x00\x00\x00"), LengthError{0, 1024, 0, false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(test.stream, 1024)
			for range 3 { // it stays so: nobody knows where the next frame begins
				f, err := r.Next()
				var got *LengthError
				if !errors.As(err, &got) || *got != test.want {
					t.Fatalf("got %v, %+v; want %+v", f, err, test.want)
				}
				if r.Buffered() {
					t.Fatal("an illegal frame counts as buffered")
				}
				if len(test.stream.list) == 0 {
					test.stream.list = []chunk{{nil, io.EOF}}
				}
			}
		})
	}
}

func TestAnEndInsideAFrameIsUnexpected(t *testing.T) {
	whole := framed(1, "abc")
	for cut := 1; cut < len(whole); cut++ {
		for name, src := range map[string]*chunks{
			"end apart":     {t, []chunk{{[]byte(whole[:cut]), nil}, {nil, io.EOF}}},
			"end with data": {t, []chunk{{[]byte(whole[:cut]), io.EOF}}},
		} {
			if _, err := NewReader(src, 1024).Next(); err != io.ErrUnexpectedEOF {
				t.Errorf("%s, %d octets: got %v, want io.ErrUnexpectedEOF", name, cut, err)
			}
		}
	}
}

func TestAFrameThatComesWithAnErrorIsGivenFirst(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(&chunks{t, []chunk{{[]byte(framed(1, "") + framed(2, "x")), broken}}}, 1024)
	for n := uint32(1); n <= 2; n++ {
		if f, err := r.Next(); err != nil || f.Sequence() != n {
			t.Fatalf("got % X, %v; want frame %d", f, err, n)
		}
	}
	if _, err := r.Next(); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestADeadlineInsideAFrameLosesNothing(t *testing.T) {
	whole := framed(1, "abc")
	for cut := range len(whole) {
		r := NewReader(&chunks{t, []chunk{
			{[]byte(whole[:cut]), os.ErrDeadlineExceeded},
			{nil, os.ErrDeadlineExceeded},
			{[]byte(whole[cut:]), nil},
		}}, 1024)
		for range 2 {
			if _, err := r.Next(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("%d octets: got %v, want a deadline", cut, err)
			}
		}
		if f, err := r.Next(); err != nil || string(f) != whole {
			t.Fatalf("%d octets: got % X, %v; want % X", cut, f, err, whole)
		}
	}
}

func TestTheMaximumChangesFromTheNextFrameOn(t *testing.T) {
	bind, long := framed(1, "bind"), framed(2, string(make([]byte, 5000)))
	r := NewReader(stream(t, bind+long[:900], long[900:]), 1024)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.SetMax(131072)
	if f, err := r.Next(); err != nil || string(f) != long {
		t.Errorf("got %d octets, %v; want %d", len(f), err, len(long))
	}
}

func TestAReaderKeepsASmallBufferOnAQuietSession(t *testing.T) {
	src := stream(t)
	r := NewReader(src, 131072)
	for range 1000 {
		src.list = append(src.list, chunk{octets: []byte(framed(1, string(make([]byte, 200))))})
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.buf) != firstBuffer {
		t.Errorf("the buffer has %d octets, want %d", len(r.buf), firstBuffer)
	}
}

func TestAStreamThatGivesNothingForEverIsBroken(t *testing.T) {
	src := stream(t, make([]string, emptyReads)...)
	if _, err := NewReader(src, 1024).Next(); err != io.ErrNoProgress {
		t.Errorf("got %v, want io.ErrNoProgress", err)
	}
}
