package pdu

import (
	"bytes"
	"slices"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

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
		{"8 bit", 0x40, "\x05\x00\x03\x2A\x03\x02text", nil, Part{0x2A, 3, 2, InUDH8}},
		{"16 bit", 0x40, "\x06\x08\x04\x12\x34\x03\x01text", nil, Part{0x1234, 3, 1, InUDH16}},
		{"beside the other bits of esm_class", 0xC3, "\x05\x00\x03\x2A\x03\x02text", nil, Part{0x2A, 3, 2, InUDH8}},
		{"after another element", 0x40, "\x0B\x05\x04\x15\x8A\x00\x00\x00\x03\x01\x02\x01x", nil, Part{1, 2, 1, InUDH8}},
		{"the last of two", 0x40, "\x0A\x00\x03\x01\x02\x01\x00\x03\x02\x02\x01x", nil, Part{2, 2, 1, 0}},
		{"header only", 0x40, "\x05\x00\x03\x2A\x03\x02", nil, Part{0x2A, 3, 2, InUDH8}},
		{"sar", 0, "text", sar("\x12\x34", "\x02", "\x01"), Part{0x1234, 2, 1, InSAR}},
		{"UDH before sar", 0x40, "\x05\x00\x03\x2A\x03\x02text", sar("\x12\x34", "\x02", "\x01"), Part{0x2A, 3, 2, 0}},
		{"sar where the UDH has none", 0x40, "\x04\x05\x02\x01\x02text", sar("\x12\x34", "\x02", "\x01"), Part{0x1234, 2, 1, InSAR}},
		{"UDH and sar that say the same", 0x40, "\x05\x00\x03\x2A\x03\x02text", sar("\x00\x2A", "\x03", "\x02"), Part{0x2A, 3, 2, InUDH8 | InSAR}},
		{"8 and 16 bit that say the same", 0x40, "\x0B\x08\x04\x00\x07\x02\x01\x00\x03\x07\x02\x01x", nil, Part{7, 2, 1, InUDH8 | InUDH16}},
		{"UDH and sar of one reference, but other parts", 0x40, "\x05\x00\x03\x2A\x03\x02text", sar("\x00\x2A", "\x03", "\x01"), Part{0x2A, 3, 2, 0}},
		{"UDH and sar of one reference, but another total", 0x40, "\x05\x00\x03\x2A\x03\x02text", sar("\x00\x2A", "\x04", "\x02"), Part{0x2A, 3, 2, 0}},
		{"sar twice the same", 0, "text", append(sar("\x12\x34", "\x02", "\x01"), sar("\x12\x34", "\x02", "\x01")...), Part{0x1234, 2, 1, InSAR}},
		{"sar with two references", 0, "text", append(sar("\x12\x34", "\x02", "\x01"), testTLV{0x020C, "\x12\x35"}), Part{0x1234, 2, 1, 0}},
		{"sar with a reference of another size too", 0, "text", append(sar("\x12\x34", "\x02", "\x01"), testTLV{0x020C, "\x12"}), Part{0x1234, 2, 1, 0}},
		{"five times the same", 0, "text", append(sar("\x12\x34", "\x02", "\x01"), testTLV{0x020C, "\x12\x34"}, testTLV{0x020C, "\x12\x34"},
			testTLV{0x020C, "\x12\x34"}, testTLV{0x020C, "\x12\x34"}), Part{0x1234, 2, 1, 0}},
		{"part 255 of 255", 0x40, "\x05\x00\x03\x00\xFF\xFFtext", nil, Part{0, 255, 255, InUDH8}},

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

// anyPart draws a message that says in these forms which part it is, for any reference.
func anyPart(t *rapid.T, form PartForm) func(ref uint16) message {
	m := anyMessage(t)
	m.tlvs = slices.DeleteFunc(m.tlvs, func(x testTLV) bool { return 0x020C <= x.tag && x.tag <= 0x020F })
	m.text = m.text[:min(len(m.text), 200)]
	m.esmClass &^= 0x40
	total := rapid.IntRange(1, 255).Draw(t, "total")
	number := rapid.IntRange(1, total).Draw(t, "number")
	other := rapid.SampledFrom([]string{"", "\x05\x04\x15\x8A\x00\x00", "\x70\x00"}).Draw(t, "other element")
	payload := rapid.Bool().Draw(t, "payload")

	return func(ref uint16) message {
		m := m
		high, low := byte(ref>>8), byte(ref)
		if form&(InUDH8|InUDH16) != 0 {
			var udh string
			if form&InUDH8 != 0 {
				udh = string([]byte{0x00, 3, low, byte(total), byte(number)})
			}
			udh += other
			if form&InUDH16 != 0 {
				udh += string([]byte{0x08, 4, high, low, byte(total), byte(number)})
			}
			m.esmClass |= 0x40
			m.text = string([]byte{byte(len(udh))}) + udh + m.text
		}
		if form&InSAR != 0 {
			m = m.with(testTLV{0x020F, string([]byte{byte(number)})}, testTLV{0x020C, string([]byte{high, low})}, testTLV{0x020E, string([]byte{byte(total)})})
		}
		if payload {
			m = m.payload()
		}
		return m
	}
}

// The same message is written under two references. What makes the first the second changes the reference's octets and
// nothing else; and both have one content.
func TestAReferenceThatIsSetStandsWhereverTheOldOneStood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := PartForm(rapid.IntRange(1, 7).Draw(t, "form"))
		last := 0xFFFF
		if form&InUDH8 != 0 {
			last = 0xFF
		}
		a, b := uint16(rapid.IntRange(0, last).Draw(t, "a")), uint16(rapid.IntRange(0, last).Draw(t, "b"))
		m := anyPart(t, form)
		frame := kinds[rapid.SampledFrom([]string{"submit_sm", "submit_multi", "data_sm"}).Draw(t, "kind")]
		if m(0).text == "" {
			frame = kinds["submit_sm"] // the text is in the payload already
		}
		from, want := frame(m(a)), frame(m(b))
		if content(t, from) != content(t, want) {
			t.Fatalf("the reference counts:\n% X\n% X", from, want)
		}
		got := Frame(bytes.Clone(from))
		if !got.SetReference(b) || !bytes.Equal(got, want) {
			t.Fatalf("got  % X\nwant % X\nfrom % X", got, want, from)
		}
		s, _ := ParseSubmit(got)
		if p, ok := s.Part(); !ok || p.Ref != b || p.Form != form {
			t.Fatalf("got part %+v, want reference %x, form %d", p, b, form)
		}
	})
}

