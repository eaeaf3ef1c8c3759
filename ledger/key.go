package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// A Fingerprint is the keyed hash of what a submission says (DESIGN 4.1, content). 128 bits: a collision would
// suppress a message, so 64 are too few.
type Fingerprint [16]byte

// A Key is the identity of a request within the ledger.
type Key struct {
	// Explicit: the submission carries a request id in a TLV. Otherwise the key is the fingerprint.
	Explicit bool
	// Hash is the keyed hash of account, tag, value, destination and part (explicit), or the fingerprint.
	Hash [16]byte
	// Value is the keyed hash of account, tag and value alone: by it a value that proves to be no reference
	// is known again. Zero for content keys.
	Value [16]byte
}

func (k Key) String() string { return hex.EncodeToString(k.Hash[:8]) }

// Kind names the key in logs and metrics.
func (k Key) Kind() string {
	if k.Explicit {
		return "explicit"
	}
	return "content"
}

// An Address is the keyed hash of the last seven octets of an address: enough to tell whether a receipt can
// belong to something outstanding, whatever prefix the SMSC puts before the number.
type Address [8]byte

// A Beginning is the keyed hash of the first characters of a text, or of what of them can be compared. Zero: not known.
type Beginning [4]byte

// A Part says which part of a long message a submission is (DESIGN 4.6). Zero: it is none.
type Part struct {
	Group         [8]byte // keyed hash of source, destination, the reference's form and Total: what its parts share, but for Reference
	Reference     uint16  // of the concatenation
	Total, Number byte    // 1 <= Number <= Total
}

// A Hasher makes the keys of one account. It is not safe for concurrent use: each reader has its own. It does not
// allocate.
type Hasher struct {
	mac   hash.Hash
	scope []byte
	sum   [sha256.Size]byte
	size  [4]byte
}

// NewHasher binds a hasher to a secret and to upstream and account, the scope of every key. Ledger.Hasher knows the ledger's secret.
func NewHasher(secret []byte, upstream, account string) *Hasher {
	h := &Hasher{mac: hmac.New(sha256.New, secret)}
	h.scope = appendBytes(appendBytes(nil, []byte(upstream)), []byte(account))
	return h
}

// Fingerprint hashes the canonical content of a submission.
func (h *Hasher) Fingerprint(content []byte) Fingerprint {
	h.begin('c')
	h.mac.Write(content)
	return Fingerprint(h.end()[:16])
}

// Content is the key of a submission without a request id.
func (h *Hasher) Content(f Fingerprint) Key { return contentKey(f) }

func contentKey(f Fingerprint) Key { return Key{Hash: f} }

// Explicit is the key of a submission that carries a request id: value under tag, for the part (number of total; 0
// of 0 where the message has one part) that goes to destination (ton, npi and digits).
func (h *Hasher) Explicit(tag uint16, value, destination []byte, number, total byte) Key {
	k := Key{Explicit: true, Value: h.value(tag, value)}
	h.begin('k')
	h.part(k.Value[:])
	h.part(destination)
	h.part([]byte{number, total})
	copy(k.Hash[:], h.end())
	return k
}

// value hashes a request id, for whatever destination and part.
func (h *Hasher) value(tag uint16, value []byte) (v [16]byte) {
	h.begin('v')
	h.part([]byte{byte(tag >> 8), byte(tag)})
	h.part(value)
	copy(v[:], h.end())
	return v
}

// Address hashes the last seven octets of an address.
func (h *Hasher) Address(addr []byte) (a Address) {
	h.begin('d')
	h.part(addr[max(0, len(addr)-7):])
	copy(a[:], h.end())
	return a
}

// Beginning hashes the beginning of a text; an empty one is not known.
func (h *Hasher) Beginning(text []byte) (b Beginning) {
	if len(text) > 0 {
		h.begin('b')
		h.part(text)
		copy(b[:], h.end())
	}
	return b
}

// Group hashes what the parts of one long message share but for the reference: addresses is source and destination, each with ton
// and npi, in a form in which nothing else is equal.
func (h *Hasher) Group(addresses []byte, form, total byte) (g [8]byte) {
	h.begin('g')
	h.part(addresses)
	h.part([]byte{form, total})
	copy(g[:], h.end())
	return g
}

// messageID is the entry under which the outcome of the message with this SMSC message id is kept.
func (h *Hasher) messageID(id []byte) (k [16]byte) {
	h.begin('m')
	h.part(id)
	copy(k[:], h.end())
	return k
}

// reference is the entry under which the records are listed that went to a destination with this user_message_reference.
func (h *Hasher) reference(destination Address, reference uint16) (k [16]byte) {
	h.begin('u')
	h.part(destination[:])
	h.part([]byte{byte(reference >> 8), byte(reference)})
	copy(k[:], h.end())
	return k
}

func (h *Hasher) begin(kind byte) {
	h.mac.Reset()
	h.mac.Write(h.scope)
	h.size[0] = kind
	h.mac.Write(h.size[:1])
}

// part writes a length before the bytes, so that no two lists of parts look alike.
func (h *Hasher) part(b []byte) {
	h.size = [4]byte{byte(len(b) >> 24), byte(len(b) >> 16), byte(len(b) >> 8), byte(len(b))}
	h.mac.Write(h.size[:])
	h.mac.Write(b)
}

func (h *Hasher) end() []byte { return h.mac.Sum(h.sum[:0]) }
