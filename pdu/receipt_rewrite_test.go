package pdu

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

// rewritten gives the frame with another id, and checks that no more than the
// frame was appended.
func rewritten(t rapid.TB, f Frame, id string) Frame {
	t.Helper()
	before := bytes.Clone(f)
	r, ok := ParseReceipt(f)
	if !ok {
		t.Fatalf("no receipt: % X", f)
	}
	got := r.Rewrite([]byte("before"), []byte(id))
	if !bytes.Equal(f, before) {
		t.Fatalf("the receipt itself was changed:\n% X\n% X", before, f)
	}
	got, found := bytes.CutPrefix(got, []byte("before"))
	if !found || len(got) < HeaderSize || binary.BigEndian.Uint32(got) != uint32(len(got)) {
		t.Fatalf("got no frame behind what was there: % X", got)
	}
	return got
}

// The expected frames are built by hand, with the new id from the start.
func TestOnlyTheIDAndTheLengthsOfAReceiptChange(t *testing.T) {
	const udh = "\x05\x00\x03\x07\x01\x01"
	near := []testTLV{{0x1501, "z"}, {0x0423, "\x03\x00\x00"}, {0x1402, ""}, {0x1402, "again"}}
	make := func(id, tlvID string) map[string]Frame {
		text := "id:" + id + " sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:a _ \x80\xFF\x00"
		m := receipt(text).with(near...)
		m.tail = "\xFF\x00\x01"
		wide := m
		wide.text, wide.coding = ucs2("id:"+id+" stat:DELIVRD text:")+"\xD8\x3D\xDE\x00\x04\x1F", 8
		headed := m
		headed.text, headed.esmClass = udh+text, 0x44
		with := m.with(testTLV{0x001E, tlvID + "\x00"}, testTLV{0x0427, "\x02"})
		bare := m.with(testTLV{0x001E, tlvID})
		filled := m.with(testTLV{0x001E, tlvID + "\x00\x00\x00"})
		twice := m.with(testTLV{0x001E, tlvID + "\x00"}, testTLV{0x001E, tlvID})
		noText := with
		noText.text = ""
		noID := with
		noID.text = "stat:DELIVRD done date:1601010101"
		both := receipt(text, testTLV{0x0424, "id:keep stat:this"})
		twoPayloads := m.payload().with(testTLV{0x0424, "id:keep stat:this"})
		return map[string]Frame{
			"text":                   m.frame(data.DELIVER_SM),
			"text and TLV":           with.frame(data.DELIVER_SM),
			"TLV without NUL":        bare.frame(data.DELIVER_SM),
			"TLV filled up":          filled.frame(data.DELIVER_SM),
			"TLV twice":              twice.frame(data.DELIVER_SM),
			"TLV and no text":        noText.frame(data.DELIVER_SM),
			"TLV and no id in text":  noID.frame(data.DELIVER_SM),
			"payload":                with.payload().frame(data.DELIVER_SM),
			"data_sm":                with.dataFrame(),
			"UCS-2":                  wide.frame(data.DELIVER_SM),
			"UCS-2 in a payload":     wide.payload().frame(data.DELIVER_SM),
			"UCS-2 in a data_sm":     wide.dataFrame(),
			"UDH":                    headed.frame(data.DELIVER_SM),
			"UDH in a payload":       headed.payload().frame(data.DELIVER_SM),
			"payload beside text":    both.frame(data.DELIVER_SM),
			"two payloads":           twoPayloads.frame(data.DELIVER_SM),
			"data_sm without text":   Response(data.DATA_SM, 0, 9, []byte("\x00\x01\x011\x00\x00\x002\x00\x04\x00\x00"+tlvBytes([]testTLV{{0x001E, tlvID + "\x00"}}))),
			"text and TLV differing": m.with(testTLV{0x001E, tlvID}).frame(data.DELIVER_SM),
		}
	}
	for _, id := range []string{"7", "0000000012345678", "a much longer id than it was before"} {
		want := make(id, id)
		for name, f := range make("12345678", "bc614e") {
			if got := rewritten(t, f, id); !bytes.Equal(got, want[name]) {
				t.Errorf("%s, id %q:\ngot  % X\nwant % X", name, id, got, want[name])
			}
		}
	}
}

