package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// recordVersion is the first byte of an encoded record. A layout that changes gets a new one.
const recordVersion = 2

var errCorrupt = errors.New("corrupt entry")

// appendBytes appends b with its length before it.
func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func appendTime(dst []byte, t Time) []byte { return binary.AppendVarint(dst, int64(t)) }

// flags of an encoded record
const (
	flagExplicit = 1 << iota
	flagReceipt
	flagHeld
	flagAnswer
	flagSeveral
	flagReleased
)

// appendRecord encodes r: a version byte, flags, then each field of Record in its order, numbers and times as
// varints, byte strings with their length. A content key is left out: it is the fingerprint.
func appendRecord(dst []byte, r *Record) []byte {
	flags := bit(r.Key.Explicit)*flagExplicit | bit(r.ReceiptRequested)*flagReceipt | bit(r.Held)*flagHeld | bit(r.Answer != nil)*flagAnswer |
		bit(r.Several)*flagSeveral | bit(r.Released)*flagReleased
	dst = append(dst, recordVersion, flags)
	dst = binary.AppendUvarint(dst, uint64(r.Number))
	dst = appendTime(dst, r.Claimed)
	dst = binary.AppendUvarint(dst, uint64(r.Version))
	dst = appendBytes(dst, []byte(r.Account))
	dst = append(dst, r.Fingerprint[:]...)
	if r.Key.Explicit {
		dst = append(dst, r.Key.Hash[:]...)
		dst = append(dst, r.Key.Value[:]...)
	}
	dst = binary.AppendVarint(dst, r.Schedule)
	dst = append(dst, r.Source[:]...)
	dst = append(dst, r.Destination[:]...)
	dst = appendBytes(dst, []byte(r.Masked))
	dst = binary.AppendUvarint(dst, uint64(r.Reference))
	for _, b := range r.Beginnings {
		dst = append(dst, b[:]...)
	}
	dst = appendPart(dst, &r.Part)
	dst = binary.AppendUvarint(dst, uint64(r.Forgotten))
	dst = binary.AppendUvarint(dst, uint64(len(r.Attempts)))
	for i := range r.Attempts {
		dst = appendAttempt(dst, &r.Attempts[i])
	}
	dst = appendStand(dst, &r.Standing)
	dst = binary.AppendUvarint(dst, uint64(len(r.History)))
	for i := range r.History {
		dst = appendStand(dst, &r.History[i])
	}
	dst = appendTime(dst, r.Loss)
	dst = appendTime(dst, r.Until)
	if r.Answer != nil {
		dst = appendResponse(dst, r.Answer)
	}
	return dst
}

// appendPart begins with the total, which is 0 where there is no part and then all.
func appendPart(dst []byte, p *Part) []byte {
	dst = append(dst, p.Total)
	if p.Total > 0 {
		dst = append(append(dst, p.Number), p.Group[:]...)
		dst = binary.BigEndian.AppendUint16(dst, p.Reference)
	}
	return dst
}

func appendAttempt(dst []byte, a *Attempt) []byte {
	dst = binary.AppendUvarint(dst, uint64(a.Number))
	dst = binary.AppendUvarint(dst, uint64(a.Leg))
	dst = binary.AppendUvarint(dst, uint64(a.Sequence))
	dst = appendTime(dst, a.At)
	dst = appendTime(dst, a.Ended)
	dst = append(dst, byte(a.State), byte(a.Evidence), bit(a.Nack))
	dst = binary.AppendUvarint(dst, uint64(a.Status))
	dst = append(dst, bit(a.Told), byte(a.Final))
	return appendBytes(dst, a.ID)
}

func appendStand(dst []byte, s *Stand) []byte {
	dst = binary.AppendUvarint(dst, uint64(s.Session))
	dst = binary.AppendUvarint(dst, uint64(s.Sequence))
	dst = appendTime(dst, s.At)
	dst = append(dst, byte(s.Verdict), byte(s.Reason))
	dst = appendTime(dst, s.Answered)
	dst = binary.AppendUvarint(dst, uint64(s.Status))
	dst = appendTime(dst, s.Lost)
	return binary.AppendUvarint(dst, uint64(s.Reference))
}

