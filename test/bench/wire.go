package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The few constants of SMPP 3.4 (section 5.1.2) that the bench needs.
const (
	headerLength = 16

	genericNack         = 0x80000000
	bindTransceiver     = 0x00000009
	bindTransceiverResp = 0x80000009
	submitSM            = 0x00000004
	submitSMResp        = 0x80000004
	unbind              = 0x00000006
	unbindResp          = 0x80000006
	enquireLink         = 0x00000015
	enquireLinkResp     = 0x80000015

	statusInvalidCommand = 0x00000003 // ESME_RINVCMDID
)

// readBuffer holds some 350 submit_sm: a batch, and more than any window used here.
const readBuffer = 64 << 10

// errFrameLength tells that the stream is out of step; nothing after it can be trusted.
var errFrameLength = errors.New("command_length out of range")

func command(frame []byte) uint32  { return binary.BigEndian.Uint32(frame[4:]) }
func status(frame []byte) uint32   { return binary.BigEndian.Uint32(frame[8:]) }
func sequence(frame []byte) uint32 { return binary.BigEndian.Uint32(frame[12:]) }

// appendFrame appends a PDU to dst.
func appendFrame(dst []byte, command, status, sequence uint32, body ...byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(headerLength+len(body)))
	dst = binary.BigEndian.AppendUint32(dst, command)
	dst = binary.BigEndian.AppendUint32(dst, status)
	dst = binary.BigEndian.AppendUint32(dst, sequence)
	return append(dst, body...)
}

// bindFrame is the bind_transceiver of every bind: all belong to one account, as a client's binds do.
func bindFrame() []byte {
	body := append([]byte("bench\x00secret\x00bench\x00"), 0x34, 0, 0, 0)
	return appendFrame(nil, bindTransceiver, 0, 1, body...)
}

// frameReader cuts a stream into frames. It tells a full batch apart from one that still has to be read, so
// that its user can answer a whole batch with one write.
type frameReader struct {
	source     io.Reader
	buffer     [readBuffer]byte
	start, end int
}

// fill reads once, and blocks until something came.
func (r *frameReader) fill() error {
	if r.start > 0 {
		r.end = copy(r.buffer[:], r.buffer[r.start:r.end])
		r.start = 0
	}
	n, err := r.source.Read(r.buffer[r.end:])
	r.end += n
	if n > 0 {
		return nil
	}
	return err
}

// next returns the next frame that is already buffered whole, valid until fill; nil if there is none.
func (r *frameReader) next() ([]byte, error) {
	rest := r.buffer[r.start:r.end]
	if len(rest) < 4 {
		return nil, nil
	}
	length := binary.BigEndian.Uint32(rest)
	if length < headerLength || length > readBuffer {
		return nil, fmt.Errorf("%w: %d", errFrameLength, length)
	}
	if uint32(len(rest)) < length {
		return nil, nil
	}
	r.start += int(length)
	return rest[:length], nil
}

// await returns the next frame, reading as often as it takes.
func (r *frameReader) await() ([]byte, error) {
	for {
		frame, err := r.next()
		if frame != nil || err != nil {
			return frame, err
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}
