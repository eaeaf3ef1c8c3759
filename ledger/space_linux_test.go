package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAVolumeThatFillsUpRefusesAndResumes uses a small volume of its own, where the test may mount one.
func TestAVolumeThatFillsUpRefusesAndResumes(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=160m"); err != nil {
		t.Skip("cannot mount a volume: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	o := testOptions(t, filepath.Join(dir, "ledger"))
	o.MinFree = 32 << 20
	l := open(t, o)
	e := newESME(t, l, "acme")
	n := e.submitAs("before", "before").forwarded()

	// Something else fills the volume up to the watermark.
	filler := filepath.Join(dir, "filler")
	free, err := freeBytes(dir)
	if err == nil {
		err = os.WriteFile(filler, make([]byte, free-o.MinFree+1<<20), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	until(t, "refuses", func() bool { return l.Writable() != nil })
	if s := e.submit("during"); s.answered().Status != 0x08 || len(s.attempts) != 0 {
		t.Errorf("answer %+v after %d attempts, want ESME_RSYSERR and none", s.answers[0], len(s.attempts))
	}
	l.Settle(n, accepted("77")) // what is forwarded is still written down

	// The process ends, and begins again on the full volume: the ballast makes room.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, testAgain(o))
	defer func() { l.Close() }()
	if _, err := os.Stat(filepath.Join(o.Path, ballastName)); !os.IsNotExist(err) {
		t.Errorf("the ballast was not given up: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	until(t, "resumes", func() bool { return l.Writable() == nil })
	e = newESME(t, l, "acme")
	if got := e.submitAs("before", "before").answered(); string(got.Body) != "77\x00" {
		t.Errorf("what was settled on the full volume gets %+v", got)
	}
	e.submit("during").forwarded()
}

// until polls what another goroutine sets, at its own pace of a second.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatalf("in vain: it never %s", what)
		}
	}
}
