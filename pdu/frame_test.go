package pdu

import (
	"bytes"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"

	"smpponce/test/corpus"
)

func TestAFrameKeepsAll32BitsOfEachHeaderField(t *testing.T) {
	f := Response(data.CommandIDType(-1), 0xFFFFFFFE, 0xFFFFFFFF, []byte{7})
	if got, want := []byte(f), []byte("\x00\x00\x00\x11\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE\xFF\xFF\xFF\xFF\x07"); !bytes.Equal(got, want) {
		t.Fatalf("got % X, want % X", got, want)
	}
	if f.Command() != -1 || uint32(f.Status()) != 0xFFFFFFFE || f.Sequence() != 0xFFFFFFFF || !f.IsResponse() {
		t.Errorf("got command %x status %x sequence %x response %v", f.Command(), f.Status(), f.Sequence(), f.IsResponse())
	}
	if !bytes.Equal(f.Body(), []byte{7}) {
		t.Errorf("got body % X, want 07", f.Body())
	}
}

func TestSettingTheSequenceNumberChangesFourOctetsAndNoOther(t *testing.T) {
	all := corpus.All()
	rapid.Check(t, func(t *rapid.T) {
		f := Frame(all[rapid.IntRange(0, len(all)-1).Draw(t, "frame")].Frame)
		before := bytes.Clone(f)
		n := rapid.OneOf(rapid.Uint32(), rapid.SampledFrom([]uint32{0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF})).Draw(t, "number")
		f.SetSequence(n)
		if f.Sequence() != n || !bytes.Equal(f[:12], before[:12]) || !bytes.Equal(f[16:], before[16:]) {
			t.Fatalf("got  % X\nfrom % X", f, before)
		}
	})
}

func TestAppendingToAViewLeavesTheFrame(t *testing.T) {
	f := receipt(canonical, testTLV{0x001E, "42\x00\x00\x00\x00\x00"}, testTLV{0x1402, "x"}).frame(data.SUBMIT_SM)
	before := bytes.Clone(f)
	s, err := ParseSubmit(f)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := s.TLV(0x001E)
	views := [][]byte{s.ServiceType, s.Source.Number, s.Destination.Number, s.Schedule, s.Validity, s.ShortMessage, value}
	deliver := Response(data.DELIVER_SM, 0, 99, f.Body())
	r, ok := ParseReceipt(deliver)
	if !ok {
		t.Fatal("no receipt")
	}
	views = append(views, r.TextID, r.TLVID, r.RawStatus)
	resp := Response(data.SUBMIT_SM_RESP, 0, 1, []byte("42\x00\x14\x02\x00\x00"))
	id, _ := MessageID(resp)
	for _, v := range append(views, id) {
		_ = append(v, "????"...)
	}
	if !bytes.Equal(f, before) || !bytes.Equal(deliver.Body(), before[HeaderSize:]) || !bytes.Equal(resp.Body(), []byte("42\x00\x14\x02\x00\x00")) {
		t.Errorf("got  % X\nwant % X", f, before)
	}
}
