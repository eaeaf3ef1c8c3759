package ledger

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// equal compares what was encoded with what was decoded: an empty byte string or list may come back as none, and the hash of a
// message id is not written.
func equal(a, b any) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Attempt{}))
}

func bytes16(t *rapid.T, label string) (b [16]byte) {
	copy(b[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
	return b
}

func anyTime(t *rapid.T, label string) Time { return Time(rapid.Int64().Draw(t, label)) }

func anyBytes(t *rapid.T, label string) []byte {
	return rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, label)
}

func anyStand(t *rapid.T) Stand {
	return Stand{
		Session: SessionID(rapid.Uint64().Draw(t, "session")), Sequence: rapid.Uint32().Draw(t, "sequence"), At: anyTime(t, "at"),
		Verdict: Verdict(rapid.Uint8Range(0, uint8(verdictEnds)-1).Draw(t, "verdict")), Reason: Reason(rapid.Uint8Range(0, uint8(reasonEnds)-1).Draw(t, "reason")),
		Answered: anyTime(t, "answered"), Status: rapid.Uint32().Draw(t, "status"), Lost: anyTime(t, "lost"),
		Reference: rapid.Uint16().Draw(t, "reference"),
	}
}

func anyAttempt(t *rapid.T) Attempt {
	return Attempt{
		Number: Number(rapid.Uint64().Draw(t, "number")), Leg: LegID(rapid.Uint64().Draw(t, "leg")), Sequence: rapid.Uint32().Draw(t, "sequence"),
		At: anyTime(t, "at"), Ended: anyTime(t, "ended"), State: State(rapid.Uint8Range(0, uint8(stateEnds)-1).Draw(t, "state")),
		Evidence: Evidence(rapid.Uint8Range(0, uint8(evidenceEnds)-1).Draw(t, "evidence")), Status: rapid.Uint32().Draw(t, "status"),
		Nack: rapid.Bool().Draw(t, "nack"), ID: anyBytes(t, "id"), Told: rapid.Bool().Draw(t, "told"),
		Final: Final(rapid.Uint8Range(0, uint8(finalEnds)-1).Draw(t, "final")),
	}
}

func anyRecord(t *rapid.T) *Record {
	r := &Record{
		Number: Number(rapid.Uint64().Draw(t, "number")), Claimed: anyTime(t, "claimed"), Version: rapid.Uint32().Draw(t, "version"),
		Account: string(anyBytes(t, "account")), Fingerprint: bytes16(t, "fingerprint"), Schedule: rapid.Int64().Draw(t, "schedule"),
		ReceiptRequested: rapid.Bool().Draw(t, "receipt"), Masked: string(anyBytes(t, "masked")),
		Attempts: rapid.SliceOfN(rapid.Custom(anyAttempt), 1, 5).Draw(t, "attempts"), Standing: anyStand(t),
		History: rapid.SliceOfN(rapid.Custom(anyStand), 0, 5).Draw(t, "history"), Loss: anyTime(t, "loss"), Until: anyTime(t, "until"), Held: rapid.Bool().Draw(t, "held"),
	}
	copy(r.Source[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "source"))
	copy(r.Destination[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "destination"))
	r.Several, r.Released = rapid.Bool().Draw(t, "several"), rapid.Bool().Draw(t, "released")
	r.Reference, r.Forgotten = rapid.Uint16().Draw(t, "reference"), rapid.Uint32().Draw(t, "forgotten")
	copy(r.Beginnings[0][:], rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "beginning"))
	copy(r.Beginnings[1][:], rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "beginning"))
	if r.Part.Total = rapid.Byte().Draw(t, "total"); r.Part.Total > 0 {
		r.Part.Number, r.Part.Reference = rapid.Byte().Draw(t, "part"), rapid.Uint16().Draw(t, "concatenation")
		copy(r.Part.Group[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "group"))
	}
	r.Key = contentKey(r.Fingerprint)
	if rapid.Bool().Draw(t, "explicit") {
		r.Key = Key{Explicit: true, Hash: bytes16(t, "hash"), Value: bytes16(t, "value")}
	}
	if rapid.Bool().Draw(t, "answer") {
		r.Answer = &Response{Nack: rapid.Bool().Draw(t, "nack"), Status: rapid.Uint32().Draw(t, "status"), MessageID: anyBytes(t, "message id"), Body: anyBytes(t, "body")}
	}
	return r
}

