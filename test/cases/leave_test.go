package cases

import (
	"bytes"
	"fmt"
	"net"
	"testing"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// CASES 28, with a kernel that resets what is closed with input unread.
func TestAllAnswersArriveThoughThePeerStillSendsAtTheEnd(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
	defer s.Close()
	esme, smsc := s.Bound("acme")
	const n = 400
	body := append(bytes.Repeat([]byte("x"), 1000), 0)
	for i := range n {
		esme.Submit(stage.Message(fmt.Sprint("message ", i)))
	}
	for range n {
		f := smsc.WantSubmit()
		smsc.Send(wire.New(wire.SubmitSM|wire.Response, 0, f.Sequence(), body))
	}
	eventually(t, "all are answered", func() bool { return s.Value("smpponce_outcomes_total", "outcome", "accepted") == n })
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // the client sends on and on
		defer close(stopped)
		for f := stage.Numbered(9999, stage.Message("more")); ; {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := esme.Write(f); err != nil {
				return
			}
		}
	}()
	_ = smsc.Conn.(*net.TCPConn).CloseWrite()
	for i := range n {
		if f := esme.Want(wire.SubmitSM | wire.Response); f.Sequence() != uint32(2+i) || len(f) != 16+len(body) {
			t.Fatalf("answer %d is %d with %d octets, want %d with %d", i, f.Sequence(), len(f), 2+i, 16+len(body))
		}
	}
	if f, err := esme.Within(patience); err == nil { // what was forwarded before the end was seen stays unanswered
		t.Errorf("after the answers came %x", f)
	}
	close(stop)
	<-stopped
}

// A client that submits ten and is gone, FIN right behind the last byte, nothing read.
func TestWhatAClientSubmitsBeforeItHangsUpReachesTheSMSC(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, s *stage.Stage) {
		for round := range 30 {
			esme, smsc := s.Bound("acme")
			var all []wire.Frame
			for i := range 10 {
				all = append(all, stage.Numbered(uint32(10+i), stage.Message(fmt.Sprintf("round %d, message %d", round, i))))
			}
			esme.Send(all...)
			_ = esme.Close()
			for i := range 10 {
				f := smsc.WantSubmit()
				m, _ := wire.ParseMessage(f.Body())
				if got, want := string(m.Text), fmt.Sprintf("round %d, message %d", round, i); got != want {
					t.Fatalf("the SMSC got %q, want %q", got, want)
				}
				smsc.Answer(f, "id")
			}
			smsc.Part()
		}
	}
	t.Run("in memory", func(t *testing.T) { stage.InBubble(t, nil, func(s *stage.Stage) { play(t, s) }) })
	t.Run("over TCP", func(t *testing.T) {
		s := stage.Open(t, func(set *stage.Settings) { set.Loopback = true })
		defer s.Close()
		play(t, s)
	})
}
