package cases

import (
	"fmt"
	"testing"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// A long message of three parts: the SMSC has accepted two, refused the third, and its client heard of none. It comes
// again under a new reference. The third goes out under the old one, whichever way a message says which part it is.
func TestAPartThatIsSentAgainFitsTheOthersInEveryForm(t *testing.T) {
	t.Parallel()
	type form func(m *wire.Message, ref, number byte)
	forms := map[string]form{
		"UDH 8 bit": func(m *wire.Message, ref, number byte) {
			m.ESMClass, m.Text = 0x40, fmt.Appendf([]byte{5, 0, 3, ref, 3, number}, "part %d", number)
		},
		"UDH 16 bit": func(m *wire.Message, ref, number byte) {
			m.ESMClass, m.Text = 0x40, fmt.Appendf([]byte{6, 8, 4, 7, ref, 3, number}, "part %d", number)
		},
		"sar": func(m *wire.Message, ref, number byte) {
			m.Text = fmt.Appendf(nil, "part %d", number)
			m.TLVs = []wire.TLV{{Tag: 0x020C, Value: []byte{7, ref}}, {Tag: 0x020E, Value: []byte{3}}, {Tag: 0x020F, Value: []byte{number}}}
		},
	}
	forms["UDH and sar"] = func(m *wire.Message, ref, number byte) {
		forms["sar"](m, ref, number)
		forms["UDH 16 bit"](m, ref, number)
	}
	kinds := map[string]func(m wire.Message, sequence uint32) wire.Frame{
		"submit_sm": func(m wire.Message, sequence uint32) wire.Frame { return m.Submit(sequence) }, "submit_multi": multi, "data_sm": data,
	}
	for kind, frame := range kinds {
		for name, form := range forms {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				part := func(ref, number byte) wire.Frame {
					m := stage.Message("")
					form(&m, ref, number)
					return frame(m, uint32(number))
				}
				stage.InBubble(t, nil, func(s *stage.Stage) {
					esme, smsc := s.Bound("acme")
					esme.Send(part(1, 1), part(1, 2), part(1, 3))
					var got []wire.Frame
					for range 3 {
						got = append(got, smsc.Next())
					}
					_ = esme.Close()
					s.Value("") // until the end is known
					for i, f := range got {
						status, body := wire.OK, fmt.Appendf(nil, "%d\x00\x00", i)
						if i == 2 {
							status, body = wire.Throttled, []byte{0, 0}
						}
						smsc.Send(wire.New(f.Command()|wire.Response, status, f.Sequence(), body))
					}
					smsc.Part()

					esme, smsc = s.Bound("acme")
					esme.Send(part(2, 1), part(2, 2), part(2, 3))
					third := smsc.Next()
					if string(third.Body()) != string(part(1, 3).Body()) {
						t.Errorf("got  %x\nwant %x, the third under the first reference", third.Body(), part(1, 3).Body())
					}
					smsc.Send(wire.New(third.Command()|wire.Response, wire.OK, third.Sequence(), []byte("2\x00\x00")))
					for range 3 {
						if f := esme.Next(); f.Status() != wire.OK || f.ID() != fmt.Sprint(f.Sequence()-1) {
							t.Errorf("answer %d is %q with status %#x", f.Sequence(), f.ID(), f.Status())
						}
					}
				})
			})
		}
	}
}
