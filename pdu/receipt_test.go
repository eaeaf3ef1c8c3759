package pdu

import (
	"strings"
	"testing"

	"github.com/linxGnu/gosmpp/data"
)

const canonical = "id:0000000012345678 sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:none"

// receipt is a deliver_sm with a receipt's esm_class.
func receipt(text string, tlvs ...testTLV) message {
	return message{source: "491700000001", sourceTON: 1, sourceNPI: 1, destination: "12345", esmClass: 4, text: text, tlvs: tlvs}
}

// ucs2 writes Latin-1 as UCS-2, big endian.
func ucs2(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(0)
		b.WriteByte(c)
	}
	return b.String()
}

// fieldTexts are the texts that were seen in the field, with what they say.
var fieldTexts = []struct {
	text, id, status string
	state            State
}{
	{canonical, "0000000012345678", "DELIVRD", Delivered},
	{"id:64567564356765435676 sub:001 dlvrd:001 submit date:190608165232 done date:190608165233 stat:DELIVRD err:000 text:", "64567564356765435676", "DELIVRD", Delivered},
	{"id:dbd1d8e8-d2a4-4f0e-9d5c-000000000001 submit date:201906190720 done date:201906190725 stat:EXPIRED err:030", "dbd1d8e8-d2a4-4f0e-9d5c-000000000001", "EXPIRED", Expired},
	{"id:1526758174 submit date:1701240904 done date:1701240904 stat:DELIVRD err:000 text:hello", "1526758174", "DELIVRD", Delivered},
	{"id:77 submit date:180903120815 done date:180903120816 DELIVRD err:000 Text:", "77", "DELIVRD", Delivered},
	{"id:123A456B sub:1 dlvrd:1 submit date:1601010100 done date:1601010101 stat:DELIVRD err:0 text: hello", "123A456B", "DELIVRD", Delivered},
	{"id:0118Z-0122I-2309U-57DGB sub:000 dlvrd:000 submitdate:180122230957 donedate:000000000000 stat:REJECTED err:375 text:", "0118Z-0122I-2309U-57DGB", "REJECTED", FailedPermanent},

	// With the other oddities of receipts.
	{"sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:id:9 is not it", "", "DELIVRD", Delivered},
	{"id: 42 sub:001 stat: UNDELIV err: 0 done date:1601010101", "42", "UNDELIV", FailedPermanent},
	{"id: sub:001 stat:UNDELIV done date:1601010101 text:id:7", "", "UNDELIV", FailedPermanent},
	{"ID:42 STAT:delivrd DONE DATE:1601010101", "42", "delivrd", Delivered},
	{"\x01 id:42\tsub:001\r\nstat:ENROUTE\x00 done date:20160101010100", "42", "ENROUTE", EnRoute},
	{"Message id:42 stat:DELIVRD done date:1601010101", "42", "DELIVRD", Delivered},
	{"uid:41 id:42 id:43 stat:DELIVRD stat:EXPIRED done date:1601010101", "42", "DELIVRD", Delivered},
	{"id:42 submit date:1601010100 done date:1601010101 SOMETHING err:0", "42", "", Unknown},
	{"FAILED id:42 submit date:1601010100 done date:1601010101 DELIVRD EXPIRED", "42", "DELIVRD", Delivered},
	{"id:42 done date:1601010101 FAILED stat:DELIVRD", "42", "DELIVRD", Delivered},
	{"id:42 submit date:1601010100 stat:0 done date:1601010101", "42", "0", Unknown},
}

