package pdu

import "strconv"

const (
	// logSystemID is how much of a system_id reaches a log: what section
	// 5.2.1 allows, without its NUL, and one more.
	logSystemID = 16
	// shownDigits is how much of a number reaches a log.
	shownDigits = 4
	// maskedDigits bounds what stands for the rest of it: no address of a
	// legal length is longer (section 5.2.8).
	maskedDigits = 16
)

// LogSystemID is a system_id as logs may show it: at most 16 octets of it, as a
// quoted string of ASCII.
func LogSystemID(b []byte) string {
	return strconv.QuoteToASCII(string(b[:min(len(b), logSystemID)]))
}

// MaskNumber is an address as logs may show it: a star for each octet, but for
// those of the last four that are digits.
func MaskNumber(b []byte) string {
	b = b[max(0, len(b)-maskedDigits-shownDigits):]
	masked := make([]byte, len(b))
	for i, c := range b {
		masked[i] = '*'
		if i >= len(b)-shownDigits && '0' <= c && c <= '9' {
			masked[i] = c
		}
	}
	return string(masked)
}
