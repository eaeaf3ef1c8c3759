package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMemoryIsReadFromProcStatus(t *testing.T) {
	m, err := parseMemory("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 7 kB\nRssAnon:\t     512 kB\n")
	if err != nil || m != (memory{peakResident: 2 << 20, anonymous: 512 << 10}) {
		t.Errorf("got %+v, %v", m, err)
	}
	for _, status := range []string{"", "VmHWM:\t1 kB\n", "VmHWM:\tmany kB\nRssAnon:\t1 kB\n"} {
		if m, err := parseMemory(status); err == nil {
			t.Errorf("%q: got %+v", status, m)
		}
	}
}

func TestOwnSettingsTakeThePlaceOfInheritedOnes(t *testing.T) {
	got := smpponceEnvironment([]string{"HOME=/h", "SMPPONCE_DEDUP_MODE=off", "SMPPONCE_LEDGER_SYNC=all"}, map[string]string{"DEDUP_MODE": "enforce"})
	if want := []string{"HOME=/h", "SMPPONCE_DEDUP_MODE=enforce"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAProcessThatEndedByItselfIsAFaultWithItsLastWords(t *testing.T) {
	p, err := startProcess(filepath.Join(t.TempDir(), "log"), nil, "/bin/sh", "-c", "echo no such setting; exit 2")
	if err != nil {
		t.Fatal(err)
	}
	<-p.exited
	if err := p.stop(); !errors.Is(err, errExited) || !strings.Contains(err.Error(), "no such setting") {
		t.Errorf("got %v", err)
	}
}

func TestAProcessIsMeasuredAndEndsWhenToldTo(t *testing.T) {
	p, err := startProcess(filepath.Join(t.TempDir(), "log"), nil, "/bin/sh", "-c", "trap 'exit 0' TERM; echo ready; while :; do :; done")
	if err != nil {
		t.Fatal(err)
	}
	// Its trap is set once it wrote something, and it works on from there.
	used := time.Duration(0)
	for deadline := time.Now().Add(time.Minute); p.lastWords() == "" || used == 0; {
		if used, err = p.cpuTime(); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("in a minute it wrote %q and used %v", p.lastWords(), used)
		}
	}
	if m, err := p.memory(); err != nil || m.peakResident <= 0 || m.anonymous <= 0 {
		t.Errorf("memory: got %+v, %v", m, err)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}
