package wire

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
)

func TestAMessageIsReadBackAsItWasBuilt(t *testing.T) {
	want := Message{
		ServiceType: "CMT", Source: Address{5, 0, "Shop"}, Destination: Address{1, 1, "4915112345678"},
		ESMClass: 0x40, ProtocolID: 1, Priority: 2, Schedule: "260101120000000+", Validity: "000001000000000R",
		RegisteredDelivery: 1, Replace: 1, DataCoding: 8, DefaultID: 3, Text: []byte("a\x00b"),
		TLVs: []TLV{{0x1402, []byte("ref")}, {0x1402, []byte{}}},
	}
	got, err := ParseMessage(want.Body())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
	}
	if _, err := ParseMessage(want.Body()[:20]); !errors.Is(err, errShort) {
		t.Errorf("a body that was cut off: %v, want %v", err, errShort)
	}
}

func TestADataMessageCarriesItsTextAsPayload(t *testing.T) {
	m := Message{Source: Address{1, 1, "1"}, Destination: Address{1, 1, "2"}, ESMClass: 4, Text: []byte("id:7 stat:DELIVRD")}
	got, err := ParseData(m.DataBody())
	if err != nil || string(got.Payload()) != string(m.Text) || got.ReceiptID() != "7" || got.ESMClass != 4 {
		t.Fatalf("got %+v (receipt of %q), %v", got, got.ReceiptID(), err)
	}
}

func TestTheReceiptedMessageIDDecidesOverTheText(t *testing.T) {
	m := Message{Text: []byte("id:7 stat:DELIVRD"), TLVs: []TLV{{TagReceiptedID, []byte("8\x00")}}}
	if got := m.ReceiptID(); got != "8" {
		t.Errorf("receipt of %q, want 8", got)
	}
}

func TestFramesAreFoundHoweverTheStreamIsCut(t *testing.T) {
	long := New(0xDEAD, 9, 0xFFFFFFFF, bytes.Repeat([]byte{1}, 100<<10))
	frames := []Frame{New(EnquireLink, 0, 1, nil), long, Bind(BindTransceiver, 2, "acme", "pw", "")}
	stream := bytes.Join([][]byte{frames[0], frames[1], frames[2]}, nil)
	for name, r := range map[string]io.Reader{
		"at once": bytes.NewReader(stream), "one byte a read": iotest.OneByteReader(bytes.NewReader(stream)),
	} {
		rd := NewReader(r)
		for i, want := range frames {
			got, err := rd.Next()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: frame %d: %d octets, %v; want %d octets", name, i, len(got), err, len(want))
			}
		}
		if _, err := rd.Next(); err != io.EOF {
			t.Errorf("%s: at the end: %v, want EOF", name, err)
		}
	}
	if got := frames[2].ID(); got != "acme" {
		t.Errorf("system_id %q, want acme", got)
	}
}

func TestAStreamOutOfStepIsAnError(t *testing.T) {
	for name, b := range map[string][]byte{
		"too short": {0, 0, 0, 15, 0, 0, 0, 0}, "too long": {0xFF, 0, 0, 0}, "cut inside the header": {0, 0},
		"cut inside the frame": New(SubmitSM, 0, 1, make([]byte, 9))[:20],
	} {
		if f, err := NewReader(bytes.NewReader(b)).Next(); err == nil || err == io.EOF {
			t.Errorf("%s: frame %x, error %v; want an error that is not EOF", name, f, err)
		}
	}
}
