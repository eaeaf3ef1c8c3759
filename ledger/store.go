package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"
)

// A store is the Badger directory. commit and checkpoint are called by one goroutine alone, the sole writer; reads are
// free for all. Badger runs in managed mode: the sequence number of the journal is the version of all that a
// transaction writes, and reads never wait for a commit under way.
type store struct {
	db   *badger.DB
	sync SyncMode
	path string
	// reserve is the free space without which nothing is committed: see space.go.
	reserve int64
	// syncs counts syncs, for the test of the write order.
	syncs atomic.Int64
}

// Keys. Numbers are spread by a bijection, so that compaction meets expired and live entries everywhere alike;
// sequential keys were never reclaimed.
//
//	r + spread(number)   record, while it has no message id
//	m + hash(id)         record, by SMSC message id
//	k + hash(key)        record, by explicit key, once it is not in flight
//	u + hash(reference) + spread(number)
//	                     record, by destination and user_message_reference
//	o + hash(id) + time  observation
//	j + spread(seq)      journal
//	c + spread(chunk)    a piece of a checkpoint
//	h                    head: which checkpoint is valid
//	meta/...             secret, epoch, time of creation
func recordKey(n Number) []byte     { return spreadKey('r', uint64(n)) }
func journalKey(seq uint64) []byte  { return spreadKey('j', seq) }
func chunkKey(n uint64) []byte      { return spreadKey('c', n) }
func messageKey(id [16]byte) []byte { return append([]byte{'m'}, id[:]...) }
func explicitKey(h [16]byte) []byte { return append([]byte{'k'}, h[:]...) }

// referenceKey lists record n among those that carried a reference.
func referenceKey(reference [16]byte, n Number) []byte {
	return append(append([]byte{'u'}, reference[:]...), spreadKey(0, uint64(n))[1:]...)
}

var (
	headKey    = []byte("h")
	secretKey  = []byte("meta/secret")
	epochKey   = []byte("meta/epoch")
	createdKey = []byte("meta/created")
)

// spreadKey uses the finalizer of splitmix64, which is a bijection.
func spreadKey(kind byte, n uint64) []byte {
	n ^= n >> 30
	n *= 0xbf58476d1ce4e5b9
	n ^= n >> 27
	n *= 0x94d049bb133111eb
	n ^= n >> 31
	return binary.BigEndian.AppendUint64([]byte{kind}, n)
}

// storeOptions keep memory small and bounded: 16 MiB memtables, values in the LSM, no caches but the index's.
func storeOptions(path string, log *zap.Logger) badger.Options {
	return badger.DefaultOptions(path).
		WithLogger(badgerLog{log.Sugar()}).
		WithSyncWrites(false).
		WithMemTableSize(16 << 20).
		WithNumMemtables(2).
		WithCompression(0).
		WithBlockCacheSize(0).
		WithIndexCacheSize(16 << 20).
		WithValueLogFileSize(16 << 20).
		WithNumVersionsToKeep(1).
		WithNumCompactors(2).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(10).
		WithDetectConflicts(false).
		WithMetricsEnabled(false)
}

