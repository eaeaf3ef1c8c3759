package smsc

import (
	"fmt"
	"strconv"
)

// IDForm writes the nth message id behind dst.
type IDForm func(dst []byte, n uint64) []byte

// Decimal ids: 1, 2, 3.
func Decimal(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// Hex ids, lower case: 39f99dd5 and up, so that letters are among them.
func Hex(dst []byte, n uint64) []byte { return fmt.Appendf(dst, "%08x", 0x39f99dd4+n) }

// UpperHex ids: 39F99DD5 and up.
func UpperHex(dst []byte, n uint64) []byte { return fmt.Appendf(dst, "%08X", 0x39f99dd4+n) }

// Padded ids: decimal, 16 digits with leading zeros.
func Padded(dst []byte, n uint64) []byte { return fmt.Appendf(dst, "%016d", n) }

// UUID ids: 36 characters, longer than SMPP 3.3's and shorter than 3.4's limit.
func UUID(dst []byte, n uint64) []byte {
	return fmt.Appendf(dst, "dbd1d8e8-d2a4-4f0e-9d5c-%012x", n)
}

// Forms are the id forms by name.
var Forms = map[string]IDForm{
	"decimal": Decimal, "hex": Hex, "upper-hex": UpperHex, "padded": Padded, "uuid": UUID,
}
