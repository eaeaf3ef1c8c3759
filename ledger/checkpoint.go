package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// chunkSize keeps the pieces of a checkpoint far below Badger's value threshold and its transaction's bound.
const chunkSize = 64 << 10

// Journals are deleted in the same transaction as the head that makes them superfluous; so many fit into it easily.
const (
	checkpointEvery = 1024    // journals
	checkpointBytes = 1 << 20 // of journals, or as much as twice the last checkpoint
)

// A head says which checkpoint is valid: chunks First to First+Count-1, which hold the image after journal Seq. Journals from
// Tail to Seq may be gone.
type head struct{ First, Count, Seq uint64 }

func (h head) encode() []byte {
	b := binary.AppendUvarint([]byte{journalVersion}, h.First)
	return binary.AppendUvarint(binary.AppendUvarint(b, h.Count), h.Seq)
}

func decodeHead(b []byte) (h head, err error) {
	d := decoder{b: b}
	if v := d.byte(); v != journalVersion {
		return h, fmt.Errorf("ledger layout %d, this version reads %d: %w", v, journalVersion, errCorrupt)
	}
	h = head{d.uint(), d.uint(), d.uint()}
	if d.bad || len(d.b) > 0 {
		return h, fmt.Errorf("head of %d bytes: %w", len(b), errCorrupt)
	}
	return h, nil
}

// checkpoint writes an encoded image in chunks, each synced before the next: a sync covers the active memtable only, and the next chunk may
// begin another. Then, in one synced transaction, come the head that points to them and the deletion of what the last one needed.
func (s *store) checkpoint(last head, seq uint64, image []byte) (head, error) {
	h := head{First: last.First + last.Count, Seq: seq}
	for len(image) > 0 || h.Count == 0 {
		chunk := image[:min(chunkSize, len(image))]
		image = image[len(chunk):]
		key := chunkKey(h.First + h.Count)
		err := s.write(seq, func(set func(*badger.Entry) error) error { return set(badger.NewEntry(key, bytes.Clone(chunk))) })
		if err == nil {
			err = s.flush()
		}
		if err != nil {
			return last, err
		}
		h.Count++
	}
	txn := s.db.NewTransactionAt(seq, true)
	defer txn.Discard()
	if err := txn.Set(headKey, h.encode()); err != nil {
		return last, err
	}
	for i := range last.Count {
		if err := txn.Delete(chunkKey(last.First + i)); err != nil {
			return last, err
		}
	}
	for j := last.Seq + 1; j <= seq; j++ {
		if err := txn.Delete(journalKey(j)); err != nil {
			return last, err
		}
	}
	if err := txn.CommitAt(seq, nil); err != nil {
		return last, err
	}
	return h, s.flush()
}

// journalGap is how many missing journals are looked past: after a power cut the last unsynced ones can be gone though
// later, synced ones are there.
const journalGap = 4096

// rebuild reads the last checkpoint and adds the journals after it.
func (s *store) rebuild() (*image, head, error) {
	m, h := newImage(), head{First: 1}
	b, err := s.get(headKey)
	if err != nil {
		return nil, h, err
	}
	if b != nil {
		if h, err = decodeHead(b); err != nil {
			return nil, h, err
		}
		var text []byte
		for i := range h.Count {
			chunk, err := s.get(chunkKey(h.First + i))
			if err != nil {
				return nil, h, err
			}
			text = append(text, chunk...)
		}
		if m, err = decodeImage(text); err != nil {
			return nil, h, err
		}
	}
	for seq := m.Seq + 1; seq <= m.Seq+journalGap; seq++ {
		b, err := s.get(journalKey(seq))
		if err != nil {
			return nil, h, err
		}
		if b == nil {
			continue
		}
		j, err := decodeJournal(b)
		if err != nil {
			return nil, h, err
		}
		m.apply(j)
	}
	return m, h, nil
}