func anyLive(t *rapid.T) liveRecord {
	l := liveRecord{Number: Number(rapid.Uint64().Draw(t, "number")), Accepted: rapid.Bool().Draw(t, "accepted"), At: anyTime(t, "at"), Unread: rapid.Bool().Draw(t, "unread"),
		Spent: rapid.Bool().Draw(t, "spent")}
	if l.Accepted {
		l.ID = bytes16(t, "id")
	}
	return l
}

func anySession(t *rapid.T) sessionState {
	return sessionState{SessionID(rapid.Uint64().Draw(t, "session")), string(anyBytes(t, "account")), rapid.Bool().Draw(t, "can submit"), anyTime(t, "at"),
		anyTime(t, "ended"), anyTime(t, "again")}
}

func anyJournal(t *rapid.T) *journal {
	return &journal{
		Seq: rapid.Uint64().Draw(t, "seq"), At: anyTime(t, "at"), Told: anyTime(t, "told"), First: Number(rapid.Uint64().Draw(t, "first")), Opened: rapid.Uint32().Draw(t, "opened"),
		Again:    rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Number { return Number(rapid.Uint64().Draw(t, "n")) }), 0, 5).Draw(t, "again"),
		Closed:   rapid.SliceOfN(rapid.Custom(anyLive), 0, 5).Draw(t, "closed"),
		Live:     rapid.SliceOfN(rapid.Custom(anyLive), 0, 5).Draw(t, "live"),
		Sessions: rapid.SliceOfN(rapid.Custom(anySession), 0, 5).Draw(t, "sessions"),
		Ended: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sessionEnded {
			return sessionEnded{SessionID(rapid.Uint64().Draw(t, "session")), anyTime(t, "at")}
		}), 0, 5).Draw(t, "ended"),
		LegsEnded: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) legEnded { return legEnded{LegID(rapid.Uint64().Draw(t, "leg")), anyTime(t, "at")} }), 0, 5).Draw(t, "legs"),
		Voided:    rapid.SliceOfN(rapid.Custom(func(t *rapid.T) voidedValue { return voidedValue{bytes16(t, "value"), anyTime(t, "until")} }), 0, 5).Draw(t, "voided"),
		Blind: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) blindAccount {
			return blindAccount{string(anyBytes(t, "account")), anyTime(t, "until")}
		}), 0, 5).Draw(t, "blind"),
	}
}

func anyImage(t *rapid.T) *image {
	m := newImage()
	m.Heard = anyTime(t, "heard")
	m.Telling = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) telling { return telling{anyTime(t, "sealed"), anyTime(t, "told")} }), 0, 5).Draw(t, "telling")
	m.Seq, m.At, m.Next = rapid.Uint64().Draw(t, "seq"), anyTime(t, "at"), Number(rapid.Uint64().Draw(t, "next"))
	j := anyJournal(t)
	for _, l := range j.Live {
		m.Live[l.Number] = l
	}
	m.Recent = j.Closed
	for _, s := range j.Sessions {
		m.Sessions[s.ID] = &s
	}
	for _, l := range j.LegsEnded {
		m.Legs[l.ID] = l.At
	}
	for _, v := range j.Voided {
		m.Voided[v.Value] = v.Until
	}
	for _, a := range j.Blind {
		m.Blind[a.Account] = a.Until
	}
	return m
}

