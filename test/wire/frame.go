package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// HeaderLen is the length of a PDU's header: command_length, command_id, command_status and
// sequence_number, four octets each.
const HeaderLen = 16

// Frame is one whole PDU, header included.
type Frame []byte

// Command is the command_id.
func (f Frame) Command() uint32 { return binary.BigEndian.Uint32(f[4:]) }

// Status is the command_status.
func (f Frame) Status() uint32 { return binary.BigEndian.Uint32(f[8:]) }

// Sequence is the sequence_number.
func (f Frame) Sequence() uint32 { return binary.BigEndian.Uint32(f[12:]) }

// Body is what follows the header.
func (f Frame) Body() []byte { return f[HeaderLen:] }

// ID is the body's first C string: the message_id of a submit_sm_resp, the system_id of a bind.
func (f Frame) ID() string {
	id, _, _ := cstring(f.Body())
	return id
}

// Clone is a copy that outlives the reader's buffer.
func (f Frame) Clone() Frame { return append(Frame(nil), f...) }

// New makes a frame.
func New(command, status, sequence uint32, body []byte) Frame {
	return Append(make([]byte, 0, HeaderLen+len(body)), command, status, sequence, body)
}

// Append writes a frame behind dst.
func Append(dst []byte, command, status, sequence uint32, body []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(HeaderLen+len(body)))
	dst = binary.BigEndian.AppendUint32(dst, command)
	dst = binary.BigEndian.AppendUint32(dst, status)
	dst = binary.BigEndian.AppendUint32(dst, sequence)
	return append(dst, body...)
}

// Bind makes the frame of a bind (SMPP 3.4 section 4.1), interface_version 3.4.
func Bind(command, sequence uint32, systemID, password, systemType string) Frame {
	var b []byte
	b = appendCString(b, systemID)
	b = appendCString(b, password)
	b = appendCString(b, systemType)
	b = append(b, 0x34, 0, 0, 0) // interface_version, addr_ton, addr_npi, address_range
	return New(command, 0, sequence, b)
}

// maxFrame is more than any test sends; a longer length means that the stream is out of step.
const maxFrame = 1 << 20

// Reader takes frames off a stream. Not for concurrent use.
type Reader struct {
	r   *bufio.Reader
	big []byte // a frame longer than the buffer
}

// NewReader reads r through a buffer of 64 KiB, so that one read takes hundreds of frames.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// Next is the next frame, valid until the call after it. The error is io.EOF at a clean end,
// io.ErrUnexpectedEOF inside a frame, the connection's error, or one that tells a bad length.
func (r *Reader) Next() (Frame, error) {
	h, err := r.r.Peek(4)
	if err != nil {
		if err == io.EOF && len(h) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(h))
	if n < HeaderLen || n > maxFrame {
		return nil, fmt.Errorf("command_length %d, expected %d to %d", n, HeaderLen, maxFrame)
	}
	if n > r.r.Size() {
		if cap(r.big) < n {
			r.big = make([]byte, n)
		}
		r.big = r.big[:n]
		if _, err := io.ReadFull(r.r, r.big); err != nil {
			return nil, err
		}
		return r.big, nil
	}
	f, err := r.r.Peek(n)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	_, _ = r.r.Discard(n) // the octets are there; Peek's slice stays valid until the next read
	return f, nil
}

// Buffered tells whether Next would return a frame without a read.
func (r *Reader) Buffered() bool {
	n := r.r.Buffered()
	if n < 4 {
		return false
	}
	h, _ := r.r.Peek(4)
	return n >= int(binary.BigEndian.Uint32(h))
}
