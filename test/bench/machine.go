package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// describeMachine tells in one line what the figures depend on most.
func describeMachine(ledgers, sync string) (string, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	p50, p99, err := measureSync(ledgers)
	if err != nil {
		return "", fmt.Errorf("measuring the ledger's disk: %w", err)
	}
	return fmt.Sprintf("%d cores (%s), %s %s/%s, Linux %s; fsync of 4 KiB on the ledger's disk: p50 %s, p99 %s; ledger.sync %s",
		runtime.NumCPU(), processor(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		unix.ByteSliceToString(name.Release[:]), formatDuration(p50), formatDuration(p99), sync), nil
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// measureSync appends and syncs as a ledger's log does, for a hundred times or a second.
func measureSync(folder string) (p50, p99 time.Duration, err error) {
	file, err := os.Create(filepath.Join(folder, "fsync"))
	if err != nil {
		return 0, 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	block := bytes.Repeat([]byte{0xA5}, 4096)
	var taken histogram
	for end := time.Now().Add(time.Second); taken.total < 100 && time.Now().Before(end); {
		if _, err := file.Write(block); err != nil {
			return 0, 0, err
		}
		before := time.Now()
		if err := file.Sync(); err != nil {
			return 0, 0, err
		}
		taken.add(time.Since(before))
	}
	return taken.percentile(50), taken.percentile(99), nil
}