func TestWhatHasNoRoomForAReferenceStaysAsItIs(t *testing.T) {
	udh := plain("\x05\x00\x03\x2A\x03\x02text")
	udh.esmClass = 0x40
	both := udh.with(testTLV{0x020C, "\x00\x2A"}, testTLV{0x020E, "\x03"}, testTLV{0x020F, "\x02"})
	differ := udh.with(testTLV{0x020C, "\x00\x2B"}, testTLV{0x020E, "\x03"}, testTLV{0x020F, "\x02"})
	for name, test := range map[string]struct {
		frame Frame
		ref   uint16
	}{
		"no part":                        {plain("text").frame(data.SUBMIT_SM), 1},
		"8 bit, 256":                     {udh.frame(data.SUBMIT_SM), 256},
		"8 bit beside sar, 256":          {both.frame(data.SUBMIT_SM), 256},
		"two references":                 {differ.frame(data.SUBMIT_SM), 7},
		"a receipt":                      {udh.frame(data.DELIVER_SM), 7},
		"a body that cannot be walked":   {Response(data.SUBMIT_SM, 0, 1, []byte("cut")), 7},
		"an answer":                      {Response(data.SUBMIT_SM_RESP, 0, 1, []byte("7\x00")), 7},
		"a header without its last part": {plain("\x05\x00\x03\x2A\x03\x02").frame(data.SUBMIT_SM), 7},
	} {
		before := bytes.Clone(test.frame)
		if test.frame.SetReference(test.ref) || !bytes.Equal(test.frame, before) {
			t.Errorf("%s: got % X, want no change of % X", name, test.frame, before)
		}
	}
}

func TestAReferenceThatCannotBeToldCounts(t *testing.T) {
	sar := func(refs ...string) string {
		m := plain("text").with(testTLV{0x020E, "\x02"}, testTLV{0x020F, "\x01"})
		for _, r := range refs {
			m = m.with(testTLV{0x020C, r})
		}
		return contentOf(t, m)
	}
	if sar("\x00\x01", "\x00\x02") == sar("\x00\x01", "\x00\x03") || sar("\x00\x01", "\x00\x02") == sar("\x00\x01", "\x00\x01") {
		t.Error("of two references one does not count")
	}
	if sar("\x00\x01") != sar("\x00\x02") || sar("\x00\x01", "\x00\x01") != sar("\x00\x02", "\x00\x02") {
		t.Error("a reference counts")
	}
	if sar("\x01") == sar("\x02") || contentOf(t, plain("text").with(testTLV{0x020C, "\x00\x01"})) == contentOf(t, plain("text").with(testTLV{0x020C, "\x00\x02"})) {
		t.Error("what is no reference does not count")
	}
}
