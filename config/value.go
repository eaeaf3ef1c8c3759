package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// ByteSize is a number of bytes, written with a unit (256MiB, 1GB) or without.
type ByteSize int64

// String gives the largest IEC unit that divides the size, so that it reads back to the same size.
func (b ByteSize) String() string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for b != 0 && b%1024 == 0 && i < len(units)-1 {
		b /= 1024
		i++
	}
	return strconv.FormatInt(int64(b), 10) + units[i]
}

// MarshalYAML writes the size as String does.
func (b ByteSize) MarshalYAML() ([]byte, error) { return []byte(b.String()), nil }

// Tag is the tag of a TLV.
type Tag uint16

// String gives the tag in hexadecimal, as the SMPP specification does.
func (t Tag) String() string { return fmt.Sprintf("0x%04X", uint16(t)) }

// MarshalYAML writes the tag as String does.
func (t Tag) MarshalYAML() ([]byte, error) { return []byte(t.String()), nil }

// Status is a command_status.
type Status uint32

// String gives the status in hexadecimal, as the SMPP specification does.
func (s Status) String() string { return fmt.Sprintf("0x%02X", uint32(s)) }

// MarshalYAML writes the status as String does.
func (s Status) MarshalYAML() ([]byte, error) { return []byte(s.String()), nil }

// durationText leaves out the zero parts that time.Duration's own text ends with: 24h, not 24h0m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// isList tells whether a setting takes several values.
func isList(setting reflect.Value) bool { return setting.Kind() == reflect.Slice }

// assign parses text into a setting. The error says what is wrong with the text and what to write instead.
func assign(setting reflect.Value, text string) error {
	if c, ok := setting.Interface().(choice); ok {
		return assignChoice(setting, c.values(), text)
	}
	var err error
	switch p := setting.Addr().Interface().(type) {
	case *string:
		*p, err = parseText(text)
	case *bool:
		*p, err = parseBool(text)
	case *int:
		*p, err = parseCount(text)
	case *time.Duration:
		*p, err = parseDuration(text)
	case *ByteSize:
		*p, err = parseByteSize(text)
	case *Tag:
		var n uint64
		n, err = parseNumber(text, math.MaxUint16)
		*p = Tag(n)
	case *Status:
		var n uint64
		n, err = parseNumber(text, math.MaxUint32)
		*p = Status(n)
	default:
		panic("config: no parser for settings of type " + setting.Type().String())
	}
	return err
}

// assignList parses texts into a setting that takes several values, in place of those it had.
func assignList(setting reflect.Value, texts []string) []error {
	list := reflect.MakeSlice(setting.Type(), len(texts), len(texts))
	errs := make([]error, len(texts))
	for i, text := range texts {
		errs[i] = assign(list.Index(i), text)
	}
	setting.Set(list)
	return errs
}

func assignChoice(setting reflect.Value, values []string, text string) error {
	for _, v := range values {
		if text == v {
			setting.SetString(text)
			return nil
		}
	}
	return fmt.Errorf("%s is not one of its values: write %s or %s", shown(text),
		strings.Join(values[:len(values)-1], ", "), values[len(values)-1])
}

func parseText(text string) (string, error) {
	// A key pasted where its file's name belongs must not be repeated in a message.
	if strings.Contains(text, "-----BEGIN") {
		return "", errors.New("holds a certificate or key itself: write it to a file and give the file's path")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", errors.New("holds control characters or is not UTF-8: write plain text")
	}
	return text, nil
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is neither true nor false: write one of the two", shown(text))
}

func parseCount(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number that fits: write decimal digits alone", shown(text))
	}
	return int(n), nil
}

func parseDuration(text string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Errorf("%s has no unit: write %ss for seconds, or with ms, m or h", shown(text), text)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration: write a number and a unit, such as 500ms, 30s, 10m or 72h", shown(text))
	}
	return d, nil
}

func parseByteSize(text string) (ByteSize, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%s is not a size that fits: write a number of bytes, or with a unit, such as 256MiB", shown(text))
	}
	return ByteSize(n), nil
}

// parseNumber takes decimal, or hexadecimal with 0x; a leading zero is no octal.
func parseNumber(text string, limit uint64) (uint64, error) {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n > limit {
		return 0, fmt.Errorf("%s is not a number up to 0x%X: write it in decimal, or in hexadecimal as 0x14", shown(text), limit)
	}
	return n, nil
}

// shown quotes a value for a message, cut where it is long.
func shown(text string) string {
	const most = 60
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
