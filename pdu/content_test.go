package pdu

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

// content is the content of a frame of which 0x1402 is a request tag.
func content(t rapid.TB, f Frame) string {
	t.Helper()
	s, err := ParseSubmit(f)
	if err != nil {
		return string(AppendContent(nil, f, nil, []uint16{0x1402}))
	}
	return string(AppendContent(nil, f, &s, []uint16{0x1402}))
}

func contentOf(t rapid.TB, m message) string { return content(t, m.frame(data.SUBMIT_SM)) }

// kinds are the submissions that a message can be sent as.
var kinds = map[string]func(message) Frame{
	"submit_sm":    func(m message) Frame { return m.frame(data.SUBMIT_SM) },
	"submit_multi": func(m message) Frame { return m.multiFrame("\x02list\x00", "\x01\x00\x01123\x00") },
	"data_sm":      message.dataFrame,
}

// notInDataSM are the fields that a data_sm lacks; its text has one place only.
var notInDataSM = []string{"protocol_id", "replace_if_present_flag", "sm_default_msg_id", "schedule_delivery_time", "validity_period", "priority_flag", "place of the text"}

// change alters one thing in a message, and makes sure that it did.
type change struct {
	name  string
	apply func(t *rapid.T, m *message)
}

func other(t *rapid.T, old *byte) {
	*old ^= byte(rapid.IntRange(1, 255).Draw(t, "difference"))
}

func longer(t *rapid.T, old *string) {
	at := rapid.IntRange(0, len(*old)).Draw(t, "at")
	*old = (*old)[:at] + rapid.SampledFrom([]string{"0", "1", "\xFF", " "}).Draw(t, "more") + (*old)[at:]
}

// counted are the changes that make another message.
var counted = []change{
	{"service_type", func(t *rapid.T, m *message) { longer(t, &m.service) }},
	{"source", func(t *rapid.T, m *message) { longer(t, &m.source) }},
	{"source ton", func(t *rapid.T, m *message) { other(t, &m.sourceTON) }},
	{"source npi", func(t *rapid.T, m *message) { other(t, &m.sourceNPI) }},
	{"destination", func(t *rapid.T, m *message) { longer(t, &m.destination) }},
	{"destination ton", func(t *rapid.T, m *message) { other(t, &m.destTON) }},
	{"destination npi", func(t *rapid.T, m *message) { other(t, &m.destNPI) }},
	{"esm_class", func(t *rapid.T, m *message) { other(t, &m.esmClass) }},
	{"protocol_id", func(t *rapid.T, m *message) { other(t, &m.protocol) }},
	{"replace_if_present_flag", func(t *rapid.T, m *message) { other(t, &m.replace) }},
	{"data_coding", func(t *rapid.T, m *message) { other(t, &m.coding) }},
	{"sm_default_msg_id", func(t *rapid.T, m *message) { other(t, &m.canned) }},
	{"text", func(t *rapid.T, m *message) {
		b := []byte(m.text)
		at := len(b) - 1 // the last octet is no reference
		if m.esmClass&0x40 == 0 {
			at = rapid.IntRange(0, at).Draw(t, "octet")
		}
		other(t, &b[at])
		m.text = string(b)
	}},
	{"end of the text", func(_ *rapid.T, m *message) {
		if len(m.text) == 255 {
			m.text = m.text[:254]
			return
		}
		m.text += "\x00"
	}},
	{"one more TLV", func(_ *rapid.T, m *message) { *m = m.with(testTLV{0x1403, "x"}) }},
	{"one more TLV, empty", func(_ *rapid.T, m *message) { *m = m.with(testTLV{0x0005, ""}) }},
	{"value of a TLV", func(_ *rapid.T, m *message) {
		*m = m.with()
		for i := range m.tlvs {
			if countedTag(m.tlvs[i].tag) {
				m.tlvs[i].value += "\x00"
				return
			}
		}
		*m = m.with(testTLV{0x1501, "none was there"})
	}},
	{"tail", func(_ *rapid.T, m *message) {
		if len(m.tail) == 3 {
			m.tail = m.tail[:2]
			return
		}
		m.tail += "\x00"
	}},
}