func TestAReceiptWithoutAnIDStaysAsItIs(t *testing.T) {
	f := receipt("stat:DELIVRD done date:1601010101 text:id:5", testTLV{0x001E, "\x00"}, testTLV{0x0427, "\x02"}).frame(data.DELIVER_SM)
	if got := rewritten(t, f, "new"); !bytes.Equal(got, f) {
		t.Errorf("got  % X\nwant % X", got, f)
	}
}

func TestATextThatGetsTooLongLosesTheEndOfWhatTheUserWrote(t *testing.T) {
	const start = " sub:001 stat:DELIVRD err:000 text:"
	fill := func(prefix string, n int) string { return prefix + strings.Repeat("x", n-len(prefix)) }
	id40 := strings.Repeat("9", 40)
	tests := []struct {
		name, text, want string
		coding           byte
	}{
		{name: "fits exactly", text: fill("id:1"+start, 215), want: fill("id:"+id40+start, 254)},
		{name: "one too long", text: fill("id:1"+start, 216), want: fill("id:"+id40+start, 254)},
		{name: "full", text: fill("id:1"+start, 254), want: fill("id:"+id40+start, 254)},
		{name: "of 255", text: fill("id:1"+start, 255), want: fill("id:"+id40+start, 254)},
		{name: "an escape would be split", text: fill("id:1"+start, 214) + "\x1B\x65", want: fill("id:"+id40+start, 253)},
		{name: "UCS-2", coding: 8, text: ucs2(fill("id:1"+start, 127)), want: ucs2(fill("id:"+id40+start, 127))},
		{name: "UCS-2, a pair would be split", coding: 8, text: ucs2(fill("id:1"+start, 87)) + "\xD8\x3D\xDE\x00", want: ucs2(fill("id:"+id40+start, 126))},
		{name: "UCS-2 of an odd length", coding: 8, text: ucs2(fill("id:1"+start, 126)) + "\x00", want: ucs2(fill("id:"+id40+start, 127))},
	}
	for _, test := range tests {
		m, want := receipt(test.text, testTLV{0x001E, "1\x00"}), receipt(test.want, testTLV{0x001E, id40 + "\x00"})
		m.coding, want.coding = test.coding, test.coding
		got := rewritten(t, m.frame(data.DELIVER_SM), id40)
		if !bytes.Equal(got, want.frame(data.DELIVER_SM)) {
			t.Errorf("%s:\ngot  %q\nwant %q", test.name, got, want.frame(data.DELIVER_SM))
		}
	}
}

// What would still be too long is left alone: an id in the one place and
// another in the other is worse than the wrong one in both.
func TestAReceiptThatCannotHoldTheIDStaysAsItIs(t *testing.T) {
	id := strings.Repeat("9", 65)
	for name, text := range map[string]string{
		"no text:":        "id:1 stat:DELIVRD note:" + strings.Repeat("x", 220),
		"text: too short": "id:1 stat:DELIVRD note:" + strings.Repeat("x", 220) + " text:abc",
	} {
		f := receipt(text, testTLV{0x001E, "1\x00"}).frame(data.DELIVER_SM)
		if got := rewritten(t, f, id); !bytes.Equal(got, f) {
			t.Errorf("%s:\ngot  % X\nwant % X", name, got, f)
		}
	}
	f := receipt("", testTLV{0x001E, "1\x00"}).frame(data.DELIVER_SM)
	if got := rewritten(t, f, strings.Repeat("9", 0xFFFF)); !bytes.Equal(got, f) {
		t.Error("a TLV longer than its length can tell was written")
	}
}

