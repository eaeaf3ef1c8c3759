package ledger

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// A witness notes what was on the disk when it was called.
type witness struct {
	*sub
	syncs    []int64 // of the store, when it was forwarded
	answered bool    // its outcome was in the store when it was answered
}

func (w *witness) Forward(n Number, until Time) (uint32, bool) {
	w.syncs = append(w.syncs, w.esme.l.store.syncs.Load())
	return w.sub.Forward(n, until)
}

func (w *witness) Answer(a Answer) {
	r, err := w.esme.l.store.message(w.esme.l.book.account("acme").hasher.messageID([]byte("77")))
	w.answered = err == nil && r != nil && r.Standing.Answered != 0 && r.State() == Accepted
	w.sub.Answer(a)
}

func TestAnIntentIsSyncedBeforeForwardAndAnOutcomeInTheStoreBeforeAnswer(t *testing.T) {
	for mode, name := range map[SyncMode]string{SyncIntents: "intents", SyncAll: "all", SyncNone: "none"} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, t.TempDir())
			o.Sync = mode
			l := open(t, o)
			defer l.Close()
			e := newESME(t, l, "acme")
			before := l.store.syncs.Load()
			w := &witness{sub: &sub{esme: e}}
			f := e.h.Fingerprint([]byte("text"))
			w.Submission = Submission{Session: e.session, Leg: e.leg, Sequence: 1, At: l.Now(), Key: e.h.Content(f), Fingerprint: f}
			w.Waiter = w
			l.Claim(&w.Claim)
			n := w.forwarded()
			if synced := w.syncs[0] > before; synced != (mode != SyncNone) {
				t.Errorf("%d syncs before it was claimed and %d when it was forwarded", before, w.syncs[0])
			}
			settled := l.store.syncs.Load()
			l.Settle(n, accepted("77"))
			w.sub.answered()
			if !w.answered {
				t.Error("answered before its outcome was in the store")
			}
			if synced := l.store.syncs.Load() > settled; synced != (mode == SyncAll) {
				t.Errorf("the outcome was synced: %v", synced)
			}
		})
	}
}

func TestSyncsAreOursAlone(t *testing.T) {
	o := storeOptions("nowhere", zap.NewNop())
	if o.SyncWrites || o.DetectConflicts || o.NumVersionsToKeep != 1 {
		t.Errorf("options %+v: the store syncs by itself what must be synced, and has one writer", o)
	}
}

func TestAnotherHolderOfTheDirectoryIsNamedAndWaitedFor(t *testing.T) {
	dir := t.TempDir()
	l := open(t, testOptions(t, dir))
	o := testOptions(t, dir)
	o.LockWait = 150 * time.Millisecond
	if _, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "ledger.path "+dir) || !strings.Contains(err.Error(), "ledger.lock_wait (150ms)") {
		t.Errorf("error %v: must name ledger.path and ledger.lock_wait", err)
	}

	ctx, cancel := context.WithCancelCause(context.Background())
	o = testOptions(t, dir)
	o.LockWait = time.Hour
	cancel(fmt.Errorf("told to stop"))
	if _, err := Open(ctx, o); err == nil || !strings.Contains(err.Error(), "told to stop") {
		t.Errorf("error %v, want what stopped it", err)
	}

	core, logs := observer.New(zap.InfoLevel)
	o = testOptions(t, dir)
	o.LockWait, o.Log = time.Minute, zap.New(core)
	type opened struct {
		l   *Ledger
		err error
	}
	done := make(chan opened)
	go func() {
		l, err := Open(context.Background(), o)
		done <- opened{l, err}
	}()
	for start := time.Now(); logs.FilterMessageSnippet("waiting for it to let go").Len() == 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("it does not say that it waits")
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	if n := logs.FilterMessageSnippet("waiting for it to let go").Len(); n != 1 {
		t.Errorf("said %d times that it waits", n)
	}
	got.l.Close()
}

func TestEachOpenBeginsAnEpoch(t *testing.T) {
	dir := t.TempDir()
	seen := map[SessionID]bool{}
	var secret []byte
	for i := range 5 {
		l := open(t, testOptions(t, dir))
		if l.epoch != uint64(i+1) {
			t.Errorf("epoch %d, want %d", l.epoch, i+1)
		}
		if secret != nil && !bytes.Equal(secret, l.secret) {
			t.Error("the secret has changed")
		}
		secret = l.secret
		if i > 2 { // the first ones leave nothing but their epoch
			id := l.OpenSession("acme", true)
			if seen[id] {
				t.Errorf("session %v again", id)
			}
			seen[id] = true
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADamagedLedgerGivesAnErrorThatNamesItsPath(t *testing.T) {
	// fill leaves a record in doubt, an answered one, journals and a checkpoint.
	fill := func(t *testing.T, dir string) {
		l := open(t, testOptions(t, dir))
		e := newESME(t, l, "acme")
		n := e.submit("answered").forwarded()
		l.Settle(n, accepted("77"))
		e.submit("in doubt").forwarded()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		s := openTestStore(t, dir)
		m, h, err := s.rebuild()
		if err == nil {
			_, err = s.checkpoint(h, m.Seq, appendImage(nil, m))
		}
		if err == nil {
			err = s.commit(&batch{journal: journal{Seq: m.Seq + 1, At: m.At}})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.close()
	}
	spoil := func(key func(*image, head) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			s := openTestStore(t, dir)
			defer s.close()
			m, h, err := s.rebuild()
			if err == nil {
				err = s.set(m.Seq+1, key(m, h), []byte("garbage"))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	files := func(pattern string, change func(name string) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			names, _ := filepath.Glob(filepath.Join(dir, pattern))
			if len(names) == 0 {
				t.Fatalf("no %s", pattern)
			}
			for _, name := range names {
				if err := change(name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	garbage := func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte("garbage "), 200), 0o600) }
	for name, damage := range map[string]func(*testing.T, string){
		"head":    spoil(func(*image, head) []byte { return headKey }),
		"chunk":   spoil(func(_ *image, h head) []byte { return chunkKey(h.First) }),
		"journal": spoil(func(m *image, _ head) []byte { return journalKey(m.Seq) }),
		"record": spoil(func(m *image, _ head) []byte {
			for n, l := range m.Live {
				if !l.Accepted {
					return recordKey(n)
				}
			}
			return nil
		}),
		"secret":              spoil(func(*image, head) []byte { return secretKey }),
		"epoch":               spoil(func(*image, head) []byte { return epochKey }),
		"MANIFEST is garbage": files("MANIFEST", garbage),
		"tables are gone":     files("*.sst", os.Remove), // one that is damaged makes Badger panic, in a goroutine of its own
		"it is a file": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ledger")
			fill(t, dir)
			damage(t, dir)
			o := testOptions(t, dir)
			o.Log = zap.NewNop()
			l, err := Open(context.Background(), o)
			if err == nil {
				l.Close()
				t.Fatal("it opens")
			}
			t.Log(err)
			if !strings.Contains(err.Error(), "ledger.path") {
				t.Errorf("error %v: must name ledger.path", err)
			}
		})
	}
}

func TestWhatIsLeftOfAClosedLedgerIsNothing(t *testing.T) {
	o := testOptions(t, t.TempDir())
	l := open(t, o)
	e := newESME(t, l, "acme")
	e.submit("A").forwarded()
	l.Lookup("acme", &Receipt{ID: []byte("77"), Destination: Address{}}, time.Hour, func(Found) {})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.stopped:
	default:
		t.Error("run goes on")
	}
	l.users.Wait()
	o.Metrics = prometheus.NewRegistry()
	open(t, o).Close()
}
