// Package cases plays the sequences of events that broke earlier drafts of the rules, and what clients do in the field,
// against the whole proxy. A test's name is what must hold; its comment names the sequence.
//
// Most of them run on a network in memory and in fake time, with the settings as they are by default. Those that are
// about the kernel or about the process run on the loopback interface, some with the binary itself.
package cases
