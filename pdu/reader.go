package pdu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// firstBuffer is what a Reader starts with: enough for a quiet session.
	firstBuffer = 4 << 10
	// busyBuffer is what a Reader's buffer grows to under load, so that one
	// read takes many frames. Only a frame that is longer itself takes more.
	busyBuffer = 64 << 10
	// emptyReads is how often in a row a stream may give nothing without an
	// error before it counts as broken.
	emptyReads = 100
)

// LengthError says that a command_length is illegal. Where the next frame
// begins is then unknown: answer with generic_nack and close.
type LengthError struct {
	Length, Max uint32
	Sequence    uint32 // the frame's sequence_number, 0 unless Known
	Known       bool   // the header was there to its end
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("pdu: command_length %d, want %d to %d", e.Length, HeaderSize, e.Max)
}

// Reader cuts frames off a byte stream, however it is chunked. It has one
// buffer, which never gets longer than the longest frame allowed. It is for
// one goroutine.
type Reader struct {
	src        io.Reader
	max        int
	buf        []byte
	start, end int   // buf[start:end] is read and not yet given out
	full       bool  // the last read filled the buffer: there may be much more
	err        error // came together with the last bytes, to be told after them
}

// NewReader reads frames of HeaderSize to limit octets from src.
func NewReader(src io.Reader, limit int) *Reader {
	r := &Reader{src: src}
	r.SetMax(limit)
	return r
}

// SetMax changes the longest command_length that is legal, in octets, from the
// next frame on. Less than HeaderSize counts as HeaderSize.
func (r *Reader) SetMax(limit int) { r.max = max(limit, HeaderSize) }

// Next gives the next frame. It is valid, and may be changed, until the next
// call of Next.
//
// The error is io.EOF at a clean end, io.ErrUnexpectedEOF where the stream
// ends inside a frame, and a *LengthError, again at each call, for an illegal
// command_length. Any other is the stream's own, as it stands; nothing that
// was read is lost by it, so after a deadline Next may be called again.
func (r *Reader) Next() (Frame, error) {
	if err := r.need(4); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(r.buf[r.start:])
	if !r.legal(n) {
		return nil, r.lengthError(n)
	}
	if err := r.need(int(n)); err != nil {
		return nil, err
	}
	f := r.buf[r.start : r.start+int(n) : r.start+int(n)]
	r.start += int(n)
	return f, nil
}

// Buffered says whether Next will give a frame without reading: a complete
// frame of legal length lies in the buffer.
func (r *Reader) Buffered() bool {
	have := r.buf[r.start:r.end]
	if len(have) < HeaderSize {
		return false
	}
	n := binary.BigEndian.Uint32(have)
	return r.legal(n) && uint32(len(have)) >= n
}

func (r *Reader) legal(n uint32) bool {
	return n >= HeaderSize && uint64(n) <= uint64(r.max)
}

// lengthError tells the sequence_number with the length where it can. A frame
// that claims to be too long still owes its header, which is waited for; one
// that claims to be shorter than a header may owe nothing more.
func (r *Reader) lengthError(n uint32) error {
	e := &LengthError{Length: n, Max: uint32(min(r.max, 1<<32-1))}
	if n >= HeaderSize {
		// An end of the stream here adds nothing: the frame is refused anyway.
		_ = r.need(HeaderSize)
	}
	if have := r.buf[r.start:r.end]; len(have) >= HeaderSize {
		e.Sequence, e.Known = Frame(have).Sequence(), true
	}
	return e
}

// need reads until n octets, at most r.max, are in the buffer.
func (r *Reader) need(n int) error {
	for idle := 0; r.end-r.start < n; {
		if err := r.err; err != nil {
			r.err = nil
			if errors.Is(err, io.EOF) && r.end > r.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		r.makeRoom(n)
		got, err := r.src.Read(r.buf[r.end:])
		r.end += got
		r.full = r.end == len(r.buf)
		r.err = err
		if got > 0 || err != nil {
			idle = 0
		} else if idle++; idle == emptyReads {
			return io.ErrNoProgress
		}
	}
	return nil
}

// makeRoom brings what is left to the front of a buffer that can hold n octets.
func (r *Reader) makeRoom(n int) {
	size := len(r.buf)
	switch {
	case size < n:
		// Doubling keeps the sum of all copies small while a long frame comes.
		size = max(n, firstBuffer, min(2*size, busyBuffer))
	case r.full && size < busyBuffer:
		size *= 2
	}
	size = min(size, r.max)
	if size > len(r.buf) {
		buf := make([]byte, size)
		r.end = copy(buf, r.buf[r.start:r.end])
		r.buf, r.start = buf, 0
		return
	}
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
}