func TestATextOf255OctetsIsShortenedOnlyWhereItGrows(t *testing.T) {
	text := "id:123 stat:DELIVRD text:"
	text += strings.Repeat("x", 255-len(text))
	got := rewritten(t, receipt(text).frame(data.DELIVER_SM), "456")
	want := receipt(strings.Replace(text, "123", "456", 1)).frame(data.DELIVER_SM)
	if !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAMessagePayloadMayGetLongerThan254Octets(t *testing.T) {
	m := receipt("id:1 stat:DELIVRD text:" + strings.Repeat("x", 254)).payload()
	id := strings.Repeat("9", 65)
	want := receipt("id:" + id + " stat:DELIVRD text:" + strings.Repeat("x", 254)).payload()
	if got := rewritten(t, m.frame(data.DELIVER_SM), id); !bytes.Equal(got, want.frame(data.DELIVER_SM)) {
		t.Errorf("got %q", got)
	}
}

// anyReceipt draws receipts of all forms, with one id in all places or two.
func anyReceipt(t *rapid.T) (f Frame, id string) {
	ids := rapid.StringMatching("[0-9A-Za-z-]{1,20}")
	id = ids.Draw(t, "id")
	m := anyMessage(t)
	m.text = rapid.SampledFrom([]string{"", "id:" + id + " ", "x id:" + id + "\t"}).Draw(t, "start") +
		rapid.SampledFrom([]string{"", "stat:DELIVRD ", "sub:001 submit date:1601010100 done date:1601010101 "}).Draw(t, "middle") +
		rapid.SampledFrom([]string{"", "text:", "Text:none", "text:id:0 stat:X"}).Draw(t, "end")
	m.esmClass = rapid.SampledFrom([]byte{0x04, 0x20, 0x44, 0x64, 0xC7}).Draw(t, "class")
	m.coding = rapid.SampledFrom([]byte{0, 1, 3, 8}).Draw(t, "coding")
	if m.coding == 8 && rapid.Bool().Draw(t, "UCS-2") {
		m.text = ucs2(m.text)
	}
	if m.esmClass&0x40 != 0 && rapid.Bool().Draw(t, "UDH") {
		m.text = "\x05\x00\x03\x07\x01\x01" + m.text
	}
	for i := range m.tlvs {
		if m.tlvs[i].tag == 0x001E {
			m.tlvs[i].value = id + rapid.SampledFrom([]string{"", "\x00"}).Draw(t, "NUL")
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "place") {
	case 0:
		return m.frame(data.DELIVER_SM), id
	case 1:
		return m.payload().frame(data.DELIVER_SM), id
	}
	return m.dataFrame(), id
}

func TestARewriteCanBeRepeatedAndTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, id := anyReceipt(t)
		other := rapid.StringMatching("[0-9A-Za-z-]{1,40}").Draw(t, "other id")
		once := rewritten(t, f, other)
		if again := rewritten(t, once, other); !bytes.Equal(again, once) {
			t.Fatalf("the second time:\ngot  % X\nwant % X", again, once)
		}
		if same := rewritten(t, f, id); !bytes.Equal(same, f) {
			t.Fatalf("with its own id:\ngot  % X\nwant % X", same, f)
		}
		if back := rewritten(t, once, id); !bytes.Equal(back, f) {
			t.Fatalf("taken back:\ngot  % X\nwant % X", back, f)
		}
		before, _ := ParseReceipt(f)
		after, _ := ParseReceipt(once)
		if before.ID() != nil && string(after.ID()) != other {
			t.Fatalf("got id %q, want %q", after.ID(), other)
		}
		if before.TextID != nil && string(after.TextID) != other {
			t.Fatalf("got id %q in the text, want %q", after.TextID, other)
		}
		if after.State != before.State || string(after.RawStatus) != string(before.RawStatus) {
			t.Fatalf("got %v %q, want %v %q", after.State, after.RawStatus, before.State, before.RawStatus)
		}
	})
}
