package pdu

import (
	"errors"
	"strings"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

func TestEveryFieldOfASubmitIsFoundWhateverItsOctets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		s, err := ParseSubmit(m.frame(data.SUBMIT_SM))
		if err != nil {
			t.Fatal(err)
		}
		got := message{
			service: string(s.ServiceType), source: string(s.Source.Number), destination: string(s.Destination.Number),
			schedule: string(s.Schedule), validity: string(s.Validity),
			sourceTON: s.Source.TON, sourceNPI: s.Source.NPI, destTON: s.Destination.TON, destNPI: s.Destination.NPI,
			esmClass: s.ESMClass, protocol: s.ProtocolID, priority: s.Priority, registered: s.RegisteredDelivery,
			replace: s.ReplaceIfPresent, coding: s.DataCoding, canned: s.DefaultMsgID, text: string(s.ShortMessage),
			tail: string(s.tail()),
		}
		want := m
		want.tlvs = nil
		if got.frame(0).Body() == nil || string(got.frame(0)) != string(want.frame(0)) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		for _, x := range m.tlvs {
			first := x.value
			for _, y := range m.tlvs {
				if y.tag == x.tag {
					first = y.value
					break
				}
			}
			if value, ok := s.TLV(x.tag); !ok || string(value) != first {
				t.Fatalf("TLV %04x: got %q, %v; want %q", x.tag, value, ok, first)
			}
		}
		if value, ok := s.TLV(0x7777); ok {
			t.Fatalf("found %q, a TLV that is not there", value)
		}
	})
}

func TestABodyThatIsCutInAMandatoryFieldIsAnError(t *testing.T) {
	whole := plain("text").frame(data.SUBMIT_SM)
	for cut := HeaderSize; cut < len(whole); cut++ {
		s, err := ParseSubmit(Response(data.SUBMIT_SM, 0, 1, whole[HeaderSize:cut]))
		if !errors.Is(err, ErrBody) || s.frame != nil {
			t.Errorf("cut to %d octets: got %+v, %v; want ErrBody", cut, s, err)
		}
	}
}

func TestOtherCommandsAreNoSubmits(t *testing.T) {
	for _, c := range []data.CommandIDType{data.DELIVER_SM, data.SUBMIT_SM_RESP, data.SUBMIT_MULTI, 0} {
		if _, err := ParseSubmit(plain("text").frame(c)); !errors.Is(err, ErrCommand) {
			t.Errorf("%x: got %v, want ErrCommand", c, err)
		}
	}
}

func TestWhatFollowsTheTLVsIsLeftAsATail(t *testing.T) {
	for _, test := range []struct{ name, rest, tail string }{
		{"nothing", "", ""},
		{"TLVs only", "\x14\x02\x00\x01a\x14\x03\x00\x00", ""},
		{"one octet", "\xFF", "\xFF"},
		{"three octets after a TLV", "\x14\x02\x00\x01aXYZ", "XYZ"},
		{"a TLV over the end", "\x14\x02\x00\x01a\x14\x03\x00\x05abcd", "\x14\x03\x00\x05abcd"},
		{"FFFF over the end", "\x14\x02\xFF\xFFabcd", "\x14\x02\xFF\xFFabcd"},
		{"NULs", "\x00\x00\x00\x00\x00", "\x00"},
	} {
		m := plain("text")
		m.tail = test.rest
		s, err := ParseSubmit(m.frame(data.SUBMIT_SM))
		if err != nil || string(s.tail()) != test.tail {
			t.Errorf("%s: got %q, %v; want %q", test.name, s.tail(), err, test.tail)
		}
	}
}

func TestAReceiptIsRequestedByTheTwoLowBits(t *testing.T) {
	for registered, want := range map[byte]bool{0: false, 1: true, 2: true, 3: true, 0x10: false, 0x11: true, 0x0C: false, 0x1D: true, 0xFC: false} {
		s := Submit{RegisteredDelivery: registered}
		if got := s.ReceiptRequested(); got != want {
			t.Errorf("registered_delivery %02X: got %v, want %v", registered, got, want)
		}
	}
}

