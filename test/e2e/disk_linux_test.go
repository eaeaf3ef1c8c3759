package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// disk is a small file system of its own, and a file that fills it.
type disk struct {
	t    *testing.T
	path string
	fill *os.File
}

func mount(t *testing.T, size string) *disk {
	t.Helper()
	d := &disk{t: t, path: t.TempDir()}
	if err := syscall.Mount("tmpfs", d.path, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if d.fill != nil {
			_ = d.fill.Close()
		}
		if err := syscall.Unmount(d.path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	f, err := os.Create(filepath.Join(d.path, "filling"))
	if err != nil {
		t.Fatal(err)
	}
	d.fill = f
	return d
}

// leave fills the disk until no more than so many octets are free.
func (d *disk) leave(free int64) {
	d.t.Helper()
	piece := make([]byte, 1<<20)
	for {
		var s syscall.Statfs_t
		if err := syscall.Statfs(d.path, &s); err != nil {
			d.t.Fatal(err)
		}
		room := int64(s.Bavail)*s.Bsize - free
		if room <= 0 {
			return
		}
		if _, err := d.fill.Write(piece[:min(room, int64(len(piece)))]); err != nil {
			return // it is full
		}
	}
}

func (d *disk) free() {
	d.t.Helper()
	if err := d.fill.Truncate(0); err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.fill.Seek(0, 0); err != nil {
		d.t.Fatal(err)
	}
}

func TestOnAFullDiskSubmissionsAreRefusedAndServiceResumes(t *testing.T) {
	s := startSMSC(t, smsc.Options{})
	d := mount(t, "256m")
	p := serve(t, s.Addr(), "SMPPONCE_LEDGER_PATH="+filepath.Join(d.path, "ledger"), "SMPPONCE_LEDGER_MIN_FREE=96MiB")
	e := bound(t, p)
	all := differing(1000)
	next := 0
	// until submits one message after the other until an answer has the status, and counts.
	until := func(status uint32) (accepted int) {
		t.Helper()
		for deadline := time.Now().Add(patience); time.Now().Before(deadline) && next < len(all); {
			n, err := e.Submit(all[next])
			if err != nil {
				t.Fatal(err)
			}
			next++
			f, err := e.Answer(bounded(t), n)
			if err != nil {
				t.Fatal(err)
			}
			if f.Status() == wire.OK {
				accepted++
			}
			if f.Status() == status {
				return accepted
			}
			if f.Status() != wire.OK && f.Status() != wire.SystemError {
				t.Fatalf("status %#x", f.Status())
			}
			<-time.After(20 * time.Millisecond) // the proxy looks at the disk now and then
		}
		t.Fatalf("no answer with status %#x", status)
		return 0
	}
	accepted := until(wire.OK)
	for range 2 {
		d.leave(64 << 20)
		accepted += until(wire.SystemError)
		if status, _ := p.Get("/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("readyz says %d, want %d", status, http.StatusServiceUnavailable)
		}
		d.leave(0)
		for range 20 {
			accepted += until(wire.SystemError)
		}
		if status, _ := p.Get("/healthz"); status != http.StatusOK || !p.Running() {
			t.Fatalf("healthz says %d; running: %v", status, p.Running())
		}
		d.free()
		accepted += until(wire.OK)
		if status, _ := p.Get("/readyz"); status != http.StatusOK {
			t.Errorf("readyz says %d once there is room, want %d", status, http.StatusOK)
		}
	}
	if n := s.Counts(); n.Accepted != accepted || n.Duplicates != 0 {
		t.Errorf("the SMSC accepted %d with %d duplicates, and %d were answered so", n.Accepted, n.Duplicates, accepted)
	}
	if code := p.Stop(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
