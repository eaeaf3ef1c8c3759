package ledger

import (
	"encoding/binary"
	"fmt"
)

// observationLimit bounds what is kept of an id and of a status as a receipt had them.
const observationLimit = 128

// observe writes down that a receipt came for a known message.
func (b *book) observe(q *lookup, now Time) {
	if b.unwritable {
		return // it is for an operator's eyes alone
	}
	b.observed = max(b.observed+1, now) // each has its own time, and so its own key
	r := q.receipt
	o := Observation{At: now, ID: r.ID[:min(len(r.ID), observationLimit)], State: r.State, Status: r.Status[:min(len(r.Status), observationLimit)]}
	b.batch.put(observationKey(q.key, b.observed), appendObservation(nil, &o), int64((b.retention + ttlSlack).Seconds()))
}

// observationKey is o, the hash of the message id, and the time.
func observationKey(id [16]byte, at Time) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{'o'}, id[:]...), uint64(at))
}

const observationVersion = 1

// appendObservation encodes o: a version byte, then its fields in their order.
func appendObservation(dst []byte, o *Observation) []byte {
	dst = appendTime(append(dst, observationVersion), o.At)
	dst = appendBytes(dst, o.ID)
	dst = appendBytes(dst, []byte(o.State))
	return appendBytes(dst, o.Status)
}

func decodeObservation(b []byte) (*Observation, error) {
	d := decoder{b: b}
	if v := d.byte(); v != observationVersion {
		return nil, fmt.Errorf("observation layout %d, this version reads %d: %w", v, observationVersion, errCorrupt)
	}
	o := &Observation{At: d.time(), ID: d.bytes(), State: string(d.bytes()), Status: d.bytes()}
	if d.bad || len(d.b) > 0 {
		return nil, fmt.Errorf("observation of %d bytes: %w", len(b), errCorrupt)
	}
	return o, nil
}
