package pdu

import "bytes"

// Address is an SMPP address: type of number, numbering plan, and the number
// without its NUL.
type Address struct {
	TON, NPI byte
	Number   []byte
}

// cursor walks the mandatory fields of a frame. Once it has run short every
// further field is empty, so that a walk is checked once, at its end.
type cursor struct {
	frame Frame
	at    int // of the next field
	short bool
}

// cstring takes a C-octet string, without the NUL that ends it.
func (c *cursor) cstring() []byte {
	rest := c.frame[c.at:]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		c.cut()
		return nil
	}
	c.at += n + 1
	return rest[:n:n]
}

// octet takes one octet.
func (c *cursor) octet() byte {
	if c.at == len(c.frame) {
		c.cut()
		return 0
	}
	c.at++
	return c.frame[c.at-1]
}

// octets takes n octets.
func (c *cursor) octets(n int) []byte {
	if len(c.frame)-c.at < n {
		c.cut()
		return nil
	}
	c.at += n
	return c.frame[c.at-n : c.at : c.at]
}

func (c *cursor) address() Address {
	ton := c.octet()
	npi := c.octet()
	return Address{TON: ton, NPI: npi, Number: c.cstring()}
}

func (c *cursor) cut() {
	c.short = true
	c.at = len(c.frame)
}

func (c *cursor) err() error {
	if c.short {
		return ErrBody
	}
	return nil
}
