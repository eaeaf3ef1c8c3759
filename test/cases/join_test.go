package cases

import (
	"fmt"
	"sync"
	"testing"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

const requestTag = 0x1402

func requestIDs(set *stage.Settings) { set.Account.RequestTags = []uint16{requestTag} }

// identified is a message with a request id.
func identified(text, id string) wire.Message {
	m := stage.Message(text)
	m.TLVs = []wire.TLV{{Tag: requestTag, Value: []byte(id)}}
	return m
}

// CASES 7.
func TestTwoSessionsThatJoinEachOthersMessagesAreAllAnswered(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, requestIDs, func(s *stage.Stage) {
		one, smscOne := s.Bound("acme")
		two, smscTwo := s.Bound("acme")
		var submits sync.WaitGroup
		count := make(chan string, 1000)
		for _, smsc := range []*stage.Peer{smscOne, smscTwo} {
			submits.Go(func() {
				for {
					f, err := smsc.Within(patience)
					if err != nil {
						return
					}
					m, _ := wire.ParseMessage(f.Body())
					count <- string(m.Text)
					_, _ = smsc.Write(stage.Answer(f, "id of "+string(m.Text)))
				}
			})
		}
		const rounds = 100
		for round := range rounds {
			a, b := fmt.Sprint("A", round), fmt.Sprint("B", round)
			var both sync.WaitGroup
			both.Go(func() {
				one.Send(stage.Numbered(10, identified(a, a)), stage.Numbered(11, identified(b, b)))
			})
			both.Go(func() {
				two.Send(stage.Numbered(20, identified(b, b)), stage.Numbered(21, identified(a, a)))
			})
			both.Wait()
			for _, c := range []struct {
				p    *stage.Peer
				want map[uint32]string
			}{{one, map[uint32]string{10: a, 11: b}}, {two, map[uint32]string{20: b, 21: a}}} {
				for range 2 {
					f := c.p.Want(wire.SubmitSM | wire.Response)
					if got, want := f.ID(), "id of "+c.want[f.Sequence()]; got != want || f.Status() != wire.OK {
						t.Fatalf("round %d: %d was answered with id %q and status %#x, want %q and 0", round, f.Sequence(), got, f.Status(), want)
					}
					delete(c.want, f.Sequence())
				}
			}
		}
		smscOne.Reset()
		smscTwo.Reset()
		submits.Wait()
		if len(count) != 2*rounds {
			t.Errorf("the SMSC got %d messages, want %d", len(count), 2*rounds)
		}
		one.WantEnd()
		two.WantEnd()
	})
}
