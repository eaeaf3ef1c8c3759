package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheBallastIsRealAndGoesWhenSpaceIsShort(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ballastName)
	const minFree = 4 << 20
	if err := keepBallast(dir, minFree); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Size() != minFree/2 || allocated(info) < minFree/2 {
		t.Fatalf("ballast %+v, %v; want %d bytes that are really taken", info, err, minFree/2)
	}
	if size := (&store{path: dir}).size(); size != 0 {
		t.Errorf("the ballast counts as %d bytes of the ledger", size)
	}
	if err := dropBallast(dir, minFree); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Errorf("given up though there is room: %v", err)
	}
	for range 2 { // there may be none
		if err := dropBallast(dir, 1<<60); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("still there though space is short: %v", err)
	}
	if err := keepBallast(dir, 1<<60); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("made though space is short: %v", err)
	}
}

func TestAFullVolumeIsNamedWithItsSetting(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"ledger.min_free is 1.0 EiB": func(o *Options) { o.MinFree = 1 << 60 },
		"ledger.max_bytes is 1 B":    func(o *Options) { o.MaxBytes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, t.TempDir())
			change(&o)
			l := open(t, o)
			defer l.Close()
			if err := l.Writable(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("writable: %v, want an error that says %q", err, name)
			}
			e := newESME(t, l, "acme")
			if s := e.submit("A"); s.answered().Status != 0x08 || len(s.attempts) != 0 {
				t.Errorf("answer %+v after %d attempts, want ESME_RSYSERR and none", s.answers[0], len(s.attempts))
			}
		})
	}
}
