package cases

import (
	"fmt"
	"testing"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// part is one of three parts of a long message, under an 8-bit reference.
func part(number, reference byte) wire.Message {
	m := stage.Message(string([]byte{5, 0, 3, reference, 3, number}) + fmt.Sprintf("part %d of the story", number))
	m.ESMClass = 0x40
	return m
}

// referenceOf is the number and the reference of a part that the SMSC got.
func referenceOf(f wire.Frame) (number, reference byte) {
	m, _ := wire.ParseMessage(f.Body())
	return m.Text[5], m.Text[3]
}

// The SMSC has accepted two parts when a connection breaks. The application sends the message again, under a new reference.
func TestAHandsetGetsThreePartsUnderOneReference(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][3]byte{"1, 2, 3": {1, 2, 3}, "3, 1, 2": {3, 1, 2}} {
		for how, read := range map[string]bool{"two answers lost": false, "two answers read": true} {
			for where, smscBreaks := range map[string]bool{"the client's connection breaks": false, "the SMSC's connection breaks": true} {
				t.Run(name+", "+how+", "+where, func(t *testing.T) {
					stage.InBubble(t, nil, func(s *stage.Stage) {
						first, smsc := s.Bound("acme")
						got := map[byte]byte{} // reference by number
						takes := func(f wire.Frame) {
							number, reference := referenceOf(f)
							if r, there := got[number]; there {
								t.Errorf("the SMSC got part %d twice, under %d and %d", number, r, reference)
							}
							got[number] = reference
						}
						for i, number := range order {
							n := first.Submit(part(number, 7))
							f := smsc.WantSubmit()
							if i == 2 && smscBreaks {
								break // the third was never accepted: it is in doubt
							}
							if i < 2 {
								takes(f)
								if read {
									smsc.Answer(f, fmt.Sprint(number))
									first.WantAnswer(n, wire.OK)
								}
							} else {
								takes(f)
							}
						}
						if smscBreaks {
							smsc.Reset()
							first.WantEnd()
							_ = first.Close()
						} else {
							_ = first.Close()
						}
						if smscBreaks && !read {
							return // then all three are in doubt: see the forgetful SMSC
						}
						again := s.Dial()
						again.Send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", "elsewhere"))
						own := s.Accept()
						own.Send(wire.New(wire.BindTransceiver|wire.Response, 0, own.Want(wire.BindTransceiver).Sequence(), []byte(stage.BindResp)))
						again.Want(wire.BindTransceiver | wire.Response)
						for _, number := range order {
							m := part(number, 9)
							again.Send(m.Submit(uint32(number)))
						}
						if smscBreaks { // held, told to try again, and forwarded after the deadline
							for range 3 {
								again.Want(wire.SubmitSM | wire.Response)
							}
							pass(61 * time.Second)
							m := part(order[2], 9)
							again.Send(m.Submit(30))
							f := own.WantSubmit()
							takes(f)
							own.Answer(f, "third")
							again.Want(wire.SubmitSM | wire.Response)
						}
						own.WantNothing(time.Second)
						for number := byte(1); number <= 3; number++ {
							if got[number] != 7 {
								t.Errorf("part %d is at the SMSC under %d, want 7: %v", number, got[number], got)
							}
						}
					})
				})
			}
		}
	}
}