// uncounted are the changes that leave it the same message.
var uncounted = []change{
	{"schedule_delivery_time", func(t *rapid.T, m *message) { longer(t, &m.schedule) }},
	{"validity_period", func(t *rapid.T, m *message) { longer(t, &m.validity) }},
	{"registered_delivery", func(t *rapid.T, m *message) { other(t, &m.registered) }},
	{"priority_flag", func(t *rapid.T, m *message) { other(t, &m.priority) }},
	{"request tag", func(t *rapid.T, m *message) { *m = m.with(testTLV{0x1402, rapid.String().Draw(t, "id")}) }},
	{"user_message_reference", func(_ *rapid.T, m *message) { *m = m.with(testTLV{0x0204, "\x00\x08"}) }},
	{"qos_time_to_live", func(_ *rapid.T, m *message) { *m = m.with(testTLV{0x0017, "\x00\x00\x0E\x10"}) }},
	{"place of the text", func(_ *rapid.T, m *message) { *m = m.payload() }},
	{"order of TLVs with different tags", func(_ *rapid.T, m *message) {
		*m = m.with()
		slices.SortStableFunc(m.tlvs, func(a, b testTLV) int { return int(b.tag) - int(a.tag) })
	}},
}

func countedTag(tag uint16) bool { return tag != 0x1402 && tag != 0x0204 && tag != 0x0017 }

func TestAnyChangeThatCountsMakesAnotherContent(t *testing.T) {
	changed(t, counted, func(t *rapid.T, before, after string) {
		if before == after {
			t.Fatalf("equal content % X", before)
		}
	})
}

func TestAnyChangeThatDoesNotCountLeavesTheContent(t *testing.T) {
	changed(t, uncounted, func(t *rapid.T, before, after string) {
		if before != after {
			t.Fatalf("got  % X\nwant % X", after, before)
		}
	})
}

// changed looks at the contents before and after each change, in each kind of submission.
func changed(t *testing.T, changes []change, look func(t *rapid.T, before, after string)) {
	for kind, frame := range kinds {
		for _, c := range changes {
			if kind == "data_sm" && slices.Contains(notInDataSM, c.name) {
				continue
			}
			t.Run(kind+", "+c.name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					before := anyMessage(t)
					after := before
					c.apply(t, &after)
					look(t, content(t, frame(before)), content(t, frame(after)))
				})
			})
		}
	}
}

func TestTheCommandCounts(t *testing.T) {
	seen := map[string]string{}
	for kind, frame := range kinds {
		for _, f := range []Frame{frame(plain("text")), Response(frame(plain("")).Command(), 0, 1, []byte("cut"))} {
			if like, ok := seen[content(t, f)]; ok {
				t.Errorf("%s has a content of %s", kind, like)
			}
			seen[content(t, f)] = kind
		}
	}
}

func TestEveryDestinationOfASubmitMultiCounts(t *testing.T) {
	m := plain("text")
	seen := map[string][]string{}
	for _, others := range [][]string{
		{}, {"\x01\x01\x01123\x00"}, {"\x01\x01\x01124\x00"}, {"\x01\x00\x01123\x00"}, {"\x01\x01\x00123\x00"}, {"\x02123\x00"}, {"\x02\x00"},
		{"\x01\x01\x01123\x00", "\x02123\x00"}, {"\x02123\x00", "\x01\x01\x01123\x00"}, {"\x01\x01\x01123\x00", "\x01\x01\x01123\x00"},
	} {
		c := content(t, m.multiFrame(others...))
		if like, ok := seen[c]; ok {
			t.Errorf("%q and %q have one content", others, like)
		}
		seen[c] = others
	}
}

func TestTheSequenceNumberDoesNotCount(t *testing.T) {
	f := plain("text").frame(data.SUBMIT_SM)
	before := content(t, f)
	f.SetSequence(0xFFFFFFFF)
	if got := content(t, f); got != before {
		t.Errorf("got % X, want % X", got, before)
	}
}

// Two messages have equal content only where what counts of them is equal: what
// counts is written down here a second time, as a structure.
func TestContentsAreEqualOnlyWhereWhatCountsIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Short fields over few octets, so that things run into each other.
		tiny := rapid.StringMatching("[01]{0,2}")
		draw := func(label string) message {
			m := message{service: tiny.Draw(t, label), source: tiny.Draw(t, label), destination: tiny.Draw(t, label),
				text: rapid.StringMatching("[\x00-\x02]{0,3}").Draw(t, label),
				tail: rapid.StringMatching("[\x00\x01]{0,3}").Draw(t, label)}
			for range rapid.IntRange(0, 3).Draw(t, label) {
				m.tlvs = append(m.tlvs, testTLV{rapid.SampledFrom([]uint16{0, 1, 0x0424, 0x1402}).Draw(t, label), tiny.Draw(t, label)})
			}
			return m
		}
		a, b := draw("a"), draw("b")
		same := essence(a) == essence(b)
		if got := contentOf(t, a) == contentOf(t, b); got != same {
			t.Fatalf("equal contents: %v, want %v\n%+v\n%+v", got, same, a, b)
		}
	})
}

