package pdu

import (
	"bytes"
	"testing"

	"github.com/linxGnu/gosmpp/data"
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
