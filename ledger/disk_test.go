package ledger

import (
	"errors"
	"strings"
)

// A disk is the store of a rig: what was committed, and what of it was synced.
type disk struct {
	entries map[string][]byte
	synced  map[string][]byte
	epoch   uint64
	broken  error // reads fail
	reads   int
}

func newDisk() *disk { return &disk{entries: map[string][]byte{}, synced: map[string][]byte{}} }

func (d *disk) write(j *job) {
	for _, p := range j.batch.puts {
		d.entries[string(p.key)] = p.value
	}
	d.entries[string(journalKey(j.batch.Seq))] = appendJournal(nil, &j.batch.journal)
	if j.image != nil {
		d.entries[string(headKey)] = j.image
	}
}

func (d *disk) needsSync(j *job, mode SyncMode) bool {
	return (&store{sync: mode}).synced(j.batch) || j.image != nil
}

func (d *disk) sync() {
	clear(d.synced)
	for k, v := range d.entries {
		d.synced[k] = v
	}
}

func (d *disk) cutPower() {
	clear(d.entries)
	for k, v := range d.synced {
		d.entries[k] = v
	}
}

func (d *disk) rebuild() (*image, error) {
	m := newImage()
	if b := d.entries[string(headKey)]; b != nil {
		var err error
		if m, err = decodeImage(b); err != nil {
			return nil, err
		}
	}
	for seq := m.Seq + 1; ; seq++ {
		b := d.entries[string(journalKey(seq))]
		if b == nil {
			return m, nil
		}
		j, err := decodeJournal(b)
		if err != nil {
			return nil, err
		}
		m.apply(j)
	}
}

func (d *disk) read(key []byte) (*Record, error) {
	d.reads++
	if d.broken != nil {
		return nil, d.broken
	}
	b := d.entries[string(key)]
	if b == nil {
		return nil, nil
	}
	return decodeRecord(b)
}

func (d *disk) explicit(hash [16]byte) (*Record, error) { return d.read(explicitKey(hash)) }
func (d *disk) message(id [16]byte) (*Record, error)    { return d.read(messageKey(id)) }
func (d *disk) record(n Number) (*Record, error)        { return d.read(recordKey(n)) }

func (d *disk) carried(reference [16]byte) (numbers []Number, err error) {
	for k, v := range d.entries {
		if strings.HasPrefix(k, "u"+string(reference[:])) && len(numbers) < 2 {
			c := decoder{b: v}
			numbers = append(numbers, Number(c.uint()))
		}
	}
	return numbers, d.broken
}

var errDisk = errors.New("input/output error")