func TestEveryTextOfTheFieldIsReadInEveryPlace(t *testing.T) {
	const udh = "\x05\x00\x03\x07\x01\x01"
	for _, want := range fieldTexts {
		narrow := receipt(want.text)
		wide := receipt(ucs2(want.text))
		wide.coding = 8
		marked := wide
		marked.text = "\xFE\xFF" + wide.text
		mislabelled := narrow
		mislabelled.coding = 8
		headed := receipt(udh + want.text)
		headed.esmClass = 0x44
		wideHeaded := wide
		wideHeaded.text, wideHeaded.esmClass = udh+wide.text, 0x44
		falsely := narrow
		falsely.esmClass = 0x44
		declared := narrow
		declared.esmClass, declared.tlvs = 0, []testTLV{{0x0427, "\x02"}}

		frames := map[string]Frame{
			"short_message":              narrow.frame(data.DELIVER_SM),
			"message_payload":            narrow.payload().frame(data.DELIVER_SM),
			"data_sm":                    narrow.dataFrame(),
			"UCS-2 in message_payload":   wide.payload().frame(data.DELIVER_SM),
			"UCS-2 with a mark":          marked.payload().frame(data.DELIVER_SM),
			"UCS-2 in data_sm":           wide.dataFrame(),
			"data_coding 8, but ASCII":   mislabelled.frame(data.DELIVER_SM),
			"behind a UDH":               headed.frame(data.DELIVER_SM),
			"UCS-2 behind a UDH":         wideHeaded.payload().frame(data.DELIVER_SM),
			"behind a UDH in a payload":  headed.payload().frame(data.DELIVER_SM),
			"UDHI without UDH":           falsely.frame(data.DELIVER_SM),
			"behind a UDH in a data_sm":  headed.dataFrame(),
			"with an odd octet, UCS-2":   func() Frame { m := wide; m.text += "\x00"; return m.payload().frame(data.DELIVER_SM) }(),
			"not known by its esm_class": nil,
		}
		if want.state == Delivered {
			frames["not known by its esm_class"] = declared.frame(data.DELIVER_SM)
		} else {
			delete(frames, "not known by its esm_class")
		}
		for place, f := range frames {
			r, ok := ParseReceipt(f)
			if !ok {
				t.Errorf("%s: no receipt: %q", place, want.text)
				continue
			}
			if string(r.TextID) != want.id || (r.TextID == nil) != (want.id == "") || string(r.RawStatus) != want.status || r.State != want.state {
				t.Errorf("%s: got id %q status %q %v; want %q %q %v: %q",
					place, r.TextID, r.RawStatus, r.State, want.id, want.status, want.state, want.text)
			}
			if string(r.Source.Number) != "491700000001" || string(r.Destination.Number) != "12345" {
				t.Errorf("%s: got addresses %q, %q", place, r.Source.Number, r.Destination.Number)
			}
		}
	}
}

func TestWhatAHandsetSendsIsNoReceipt(t *testing.T) {
	mo := func(class byte, text string, tlvs ...testTLV) message {
		m := receipt(text, tlvs...)
		m.esmClass = class
		return m
	}
	id, state := testTLV{0x001E, "42\x00"}, testTLV{0x0427, "\x02"}
	tests := map[string]message{
		"plain":                                mo(0, "hello"),
		"text that begins with id:":            mo(0, "id:42"),
		"text like a receipt":                  mo(0, canonical),
		"receipted_message_id":                 mo(0, "hello", id),
		"message_state":                        mo(0, "hello", state),
		"both TLVs and no text":                mo(0, "", id, state),
		"text begins with id:, and TLV":        mo(0, "id:42 is my answer", id),
		"a date and TLV":                       mo(0, "my submit date:160101", id),
		"stat: and TLV":                        mo(0, "give me stat:all", id, state),
		"like a receipt behind text:":          mo(0, "text:"+canonical, id),
		"like a receipt, UDHI":                 mo(0x40, "\x05\x00\x03\x07\x01\x01"+canonical, id, state),
		"like a receipt, reply path":           mo(0x80, canonical, id, state),
		"acknowledgement of a handset":         mo(0x08, canonical, id, state),
		"acknowledgement of a person":          mo(0x10, canonical, id, state),
		"conversation abort":                   mo(0x18, canonical, id, state),
		"reserved message type 3C":             mo(0x3C, canonical, id, state),
		"receipt and acknowledgement at once":  mo(0x0C, canonical, id, state),
		"UCS-2 that is labelled as 8 bit data": func() message { m := mo(0, ucs2(canonical), id); m.coding = 4; return m }(),
	}
	for name, m := range tests {
		if r, ok := ParseReceipt(m.payload().frame(data.DELIVER_SM)); ok {
			t.Errorf("%s: taken for a receipt with id %q", name, r.ID())
		}
		if r, ok := ParseReceipt(m.payload().dataFrame()); ok {
			t.Errorf("%s, data_sm: taken for a receipt with id %q", name, r.ID())
		}
	}
}

func TestOtherCommandsAndBrokenBodiesAreNoReceipts(t *testing.T) {
	whole := receipt(canonical).frame(data.DELIVER_SM)
	for cut := HeaderSize; cut < len(whole); cut++ {
		if _, ok := ParseReceipt(Response(data.DELIVER_SM, 0, 1, whole[HeaderSize:cut])); ok {
			t.Errorf("cut to %d octets: taken for a receipt", cut)
		}
	}
	for _, c := range []data.CommandIDType{data.SUBMIT_SM, data.DELIVER_SM_RESP, data.ALERT_NOTIFICATION} {
		if _, ok := ParseReceipt(receipt(canonical).frame(c)); ok {
			t.Errorf("%x: taken for a receipt", c)
		}
	}
}

