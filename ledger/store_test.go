package ledger

import (
	"bytes"
	"context"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"pgregory.net/rapid"
)

func openTestStore(t testing.TB, path string) *store {
	t.Helper()
	o := testOptions(t, path)
	s, err := openStore(context.Background(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keys counts the entries of the store by kind.
func (s *store) keys() map[byte]int {
	n := map[byte]int{}
	txn := s.db.NewTransactionAt(1<<62, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.DefaultIteratorOptions)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		n[it.Item().Key()[0]]++
	}
	return n
}

func TestTheStoreRebuildsWhatWasCheckpointedAndWhatCameAfter(t *testing.T) {
	dir := t.TempDir()
	s := openTestStore(t, dir)
	defer func() { s.close() }()
	want := newImage()
	m, h, err := s.rebuild()
	if err != nil || !sameImage(m, want) {
		t.Fatalf("an empty store gives %+v, %v", m, err)
	}
	pieces := uint64(0)
	for seq := uint64(1); seq <= 200; seq++ {
		b := &batch{journal: journal{Seq: seq, At: sec(float64(seq)), First: Number(seq * 10), Opened: 3, Closed: []liveRecord{{Number: Number(seq*10 - 9)}}}}
		if seq%20 == 0 {
			b.Opened = 9000 // and so the next checkpoint has several pieces
			b.First = Number(1_000_000 * seq)
		}
		want.apply(&b.journal)
		if err := s.commit(b); err != nil {
			t.Fatal(err)
		}
		if seq%60 == 30 {
			for n := range want.Live {
				if n > 1_000_000 && n%2 != 0 {
					delete(want.Live, n)
				}
			}
			if h, err = s.checkpoint(h, seq, appendImage(nil, want)); err != nil {
				t.Fatal(err)
			}
			pieces = max(pieces, h.Count)
			if got := s.keys(); got['j'] != 0 || got['c'] != int(h.Count) || got['h'] != 1 {
				t.Errorf("after a checkpoint %v are left, want %d chunks and no journal", got, h.Count)
			}
		}
		if seq%100 == 50 {
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			s = openTestStore(t, dir)
		}
		if seq%25 == 0 {
			got, again, err := s.rebuild()
			if err != nil || !sameImage(got, want) || again != h {
				t.Fatalf("after journal %d: error %v, the same image %v, head %+v, want %+v", seq, err, sameImage(got, want), again, h)
			}
		}
	}
	if pieces < 3 {
		t.Errorf("the largest checkpoint had %d pieces, want several", pieces)
	}
}

func TestACheckpointThatWasBrokenOffChangesNothing(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	defer s.close()
	m := newImage()
	j := journal{Seq: 1, At: sec(1), First: 1, Opened: 3}
	m.apply(&j)
	if err := s.commit(&batch{journal: j}); err != nil {
		t.Fatal(err)
	}
	h, err := s.checkpoint(head{First: 1}, 1, appendImage(nil, m))
	if err != nil {
		t.Fatal(err)
	}
	// The process was killed between the pieces and the head of the next one.
	for i := range uint64(3) {
		if err := s.set(2, chunkKey(h.First+h.Count+i), []byte("a piece")); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := s.rebuild(); err != nil || !sameImage(got, m) {
		t.Fatalf("rebuilt %+v, %v", got, err)
	}
	j = journal{Seq: 2, At: sec(2), First: 4, Opened: 1}
	m.apply(&j)
	if err := s.commit(&batch{journal: j}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.checkpoint(h, 2, appendImage(nil, m)); err != nil {
		t.Fatal(err)
	}
	if got, _, err := s.rebuild(); err != nil || !sameImage(got, m) {
		t.Fatalf("rebuilt %+v, %v", got, err)
	}
}

func TestJournalsThatAPowerCutTookAreLookedPast(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	defer s.close()
	want := newImage()
	for _, seq := range []uint64{1, 2, 5, 6, 100, 4000} {
		j := journal{Seq: seq, At: sec(float64(seq)), First: Number(seq), Opened: 1}
		want.apply(&j)
		if err := s.commit(&batch{journal: j}); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := s.rebuild(); err != nil || !sameImage(got, want) {
		t.Errorf("rebuilt %+v, %v; want %+v", got, err, want)
	}
}

func TestABatchBeyondBadgersBoundIsWrittenWhole(t *testing.T) {
	s := openTestStore(t, t.TempDir())
	defer s.close()
	b := &batch{journal: journal{Seq: 1, At: sec(1), First: 1, Opened: 9000}}
	for i := range 9000 {
		b.put(recordKey(Number(i+1)), make([]byte, 300), 1000)
	}
	if err := s.commit(b); err != nil {
		t.Fatal(err)
	}
	if got := s.keys(); got['r'] != 9000 || got['j'] != 1 {
		t.Errorf("written: %v", got)
	}
}

func TestKeysAreSpreadAndNeverAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		if a != b && bytes.Equal(recordKey(Number(a)), recordKey(Number(b))) {
			t.Fatalf("%d and %d have one key", a, b)
		}
	})
	first := map[byte]bool{}
	for n := range Number(1000) {
		first[recordKey(n)[1]] = true
	}
	if len(first) < 200 {
		t.Errorf("1000 numbers in a row share %d first bytes: compaction would meet none that expired", len(first))
	}
}