func TestThePartOfALongMessageIsFound(t *testing.T) {
	sar := func(ref, total, number string) []testTLV {
		return []testTLV{{0x020F, number}, {0x020C, ref}, {0x020E, total}}
	}
	tests := []struct {
		name  string
		class byte
		text  string
		tlvs  []testTLV
		want  Part
	}{
		{"8 bit", 0x40, "\x05\x00\x03\x2A\x03\x02text", nil, Part{0x2A, 3, 2}},
		{"16 bit", 0x40, "\x06\x08\x04\x12\x34\x03\x01text", nil, Part{0x1234, 3, 1}},
		{"beside the other bits of esm_class", 0xC3, "\x05\x00\x03\x2A\x03\x02text", nil, Part{0x2A, 3, 2}},
		{"after another element", 0x40, "\x0B\x05\x04\x15\x8A\x00\x00\x00\x03\x01\x02\x01x", nil, Part{1, 2, 1}},
		{"the last of two", 0x40, "\x0A\x00\x03\x01\x02\x01\x00\x03\x02\x02\x01x", nil, Part{2, 2, 1}},
		{"header only", 0x40, "\x05\x00\x03\x2A\x03\x02", nil, Part{0x2A, 3, 2}},
		{"sar", 0, "text", sar("\x12\x34", "\x02", "\x01"), Part{0x1234, 2, 1}},
		{"UDH before sar", 0x40, "\x05\x00\x03\x2A\x03\x02text", sar("\x12\x34", "\x02", "\x01"), Part{0x2A, 3, 2}},
		{"sar where the UDH has none", 0x40, "\x04\x05\x02\x01\x02text", sar("\x12\x34", "\x02", "\x01"), Part{0x1234, 2, 1}},
		{"part 255 of 255", 0x40, "\x05\x00\x03\x00\xFF\xFFtext", nil, Part{0, 255, 255}},

		{"no UDHI", 0, "\x05\x00\x03\x2A\x03\x02text", nil, Part{}},
		{"no UDH", 0x40, "hello", nil, Part{}},
		{"no text", 0x40, "", nil, Part{}},
		{"empty UDH", 0x40, "\x00text", nil, Part{}},
		{"UDH longer than the text", 0x40, "\x06\x00\x03\x2A\x03\x02", nil, Part{}},
		{"element over the end", 0x40, "\x05\x00\x04\x2A\x03\x02text", nil, Part{}},
		{"element too short", 0x40, "\x04\x00\x02\x2A\x03text", nil, Part{}},
		{"half an element behind", 0x40, "\x06\x00\x03\x2A\x03\x02\x70text", nil, Part{}},
		{"part 0", 0x40, "\x05\x00\x03\x2A\x03\x00text", nil, Part{}},
		{"part 4 of 3", 0x40, "\x05\x00\x03\x2A\x03\x04text", nil, Part{}},
		{"sar without its number", 0, "text", sar("\x12\x34", "\x02", "\x01")[1:], Part{}},
		{"sar of an odd size", 0, "text", sar("\x12", "\x02", "\x01"), Part{}},
		{"sar part 3 of 2", 0, "text", sar("\x12\x34", "\x02", "\x03"), Part{}},
	}
	for _, test := range tests {
		m := plain(test.text).with(test.tlvs...)
		m.esmClass = test.class
		forms := map[string]message{"short_message": m}
		if test.text != "" {
			forms["message_payload"] = m.payload()
		}
		for form, m := range forms {
			s, err := ParseSubmit(m.frame(data.SUBMIT_SM))
			if err != nil {
				t.Fatal(err)
			}
			got, ok := s.Part()
			if got != test.want || ok != (test.want != Part{}) {
				t.Errorf("%s, %s: got %+v, %v; want %+v", test.name, form, got, ok, test.want)
			}
		}
	}
}

func TestAMessageIDEndsAtItsNULOrWithTheBody(t *testing.T) {
	const resp = data.SUBMIT_SM_RESP
	tests := []struct {
		name    string
		command data.CommandIDType
		status  uint32
		body    string
		want    string
	}{
		{"plain", resp, 0, "0A1B\x00", "0A1B"},
		{"without NUL", resp, 0, "0A1B", "0A1B"},
		{"no body", resp, 0, "", ""},
		{"empty", resp, 0, "\x00", ""},
		{"before TLVs", resp, 0, "7\x00\x14\x02\x00\x01x", "7"},
		{"of 1000 octets", resp, 0, strings.Repeat("9", 1000) + "\x00", strings.Repeat("9", 1000)},
		{"error with an id", resp, 0x14, "7\x00", ""},
		{"error with TLVs", resp, 0x45, "\x04\x25\x00\x01\x01", ""},
		{"submit_multi_resp", data.SUBMIT_MULTI_RESP, 0, "7\x00\x00", "7"},
		{"data_sm_resp", data.DATA_SM_RESP, 0, "7\x00", "7"},
		{"query_sm", data.QUERY_SM, 0, "7\x00\x00\x0012\x00", "7"},
		{"query_sm_resp", data.QUERY_SM_RESP, 0, "7\x00\x00\x02\x00", "7"},
		{"replace_sm", data.REPLACE_SM, 0, "7\x00\x00\x0012\x00", "7"},
		{"cancel_sm", data.CANCEL_SM, 0, "CMT\x007\x00\x00\x0012\x00", "7"},
		{"cancel_sm by addresses", data.CANCEL_SM, 0, "\x00\x00\x00\x0012\x00", ""},
		{"cancel_sm without NUL", data.CANCEL_SM, 0, "CMT", ""},
		{"cancel_sm_resp", data.CANCEL_SM_RESP, 0, "7\x00", ""},
		{"deliver_sm_resp", data.DELIVER_SM_RESP, 0, "7\x00", ""},
		{"generic_nack", data.GENERIC_NACK, 0, "7\x00", ""},
	}
	for _, test := range tests {
		got, ok := MessageID(Response(test.command, test.status, 1, []byte(test.body)))
		if string(got) != test.want || ok != (test.want != "") {
			t.Errorf("%s: got %q, %v; want %q", test.name, got, ok, test.want)
		}
	}
}