// openStore opens the directory, and waits up to wait for another process to let go of it.
func openStore(ctx context.Context, o *Options) (*store, error) {
	if err := os.MkdirAll(o.Path, 0o700); err != nil {
		return nil, fmt.Errorf("ledger.path: cannot make the directory: %w", err)
	}
	deadline := time.Now().Add(o.LockWait)
	for logged := false; ; {
		if err := dropBallast(o.Path, o.MinFree); err != nil {
			return nil, fmt.Errorf("ledger.path %s: %w", o.Path, err)
		}
		if err := reserved(o.Path, reserveOf(o.MinFree)); err != nil {
			return nil, fmt.Errorf("ledger.path %s: %w; the ledger is not opened, since a disk that is full would end the process", o.Path, err)
		}
		db, err := badger.OpenManaged(storeOptions(o.Path, o.Log))
		if err == nil {
			return &store{db: db, sync: o.Sync, path: o.Path, reserve: reserveOf(o.MinFree)}, nil
		}
		if !strings.Contains(err.Error(), "Cannot acquire directory lock") {
			return nil, fmt.Errorf("ledger.path %s: cannot open: %w", o.Path, err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("ledger.path %s: another process still holds it after ledger.lock_wait (%s); two processes cannot share a ledger", o.Path, o.LockWait)
		}
		if !logged {
			o.Log.Info("another process holds the ledger: waiting for it to let go", zap.String("path", o.Path), zap.Duration("lock_wait", o.LockWait))
			logged = true
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("ledger.path %s: stopped while waiting for the lock: %w", o.Path, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// commit writes a batch: records first, its journal last, all in one transaction unless Badger's bound is met; then nothing
// counts before the last one, which holds the journal. What it wrote survives the process; for a power cut see durable.
func (s *store) commit(b *batch) error {
	if err := reserved(s.path, s.reserve); err != nil {
		return err
	}
	err := s.write(b.Seq, func(set func(*badger.Entry) error) error {
		now := time.Now().Unix()
		for i := range b.puts {
			p := &b.puts[i]
			e := badger.NewEntry(p.key, p.value)
			e.ExpiresAt = uint64(now + p.ttl)
			if err := set(e); err != nil {
				return err
			}
		}
		return set(badger.NewEntry(journalKey(b.Seq), appendJournal(nil, &b.journal)))
	})
	if err == nil {
		s.db.SetDiscardTs(b.Seq)
	}
	return err
}

// synced says whether ledger.sync wants b on the disk before it counts. Then a flush must follow its commit before the next one: it covers
// the active memtable only, and the next commit may begin another.
func (s *store) synced(b *batch) bool {
	return s.sync == SyncAll || s.sync == SyncIntents && b.intents
}

func (s *store) flush() error {
	s.syncs.Add(1)
	return s.db.Sync()
}

// write runs fill in as few transactions as Badger's bound allows.
func (s *store) write(version uint64, fill func(set func(*badger.Entry) error) error) error {
	txn := s.db.NewTransactionAt(version, true)
	defer func() { txn.Discard() }()
	err := fill(func(e *badger.Entry) error {
		err := txn.SetEntry(e)
		if !errors.Is(err, badger.ErrTxnTooBig) {
			return err
		}
		if err := txn.CommitAt(version, nil); err != nil {
			return err
		}
		txn = s.db.NewTransactionAt(version, true)
		return txn.SetEntry(e)
	})
	if err != nil {
		return err
	}
	return txn.CommitAt(version, nil)
}

// get reads the newest value of key; nil where there is none.
func (s *store) get(key []byte) ([]byte, error) {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

func (s *store) read(key []byte) (*Record, error) {
	b, err := s.get(key)
	if err != nil || b == nil {
		return nil, err
	}
	return decodeRecord(b)
}

func (s *store) explicit(hash [16]byte) (*Record, error) { return s.read(explicitKey(hash)) }
func (s *store) message(id [16]byte) (*Record, error)    { return s.read(messageKey(id)) }
func (s *store) record(n Number) (*Record, error)        { return s.read(recordKey(n)) }

// carried gives the numbers of the records that carried a reference: two at most, since two prove nothing.
func (s *store) carried(reference [16]byte) (numbers []Number, err error) {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	prefix := append([]byte{'u'}, reference[:]...)
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid() && len(numbers) < 2; it.Next() {
		err := it.Item().Value(func(v []byte) error {
			d := decoder{b: v}
			n := Number(d.uint())
			if d.bad {
				return fmt.Errorf("reference of %d bytes: %w", len(v), errCorrupt)
			}
			numbers = append(numbers, n)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// scan gives all entries of a kind to each, until it or stop says that it is enough.
func (s *store) scan(kind byte, stop func() error, each func(value []byte) (more bool)) error {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}, PrefetchValues: true, PrefetchSize: 100})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		more := false
		err := it.Item().Value(func(v []byte) error {
			more = each(v)
			return stop()
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// observations gives the receipts that came under a message id, oldest first: the latest ones, limit at most.
func (s *store) observations(id [16]byte, limit int) (list []Observation, err error) {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	prefix := append([]byte{'o'}, id[:]...)
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, Reverse: true})
	defer it.Close()
	for it.Seek(append(prefix, 0xff)); it.Valid() && len(list) < limit; it.Next() {
		err := it.Item().Value(func(v []byte) error {
			o, err := decodeObservation(v)
			if err == nil {
				list = append(list, *o)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Reverse(list)
	return list, nil
}

// set writes single values that must be on disk at once, at the open.
func (s *store) set(version uint64, pairs ...[]byte) error {
	err := s.write(version, func(set func(*badger.Entry) error) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := set(badger.NewEntry(pairs[i], pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.flush()
}

func (s *store) close() error { return s.db.Close() }

// size is the bytes of the ledger's files.
func (s *store) size() (total int64) {
	entries, err := os.ReadDir(s.path)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Base(e.Name()) != ballastName {
			total += allocated(info)
		}
	}
	return total
}

// badgerLog passes Badger's warnings and errors on, and its chatter at debug.
type badgerLog struct{ *zap.SugaredLogger }

func (l badgerLog) Warningf(f string, v ...any) { l.Warnf(strings.TrimSpace(f), v...) }
func (l badgerLog) Errorf(f string, v ...any)   { l.SugaredLogger.Errorf(strings.TrimSpace(f), v...) }
func (l badgerLog) Infof(f string, v ...any)    { l.SugaredLogger.Debugf(strings.TrimSpace(f), v...) }
func (l badgerLog) Debugf(f string, v ...any)   { l.SugaredLogger.Debugf(strings.TrimSpace(f), v...) }
