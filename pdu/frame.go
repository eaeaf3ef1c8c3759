package pdu

import (
	"encoding/binary"

	"github.com/linxGnu/gosmpp/data"
)

// HeaderSize is the length in octets of a PDU header (section 3.2), and so of
// the shortest frame.
const HeaderSize = data.PDU_HEADER_SIZE

// response is the bit that tells a response's command_id from its request's
// (section 5.1.2.1).
const response = data.CommandIDType(-1 << 31)

// Frame is one whole PDU, header included. It is at least HeaderSize long: a
// Reader and the builders give no other, and the methods rely on it.
type Frame []byte

// Command is the command_id. gosmpp's type is signed; every bit is kept.
func (f Frame) Command() data.CommandIDType {
	return data.CommandIDType(binary.BigEndian.Uint32(f[4:]))
}

// Status is the command_status, zero in requests.
func (f Frame) Status() data.CommandStatusType {
	return data.CommandStatusType(binary.BigEndian.Uint32(f[8:]))
}

// Sequence is the sequence_number, any 32 bits that the peer chose.
func (f Frame) Sequence() uint32 { return binary.BigEndian.Uint32(f[12:]) }

// SetSequence overwrites the sequence_number in place, and nothing else.
func (f Frame) SetSequence(n uint32) { binary.BigEndian.PutUint32(f[12:], n) }

// Body is what follows the header, often nothing.
func (f Frame) Body() []byte { return f[HeaderSize:] }

// IsResponse says whether the command_id is one of a response; generic_nack is.
func (f Frame) IsResponse() bool { return f.Command()&response != 0 }
