package corpus

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/linxGnu/gosmpp/pdu"
)

func TestEveryFrameCanBeCutOffAStream(t *testing.T) {
	check := func(name string, f []byte) {
		if len(f) < 16 || len(f) > Max {
			t.Errorf("%s: %d octets, want 16 to %d", name, len(f), Max)
		} else if n := binary.BigEndian.Uint32(f); int(n) != len(f) {
			t.Errorf("%s: command_length %d, want %d", name, n, len(f))
		}
	}
	for _, e := range All() {
		check(e.Name, e.Frame)
		if e.Request != nil {
			check(e.Name+", its request", e.Request)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if seen[e.Name] {
			t.Errorf("%q stands for two frames", e.Name)
		}
		seen[e.Name] = true
	}
}

func TestNoFrameIsOneThatAProxyAnswersItself(t *testing.T) {
	for _, e := range All() {
		switch binary.BigEndian.Uint32(e.Frame[4:]) &^ response {
		case 0x01, 0x02, 0x09, 0x06, 0x15: // binds, unbind, enquire_link
			t.Errorf("%s: command_id %08X", e.Name, e.Frame[4:8])
		}
	}
}

func TestResponsesAndOnlyTheyHaveARequest(t *testing.T) {
	for _, e := range All() {
		command := binary.BigEndian.Uint32(e.Frame[4:])
		if is, has := command&response != 0, e.Request != nil; is != has {
			t.Errorf("%s: a response: %v, has a request: %v", e.Name, is, has)
			continue
		}
		if e.Request == nil || command == genericNack {
			continue
		}
		if request := binary.BigEndian.Uint32(e.Request[4:]); request|response != command {
			t.Errorf("%s: %08x answers %08x", e.Name, command, request)
		}
	}
}

func TestTheCorpusIsLargeAndGoesBothWays(t *testing.T) {
	ways := map[Direction]int{}
	for _, e := range All() {
		ways[e.Direction]++
	}
	if ways[ToSMSC]+ways[ToESME] < 150 || ways[ToSMSC] < 60 || ways[ToESME] < 60 {
		t.Errorf("got %v, want 150 and more in all, 60 and more each way", ways)
	}
}

// A frame that gosmpp gives back unchanged proves less about a relay. How many
// do varies a little: gosmpp writes TLVs in random order.
func TestAtLeastAHundredFramesDoNotSurviveParsingAndMarshalling(t *testing.T) {
	survived, all := 0, All()
	for _, e := range all {
		if bytes.Equal(roundTrip(e.Frame), e.Frame) {
			survived++
		}
	}
	t.Logf("%d of %d frames came back the same", survived, len(all))
	if len(all)-survived < 100 {
		t.Errorf("%d of %d frames came back the same", survived, len(all))
	}
}

func roundTrip(f []byte) (back []byte) {
	defer func() {
		if recover() != nil {
			back = nil
		}
	}()
	p, err := pdu.Parse(bytes.NewReader(f))
	if err != nil {
		return nil
	}
	b := pdu.NewBuffer(nil)
	p.Marshal(b)
	return b.Bytes()
}