func essence(m message) string {
	body := m.text
	payload := body == ""
	var rest []testTLV
	for _, x := range m.tlvs {
		switch {
		case x.tag == 0x0424 && payload:
			body, payload = x.value, false
		case countedTag(x.tag):
			rest = append(rest, x)
		}
	}
	slices.SortStableFunc(rest, func(a, b testTLV) int { return int(a.tag) - int(b.tag) })
	return fmt.Sprintf("%q %q %q %q %+q %q", m.service, m.source, m.destination, body, tlvBytes(rest), m.tail)
}

func TestEqualTextsInEitherPlaceAreEqual(t *testing.T) {
	m := plain("the text")
	if contentOf(t, m) != contentOf(t, m.payload()) {
		t.Error("short_message and message_payload differ")
	}
	late := m.with(testTLV{0x0005, "\x01"})
	if contentOf(t, late) != contentOf(t, late.payload()) {
		t.Error("short_message and message_payload differ beside another TLV")
	}
	if contentOf(t, plain("a\x00b")) == contentOf(t, plain("a\x00c")) {
		t.Error("what follows a NUL does not count")
	}
}

func TestAPayloadBesideAShortMessageIsATLV(t *testing.T) {
	m := plain("short").with(testTLV{0x0424, "long"})
	for _, like := range []message{plain("short"), plain("long"), plain("shortlong"), plain("short").with(testTLV{0x0424, "other"})} {
		if contentOf(t, m) == contentOf(t, like) {
			t.Errorf("equal content as %+v", like)
		}
	}
}

func TestTheOrderOfTLVsWithTheSameTagCounts(t *testing.T) {
	a, b := testTLV{0x1403, "a"}, testTLV{0x1403, "b"}
	if contentOf(t, plain("x").with(a, b)) == contentOf(t, plain("x").with(b, a)) {
		t.Error("it does not count")
	}
}

func TestManyTLVsAreTakenInTheOrderOfTheirTags(t *testing.T) {
	m := plain("x")
	for i := range 20000 {
		m.tail += string([]byte{byte(i >> 8), byte(i), 0, 0})
	}
	reversed := plain("x")
	var b strings.Builder
	for i := 19999; i >= 0; i-- {
		b.Write([]byte{byte(i >> 8), byte(i), 0, 0})
	}
	reversed.tail = b.String()
	if contentOf(t, m) != contentOf(t, reversed) {
		t.Error("the order counts")
	}
}

func TestABodyThatCannotBeWalkedCountsAsItStands(t *testing.T) {
	cut := plain("text").frame(data.SUBMIT_SM)
	a := Response(data.SUBMIT_SM, 0, 1, cut[HeaderSize:len(cut)-1])
	b := Response(data.SUBMIT_SM, 0, 2, cut[HeaderSize:len(cut)-2])
	if content(t, a) == content(t, b) {
		t.Error("two bodies have one content")
	}
	if got, want := content(t, a), "\x02\x00\x00\x00\x04\x00"+string(a.Body()); got != want {
		t.Errorf("got % X, want % X", got, want)
	}
}

func TestTheContentIsAppended(t *testing.T) {
	f := plain("text").frame(data.SUBMIT_SM)
	s, err := ParseSubmit(f)
	if err != nil {
		t.Fatal(err)
	}
	got := AppendContent([]byte("account"), f, &s, nil)
	if want := append([]byte("account"), AppendContent(nil, f, &s, nil)...); !bytes.Equal(got, want) {
		t.Errorf("got % X, want % X", got, want)
	}
}

// The ledger keeps hashes of contents over restarts and updates. A change of
// the form makes every repeat of what is open then a new message: if it must
// be, give it another contentForm.
func TestTheFormOfAContentStaysAsItIs(t *testing.T) {
	m := plain("text").with(testTLV{0x1403, "b"}, testTLV{0x0204, "\x00\x01"}, testTLV{0x0005, "\x01"})
	m.tail = "junk?"
	sum := sha256.Sum256([]byte(contentOf(t, m)))
	if got, want := hex.EncodeToString(sum[:8]), "8165324f1358be62"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
