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
	for kind, frame := range kinds {
		whole := frame(plain("text"))
		end := len(whole)
		if kind == "data_sm" {
			end -= len(tlvBytes(plain("text").payload().tlvs)) // which are not mandatory
		}
		for cut := HeaderSize; cut < end; cut++ {
			s, err := ParseSubmit(Response(whole.Command(), 0, 1, whole[HeaderSize:cut]))
			if !errors.Is(err, ErrBody) || s.frame != nil {
				t.Errorf("%s cut to %d octets: got %+v, %v; want ErrBody", kind, cut, s, err)
			}
		}
	}
}

func TestTheFirstDestinationOfASubmitMultiIsItsDestination(t *testing.T) {
	body := func(list string) Frame {
		return Response(data.SUBMIT_MULTI, 0, 1, []byte("CMT\x00\x05\x00acme\x00"+list+"\x40\x01\x02\x00\x00\x01\x00\x03\x00\x02hi"))
	}
	tests := []struct {
		name, list string
		want       Address
		err        error
	}{
		{"an address", "\x01\x01\x01\x09491\x00", Address{1, 9, []byte("491")}, nil},
		{"two addresses", "\x02\x01\x01\x09491\x00\x01\x00\x00492\x00", Address{1, 9, []byte("491")}, nil},
		{"a list", "\x01\x02friends\x00", Address{0, 0, []byte("friends")}, nil},
		{"a list, then an address", "\x02\x02friends\x00\x01\x01\x01491\x00", Address{0, 0, []byte("friends")}, nil},
		{"none", "\x00", Address{}, nil},
		{"255 lists", "\xFF" + strings.Repeat("\x02x\x00", 255), Address{0, 0, []byte("x")}, nil},
		{"a flag that nobody knows", "\x01\x09what\x00", Address{}, ErrBody},
		{"such a one behind another", "\x02\x01\x01\x01491\x00\x00\x01\x01491\x00", Address{}, ErrBody},
		{"more than there are", "\x03\x02x\x00", Address{}, ErrBody},
	}
	for _, test := range tests {
		s, err := ParseSubmit(body(test.list))
		if !errors.Is(err, test.err) || s.Destination.TON != test.want.TON || s.Destination.NPI != test.want.NPI ||
			string(s.Destination.Number) != string(test.want.Number) {
			t.Errorf("%s: got %+v, %v; want %+v, %v", test.name, s.Destination, err, test.want, test.err)
		}
		if err == nil && (s.ESMClass != 0x40 || s.DataCoding != 3 || string(s.ShortMessage) != "hi" || string(s.destinations) != test.list[1:]) {
			t.Errorf("%s: got %+v", test.name, s)
		}
	}
}

func TestAUserMessageReferenceHasTwoOctets(t *testing.T) {
	for value, want := range map[string]uint16{"\x12\x34": 0x1234, "\x00\x00": 0, "": 0, "\x07": 0, "\x00\x00\x12\x34": 0} {
		m := plain("text").with(testTLV{0x0204, value})
		for kind, frame := range kinds {
			if s, err := ParseSubmit(frame(m)); err != nil || s.UserReference() != want {
				t.Errorf("%s, % X: got %x, %v; want %x", kind, value, s.UserReference(), err, want)
			}
		}
		echo := receipt(canonical, testTLV{0x0204, value})
		if r, ok := ParseReceipt(echo.frame(data.DELIVER_SM)); !ok || r.UserReference() != want {
			t.Errorf("receipt, % X: got %x, want %x", value, r.UserReference(), want)
		}
	}
}

func TestOtherCommandsAreNoSubmits(t *testing.T) {
	for _, c := range []data.CommandIDType{data.DELIVER_SM, data.SUBMIT_SM_RESP, data.DATA_SM_RESP, data.SUBMIT_MULTI_RESP, data.QUERY_SM, data.GENERIC_NACK, 0} {
		if _, err := ParseSubmit(plain("text").frame(c)); !errors.Is(err, ErrCommand) || IsSubmit(c) {
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