func TestTheTLVDecidesWhichIDItIs(t *testing.T) {
	tests := []struct {
		name, text          string
		tlvs                []testTLV
		textID, tlvID, want string
	}{
		{"agree", "id:42 stat:DELIVRD", []testTLV{{0x001E, "42\x00"}}, "42", "42", "42"},
		{"TLV without NUL", "id:42 stat:DELIVRD", []testTLV{{0x001E, "42"}}, "42", "42", "42"},
		{"disagree", "id:0972660181 stat:DELIVRD", []testTLV{{0x001E, "39f99dd5\x00"}}, "0972660181", "39f99dd5", "39f99dd5"},
		{"text alone", "id:42 stat:DELIVRD", nil, "42", "", "42"},
		{"TLV alone", "", []testTLV{{0x001E, "42\x00"}}, "", "42", "42"},
		{"empty TLV", "id:42", []testTLV{{0x001E, ""}}, "42", "", "42"},
		{"TLV of a NUL", "id:42", []testTLV{{0x001E, "\x00"}}, "42", "", "42"},
		{"TLV filled up", "id:42", []testTLV{{0x001E, "41\x00\x00\x00"}}, "42", "41", "41"},
		{"two TLVs", "id:42", []testTLV{{0x001E, "1"}, {0x001E, "2"}}, "42", "1", "1"},
		{"none", "stat:DELIVRD", nil, "", "", ""},
	}
	for _, test := range tests {
		r, ok := ParseReceipt(receipt(test.text, test.tlvs...).frame(data.DELIVER_SM))
		if !ok {
			t.Errorf("%s: no receipt", test.name)
			continue
		}
		if string(r.TextID) != test.textID || string(r.TLVID) != test.tlvID || string(r.ID()) != test.want {
			t.Errorf("%s: got text %q, TLV %q, id %q; want %q, %q, %q", test.name, r.TextID, r.TLVID, r.ID(), test.textID, test.tlvID, test.want)
		}
		if test.want == "" && r.ID() != nil {
			t.Errorf("%s: got an id that is not nil", test.name)
		}
	}
}

func TestStatesAreNormalised(t *testing.T) {
	tests := []struct {
		class byte
		word  string
		tlv   string
		want  State
	}{
		{4, "DELIVRD", "", Delivered}, {4, "DELIVERED", "", Delivered},
		{4, "UNDELIV", "", FailedPermanent}, {4, "REJECTD", "", FailedPermanent}, {4, "REJECTED", "", FailedPermanent},
		{4, "FAILED", "", FailedPermanent}, {4, "NACK", "", FailedPermanent}, {4, "SKIPPED", "", FailedPermanent},
		{4, "EXPIRED", "", Expired}, {4, "DELETED", "", Deleted},
		{4, "ACCEPTD", "", Accepted}, {4, "ACKED", "", Accepted},
		{4, "ENROUTE", "", EnRoute}, {4, "SCHEDLD", "", EnRoute}, {4, "BUFFRED", "", EnRoute}, {4, "BUFFERD", "", EnRoute},
		{4, "UNKNOWN", "", Unknown}, {4, "0", "", Unknown}, {4, "NEVERSEEN", "", Unknown}, {4, "", "", Unknown},
		{4, "", "\x00", EnRoute}, {4, "", "\x01", EnRoute}, {4, "", "\x02", Delivered}, {4, "", "\x03", Expired}, {4, "", "\x04", Deleted},
		{4, "", "\x05", FailedPermanent}, {4, "", "\x06", Accepted}, {4, "", "\x07", Unknown}, {4, "", "\x08", FailedPermanent}, {4, "", "\x09", FailedPermanent},
		{4, "DELIVRD", "\x05", FailedPermanent}, // the TLV decides
		{4, "DELIVRD", "\x63", Delivered},       // unless it says nothing
		{4, "DELIVRD", "\x00\x02", Delivered},
		{0x20, "UNDELIV", "", FailedTemporary}, {0x20, "", "\x05", FailedTemporary},
		{0x20, "ENROUTE", "", EnRoute}, {0x20, "EXPIRED", "", Expired}, {0x24, "UNDELIV", "", FailedPermanent},
	}
	for _, test := range tests {
		m := receipt("id:1 stat:" + test.word + " err:0")
		m.esmClass = test.class
		if test.tlv != "" {
			m = m.with(testTLV{0x0427, test.tlv})
		}
		r, ok := ParseReceipt(m.frame(data.DELIVER_SM))
		if !ok || r.State != test.want || string(r.RawStatus) != test.word {
			t.Errorf("%+v: got %v, raw %q, %v", test, r.State, r.RawStatus, ok)
		}
	}
}

func TestStateNamesAreAClosedSet(t *testing.T) {
	want := "unknown accepted enroute delivered failed_temporary failed_permanent expired deleted unknown"
	var got []string
	for s := Unknown; s <= Deleted+1; s++ {
		got = append(got, s.String())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