func appendResponse(dst []byte, r *Response) []byte {
	dst = append(dst, bit(r.Nack))
	dst = binary.AppendUvarint(dst, uint64(r.Status))
	dst = appendBytes(dst, r.MessageID)
	return appendBytes(dst, r.Body)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// decodeRecord is the inverse of appendRecord. The record shares no memory with b. Damage gives an error that wraps
// errCorrupt, never a panic and never a record.
func decodeRecord(b []byte) (*Record, error) {
	d := decoder{b: b}
	if v := d.byte(); v != recordVersion {
		return nil, fmt.Errorf("record layout %d, this version reads %d: %w", v, recordVersion, errCorrupt)
	}
	flags := d.byte()
	r := &Record{
		Number:           Number(d.uint()),
		Claimed:          d.time(),
		Version:          uint32(d.uint()),
		Account:          string(d.bytes()),
		Fingerprint:      Fingerprint(d.fixed(16)),
		ReceiptRequested: flags&flagReceipt != 0,
		Held:             flags&flagHeld != 0,
		Several:          flags&flagSeveral != 0,
		Released:         flags&flagReleased != 0,
	}
	r.Key = contentKey(r.Fingerprint)
	if flags&flagExplicit != 0 {
		r.Key = Key{Explicit: true, Hash: [16]byte(d.fixed(16)), Value: [16]byte(d.fixed(16))}
	}
	r.Schedule = d.int()
	r.Source, r.Destination = Address(d.fixed(8)), Address(d.fixed(8))
	r.Masked = string(d.bytes())
	r.Reference = uint16(d.uint())
	for i := range r.Beginnings {
		r.Beginnings[i] = Beginning(d.fixed(4))
	}
	r.Part = d.part()
	r.Forgotten = uint32(d.uint())
	for n := d.count(); n > 0; n-- {
		r.Attempts = append(r.Attempts, d.attempt())
	}
	r.Standing = d.stand()
	for n := d.count(); n > 0; n-- {
		r.History = append(r.History, d.stand())
	}
	r.Loss, r.Until = d.time(), d.time()
	if flags&flagAnswer != 0 {
		r.Answer = d.response()
	}
	if d.bad || len(d.b) > 0 || len(r.Attempts) == 0 {
		return nil, fmt.Errorf("record of %d bytes: %w", len(b), errCorrupt)
	}
	return r, nil
}

// A decoder takes values off b. After damage it is bad and gives zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() { d.bad, d.b = true, nil }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) time() Time { return Time(d.int()) }

func (d *decoder) byte() byte { return d.fixed(1)[0] }

// below reads a byte that must be under limit.
func (d *decoder) below(limit uint8) uint8 {
	v := d.byte()
	if v >= limit {
		d.fail()
		return 0
	}
	return v
}

func (d *decoder) bool() bool { return d.below(2) == 1 }

// fixed gives the next n bytes, n at most 16.
func (d *decoder) fixed(n int) []byte {
	if len(d.b) < n {
		d.fail()
		return make([]byte, n)
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

// bytes gives a copy; nil for none.
func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	v := append([]byte(nil), d.b[:n]...)
	d.b = d.b[n:]
	return v
}

// count gives the length of a list; each item takes at least a byte.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) part() (p Part) {
	if p.Total = d.byte(); p.Total > 0 {
		p.Number = d.byte()
		p.Group = [8]byte(d.fixed(8))
		p.Reference = binary.BigEndian.Uint16(d.fixed(2))
	}
	return p
}

func (d *decoder) attempt() Attempt {
	return Attempt{
		Number:   Number(d.uint()),
		Leg:      LegID(d.uint()),
		Sequence: uint32(d.uint()),
		At:       d.time(),
		Ended:    d.time(),
		State:    State(d.below(uint8(stateEnds))),
		Evidence: Evidence(d.below(uint8(evidenceEnds))),
		Nack:     d.bool(),
		Status:   uint32(d.uint()),
		Told:     d.bool(),
		Final:    Final(d.below(uint8(finalEnds))),
		ID:       d.bytes(),
	}
}

func (d *decoder) stand() Stand {
	return Stand{
		Session:   SessionID(d.uint()),
		Sequence:  uint32(d.uint()),
		At:        d.time(),
		Verdict:   Verdict(d.below(uint8(verdictEnds))),
		Reason:    Reason(d.below(uint8(reasonEnds))),
		Answered:  d.time(),
		Status:    uint32(d.uint()),
		Lost:      d.time(),
		Reference: uint16(d.uint()),
	}
}

func (d *decoder) response() *Response {
	return &Response{Nack: d.bool(), Status: uint32(d.uint()), MessageID: d.bytes(), Body: d.bytes()}
}
