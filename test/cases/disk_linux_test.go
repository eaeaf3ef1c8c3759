package cases

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// frozenDisk makes a small disk of its own, which freeze and thaw stop and start: every write to it waits meanwhile, as
// on one that hangs. The test is skipped where that is not allowed.
func frozenDisk(t *testing.T) (path string, freeze, thaw func()) {
	t.Helper()
	dir := t.TempDir()
	image, path := filepath.Join(dir, "image"), filepath.Join(dir, "disk")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(512 << 20); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	for _, c := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, path}} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no disk can be made here: %v: %v %s", c, err, out)
		}
	}
	root, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const fifreeze, fithaw = 0xC0045877, 0xC0045878 // linux/fs.h
	frozen := false
	set := func(request uint, to bool) {
		t.Helper()
		if err := unix.IoctlSetInt(int(root.Fd()), request, 0); err != nil {
			t.Fatalf("freezing (%v) the disk: %v", to, err)
		}
		frozen = to
	}
	freeze, thaw = func() { t.Helper(); set(fifreeze, true) }, func() { t.Helper(); set(fithaw, false) }
	t.Cleanup(func() {
		if frozen {
			thaw()
		}
		_ = root.Close()
		_ = unix.Unmount(path, unix.MNT_DETACH)
	})
	return path, freeze, thaw
}

// smallDisk is a disk of so many octets. The test is skipped where none can be made.
func smallDisk(t *testing.T, size string) (path string) {
	t.Helper()
	path = t.TempDir()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no disk can be made here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(path, unix.MNT_DETACH) })
	return path
}

// CASES 22. The intent that could not be committed in time is on the disk in the end.
func TestAnIntentWhoseCommitTimedOutIsNoGhostThatARepeatJoins(t *testing.T) {
	t.Parallel()
	disk, freeze, thaw := frozenDisk(t)
	s := stage.Around(t)
	env := []string{"SMPPONCE_DEDUP_REQUEST_ID_TLVS=0x1402", "GOMAXPROCS=8"} // a thread that waits for the disk takes its place with it
	p := serve(t, s, filepath.Join(disk, "ledger"), env...)
	p.listening(s)
	esme, smsc := s.Bound("acme")
	wantForwarded(s, esme, smsc, identified("warm", "0"), "0")

	freeze()
	n := esme.Submit(identified("A", "1"))
	esme.WantAnswer(n, wire.SystemError)
	p.awaitReady(503)
	thaw()
	p.awaitReady(200)
	wantForwarded(s, esme, smsc, identified("A", "1"), "1")

	// And once more with an end of the process in between.
	freeze()
	esme.WantAnswer(esme.Submit(identified("B", "2")), wire.SystemError)
	thaw()
	p.awaitReady(200)
	p.Kill()
	esme.WantEnd()
	smsc.WantEnd()
	p = serve(t, s, filepath.Join(disk, "ledger"), env...)
	p.listening(s)
	esme, smsc = s.Bound("acme")
	wantForwarded(s, esme, smsc, identified("B", "2"), "2")
	if id := esme.WantAnswer(esme.Submit(identified("A", "1")), wire.OK); id != "1" {
		t.Errorf("A was answered with id %q, want 1", id)
	}
}

// CASES 23. One client stays and hears its answer, one is gone; what that one's would have been is in the ledger in the
// end.
func TestAnOutcomeThatCannotBeCommittedIsRelayedAndWrittenLater(t *testing.T) {
	t.Parallel()
	disk, freeze, thaw := frozenDisk(t)
	s := stage.Around(t)
	env := []string{"GOMAXPROCS=8"}
	p := serve(t, s, filepath.Join(disk, "ledger"), env...)
	p.listening(s)
	outcomes(t, s, p, freeze, thaw)

	p.Kill()
	p = serve(t, s, filepath.Join(disk, "ledger"), env...)
	p.listening(s)
	recovered(t, s)
}

// CASES 23, with a disk that is full but for what the ledger keeps free.
func TestOnAFullDiskSubmissionsAreRefusedAndWhatWasForwardedIsSettled(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "320m")
	s := stage.Around(t)
	p := serve(t, s, filepath.Join(disk, "ledger"))
	p.listening(s)
	filler := filepath.Join(disk, "filler")
	fill := func() {
		var st unix.Statfs_t
		if err := unix.Statfs(disk, &st); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Fallocate(int(f.Fd()), 0, 0, int64(st.Bavail)*st.Bsize-32<<20); err != nil { // min_free is 64 MiB
			t.Fatal(err)
		}
		p.awaitReady(503)
	}
	free := func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	outcomes(t, s, p, fill, free)

	fill()
	p.Kill() // and it starts on the full disk
	p = serve(t, s, filepath.Join(disk, "ledger"))
	p.listening(s)
	p.awaitReady(503)
	esme, _ := s.Bound("other")
	esme.WantAnswer(esme.Submit(stage.Message("refused again")), wire.SystemError)
	free()
	p.awaitReady(200)
	recovered(t, s)
}

// outcomes has two messages forwarded, then the disk fail, and then both accepted. One client is gone by then.
func outcomes(t *testing.T, s *stage.Stage, p *process, fail, heal func()) {
	t.Helper()
	stays, smsc := s.Bound("stays")
	leaves, draining := s.Bound("leaves")
	n := stays.Submit(stage.Message("A"))
	submit := smsc.WantSubmit()
	leaves.Submit(stage.Message("A"))
	left := draining.WantSubmit()
	leaves.Reset()
	eventually(t, "the session is left", func() bool { return p.Metric("smpponce_legs", `leg="smsc"`, `state="draining"`) == 1 })

	fail()
	draining.Answer(left, "7")
	smsc.Answer(submit, "1")
	if id := stays.WantAnswer(n, wire.OK); id != "1" {
		t.Errorf("answered with id %q, want 1", id)
	}
	p.awaitReady(503)
	stays.WantAnswer(stays.Submit(stage.Message("refused")), wire.SystemError)
	heal()
	draining.Part()
	p.awaitReady(200)
	wantForwarded(s, stays, smsc, stage.Message("refused"), "2")
}

// recovered looks for what outcomes left.
func recovered(t *testing.T, s *stage.Stage) {
	t.Helper()
	again, _ := s.Bound("leaves")
	if id := again.WantAnswer(again.Submit(stage.Message("A")), wire.OK); id != "7" {
		t.Errorf("answered with id %q, want 7", id)
	}
}
