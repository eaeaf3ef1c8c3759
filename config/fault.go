package config

import (
	"fmt"
	"strings"
	"unicode"
)

// Fault is one thing wrong with the settings.
type Fault struct {
	Setting string // its path, such as dedup.window; empty where the file as a whole is at fault
	Origin  string // where the value came from: FILE:LINE:COLUMN, a variable's name or a flag; empty for a default
	Text    string // what is wrong and what to do
}

// String gives the fault as one plain line, whatever the names and values in it.
func (f Fault) String() string {
	s := f.Text
	if f.Setting != "" {
		s = f.Setting + ": " + s
	}
	if f.Origin != "" && f.Origin != f.Setting {
		s = f.Origin + ": " + s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Faults is the error of Load: all that is wrong, a line each.
type Faults []Fault

func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Warning is something that works but is probably not meant.
type Warning struct {
	Setting string // as in Fault
	Origin  string // as in Fault
	Text    string // what is odd and what to do
}

func (w Warning) String() string { return Fault(w).String() }

// position is a place in the file.
func position(file string, line, column int) string {
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}
