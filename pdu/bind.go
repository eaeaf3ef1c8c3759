package pdu

import (
	"errors"

	"github.com/linxGnu/gosmpp/data"
)

// ErrBody says that a body ends before the fields it must have do.
var ErrBody = errors.New("pdu: the body ends inside a mandatory field")

// ErrCommand says that a frame is not of a command that the parser is for.
var ErrCommand = errors.New("pdu: not a frame of this command")

// Bind is a view of a bind_transmitter, bind_receiver or bind_transceiver
// (section 4.1). The password is left where it is: nobody here needs it, and
// so nobody can log it.
type Bind struct {
	Command          data.CommandIDType
	SystemID         []byte
	SystemType       []byte
	InterfaceVersion byte
	AddressRange     Address
}

// ParseBind looks at a bind. ErrCommand: it is none. ErrBody: it is cut short;
// the fields before the cut are set, and a system_id that nothing terminates
// is taken to the end.
func ParseBind(f Frame) (Bind, error) {
	b := Bind{Command: f.Command()}
	if !IsBind(b.Command) {
		return b, ErrCommand
	}
	c := cursor{frame: f, at: HeaderSize}
	b.SystemID = c.cstring()
	if c.short {
		b.SystemID = f.Body()
	}
	c.cstring() // password
	b.SystemType = c.cstring()
	b.InterfaceVersion = c.octet()
	b.AddressRange = c.address()
	return b, c.err()
}

// IsBind says whether c is one of the three bind requests.
func IsBind(c data.CommandIDType) bool {
	switch c {
	case data.BIND_TRANSMITTER, data.BIND_RECEIVER, data.BIND_TRANSCEIVER:
		return true
	}
	return false
}