func TestWhatIsEncodedIsDecodedAgain(t *testing.T) {
	t.Run("record", rapid.MakeCheck(func(t *rapid.T) {
		want := anyRecord(t)
		got, err := decodeRecord(appendRecord(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := equal(want, got); diff != "" {
			t.Fatal(diff)
		}
	}))
	t.Run("journal", rapid.MakeCheck(func(t *rapid.T) {
		want := anyJournal(t)
		got, err := decodeJournal(appendJournal(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := equal(want, got); diff != "" {
			t.Fatal(diff)
		}
	}))
	t.Run("image", rapid.MakeCheck(func(t *rapid.T) {
		want := anyImage(t)
		got, err := decodeImage(appendImage(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := equal(want, got); diff != "" {
			t.Fatal(diff)
		}
	}))
	t.Run("observation", rapid.MakeCheck(func(t *rapid.T) {
		want := &Observation{anyTime(t, "at"), anyBytes(t, "id"), string(anyBytes(t, "state")), anyBytes(t, "status")}
		got, err := decodeObservation(appendObservation(nil, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := equal(want, got); diff != "" {
			t.Fatal(diff)
		}
	}))
	t.Run("head", rapid.MakeCheck(func(t *rapid.T) {
		want := head{rapid.Uint64().Draw(t, "first"), rapid.Uint64().Draw(t, "count"), rapid.Uint64().Draw(t, "seq")}
		if got, err := decodeHead(want.encode()); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	}))
}

// someRecord has something in every field.
func someRecord() *Record {
	return &Record{
		Number: 7, Claimed: sec(0), Version: 3, Account: "acme", Key: Key{Explicit: true, Hash: [16]byte{1}, Value: [16]byte{2}}, Fingerprint: Fingerprint{3},
		Schedule: -5, ReceiptRequested: true, Destination: Address{4}, Masked: "*******1234",
		Attempts: []Attempt{wasRejected, legDied, wasAccepted}, Standing: Stand{Session: 1<<32 | 9, Sequence: 1 << 31, At: sec(1), Answered: sec(2), Lost: sec(3)},
		History: []Stand{{Session: 5, Verdict: Retry, Reason: ReasonDoubt, Status: 0x14}}, Loss: sec(4), Until: sec(5), Held: true,
		Answer: &Response{MessageID: []byte("77"), Body: []byte("77\x00")},
	}
}

func someJournal() *journal {
	return &journal{
		Seq: 12, At: sec(1), First: 100, Opened: 3, Again: []Number{101}, Closed: []liveRecord{{Number: 5, Accepted: true, ID: [16]byte{6}, At: sec(1)}},
		Live: []liveRecord{{Number: 7, At: sec(1), Unread: true}, {Number: 8, Spent: true}}, Sessions: []sessionState{{ID: 3, Account: "acme", CanSubmit: true, At: sec(1)}},
		Ended: []sessionEnded{{2, sec(1)}}, LegsEnded: []legEnded{{2, sec(1)}}, Voided: []voidedValue{{[16]byte{1}, sec(9)}},
		Blind: []blindAccount{{"acme", sec(9)}},
	}
}

func someImage() *image {
	m := newImage()
	m.apply(someJournal())
	m.Sessions[2] = &sessionState{ID: 2, Account: "acme", Ended: sec(1), Again: sec(2)}
	return m
}

// decoders are all of them: each says whether b decodes, and encodes again what it found.
var decoders = map[string]func(b []byte) ([]byte, error){
	"record": func(b []byte) ([]byte, error) {
		r, err := decodeRecord(b)
		if err != nil {
			return nil, err
		}
		return appendRecord(nil, r), nil
	},
	"journal": func(b []byte) ([]byte, error) {
		j, err := decodeJournal(b)
		if err != nil {
			return nil, err
		}
		return appendJournal(nil, j), nil
	},
	"image": func(b []byte) ([]byte, error) {
		m, err := decodeImage(b)
		if err != nil {
			return nil, err
		}
		return appendImage(nil, m), nil
	},
	"head": func(b []byte) ([]byte, error) {
		h, err := decodeHead(b)
		if err != nil {
			return nil, err
		}
		return h.encode(), nil
	},
	"observation": func(b []byte) ([]byte, error) {
		o, err := decodeObservation(b)
		if err != nil {
			return nil, err
		}
		return appendObservation(nil, o), nil
	},
}

func someObservation() *Observation {
	return &Observation{At: sec(3), ID: []byte("77"), State: "delivered", Status: []byte("DELIVRD")}
}

func encoded() map[string][]byte {
	return map[string][]byte{
		"record":      appendRecord(nil, someRecord()),
		"journal":     appendJournal(nil, someJournal()),
		"image":       appendImage(nil, someImage()),
		"head":        head{1, 2, 3}.encode(),
		"observation": appendObservation(nil, someObservation()),
	}
}

func TestDamageIsFound(t *testing.T) {
	for kind, good := range encoded() {
		decode := decoders[kind]
		if _, err := decode(good); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		bad := map[string][]byte{
			"nothing":          {},
			"another layout":   append([]byte{9}, good[1:]...),
			"a byte too many":  append(good[:len(good):len(good)], 0),
			"an endless count": append(append([]byte{}, good[:len(good)-1]...), 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF),
		}
		for n := range good {
			bad[fmt.Sprint("cut after ", n, " bytes")] = good[:n]
		}
		for name, b := range bad {
			if again, err := decode(b); !errors.Is(err, errCorrupt) {
				t.Errorf("%s, %s: %x, error %v; want errCorrupt", kind, name, again, err)
			}
		}
	}
	t.Run("values that are none", func(t *testing.T) {
		for name, change := range map[string]func(*Record){
			"state":    func(r *Record) { r.Attempts[0].State = stateEnds },
			"evidence": func(r *Record) { r.Attempts[0].Evidence = evidenceEnds },
			"final":    func(r *Record) { r.Attempts[0].Final = finalEnds },
			"verdict":  func(r *Record) { r.Standing.Verdict = verdictEnds },
			"reason":   func(r *Record) { r.History[0].Reason = reasonEnds },
			"attempts": func(r *Record) { r.Attempts = nil },
		} {
			r := someRecord()
			r.Attempts = append([]Attempt(nil), r.Attempts...)
			change(r)
			if _, err := decodeRecord(appendRecord(nil, r)); !errors.Is(err, errCorrupt) {
				t.Errorf("%s: error %v, want errCorrupt", name, err)
			}
		}
	})
}

func TestADecodedRecordSharesNoMemoryWithItsBytes(t *testing.T) {
	b := appendRecord(nil, someRecord())
	r, err := decodeRecord(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if diff := equal(someRecord(), r); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecodeRecord(f *testing.F)      { fuzz(f, "record") }
func FuzzDecodeJournal(f *testing.F)     { fuzz(f, "journal") }
func FuzzDecodeImage(f *testing.F)       { fuzz(f, "image") }
func FuzzDecodeObservation(f *testing.F) { fuzz(f, "observation") }

// fuzz looks for bytes that make a decoder panic, or that it reads as something which it would not read again. The bytes
// themselves need not come back: numbers can be written longer than they must, unknown flags are let be, and maps have no order.
func fuzz(f *testing.F, kind string) {
	decode := decoders[kind]
	for _, b := range encoded() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		once, err := decode(b)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatalf("error %v, want errCorrupt", err)
			}
			return
		}
		twice, err := decode(once)
		if err != nil {
			t.Fatalf("%x was read, written as %x, and is %v then", b, once, err)
		}
		if kind != "image" && string(twice) != string(once) {
			t.Fatalf("%x was read, written as %x, and then as %x", b, once, twice)
		}
	})
}
