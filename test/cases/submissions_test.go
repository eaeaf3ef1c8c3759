package cases

import (
	"bytes"
	"testing"

	"smpponce/proxy"
	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// multi is a message to two numbers and a distribution list.
func multi(m wire.Message, sequence uint32) wire.Frame {
	to := append(append([]byte{m.Destination.TON, m.Destination.NPI}, m.Destination.Number...), 0)
	list := append(append([]byte{3, 1}, to...), "\x01\x01\x01491709999999\x00\x02friends\x00"...)
	return wire.New(wire.SubmitMulti, 0, sequence, bytes.Replace(m.Body(), to, list, 1))
}

func data(m wire.Message, sequence uint32) wire.Frame {
	return wire.New(wire.DataSM, 0, sequence, m.DataBody())
}

// otherSubmissions are those that are no submit_sm, with an answer of the SMSC to each.
var otherSubmissions = map[string]struct {
	frame  func(m wire.Message, sequence uint32) wire.Frame
	answer []byte
}{
	"submit_multi": {multi, []byte("77\x00\x01\x01\x01491709999999\x00\x00\x00\x00\x0B")}, // one destination failed
	"data_sm":      {data, []byte("78\x00\x04\x25\x00\x01\x00")},
}

func otherwise(t *testing.T, set func(*stage.Settings), test func(s *stage.Stage, frame func(wire.Message, uint32) wire.Frame, answer []byte)) {
	for kind, o := range otherSubmissions {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			stage.InBubble(t, set, func(s *stage.Stage) { test(s, o.frame, o.answer) })
		})
	}
}

func TestSubmitMultiAndDataSMAreReplayedAsTheyWereAnswered(t *testing.T) {
	t.Parallel()
	otherwise(t, nil, func(s *stage.Stage, frame func(wire.Message, uint32) wire.Frame, answer []byte) {
		esme, smsc := s.Bound("acme")
		first := frame(stage.Message("hello"), 9)
		esme.Send(first)
		f := smsc.Want(first.Command())
		_ = esme.Close()
		smsc.Send(wire.New(f.Command()|wire.Response, 0, f.Sequence(), answer))
		smsc.Part()

		esme, smsc = s.Bound("acme")
		esme.Send(frame(stage.Message("hello"), 5))
		got := esme.Want(first.Command() | wire.Response)
		if got.Sequence() != 5 || got.Status() != 0 || !bytes.Equal(got.Body(), answer) {
			s.T.Errorf("got %x, want body %x", got, answer)
		}
		s.WantValue(1, "smpponce_resubmissions_total", "state", "accepted", "verdict", "replay")
		esme.Send(frame(stage.Message("hello"), 6)) // one loss absorbs one repeat
		smsc.Want(first.Command())
	})
}

func TestSubmitMultiAndDataSMAreJoined(t *testing.T) {
	t.Parallel()
	otherwise(t, nil, func(s *stage.Stage, frame func(wire.Message, uint32) wire.Frame, answer []byte) {
		esme, smsc := s.Bound("acme")
		esme.Send(frame(stage.Message("hello"), 9))
		f := smsc.Next()
		_ = esme.Close()
		s.Value("") // until the end is known
		again, _ := s.BoundElsewhere("acme")
		again.Send(frame(stage.Message("hello"), 5))
		s.WantValue(1, "smpponce_resubmissions_total", "state", "in_flight", "verdict", "join")
		smsc.Send(wire.New(f.Command()|wire.Response, 0, f.Sequence(), answer))
		if got := again.Want(f.Command() | wire.Response); got.Sequence() != 5 || !bytes.Equal(got.Body(), answer) {
			s.T.Errorf("got %x, want body %x", got, answer)
		}
	})
}

func TestSubmitMultiAndDataSMInDoubtAreToldToTryAgain(t *testing.T) {
	t.Parallel()
	otherwise(t, nil, func(s *stage.Stage, frame func(wire.Message, uint32) wire.Frame, _ []byte) {
		esme, smsc := s.Bound("acme")
		esme.Send(frame(stage.Message("hello"), 9))
		f := smsc.Next()
		smsc.Reset()
		esme.WantEnd()
		_ = esme.Close()
		esme, _ = s.Bound("acme")
		esme.Send(frame(stage.Message("hello"), 5))
		if got := esme.Want(f.Command() | wire.Response); got.Sequence() != 5 || got.Status() != stage.RetryStatus || len(got.Body()) == 0 {
			s.T.Errorf("got %x, want retry_status, and an empty message_id", got)
		}
	})
}

// The same text as another command is another message, to another list too.
func TestWhatIsSentOtherwiseIsNoRepeat(t *testing.T) {
	t.Parallel()
	stage.InBubble(t, nil, func(s *stage.Stage) {
		m := stage.Message("hello")
		shorter := multi(m, 3)
		shorter = wire.New(wire.SubmitMulti, 0, 3, bytes.Replace(bytes.Replace(shorter.Body(), []byte("\x02friends\x00"), nil, 1), []byte("\x03\x01\x01"), []byte("\x02\x01\x01"), 1))
		frames := []wire.Frame{m.Submit(1), multi(m, 2), shorter, data(m, 4)}
		for i := range frames {
			esme, smsc := s.Bound("acme")
			esme.Send(frames[i])
			smsc.Want(frames[i].Command())
			_ = esme.Close()
			smsc.Reset()
		}
		s.WantValue(0, "smpponce_resubmissions_total")
		s.WantValue(float64(len(frames)), "smpponce_in_doubt")
	})
}

// A request id counts in each of them.
func TestARequestIDOfASubmitMultiOrDataSMIsKnownAgain(t *testing.T) {
	t.Parallel()
	set := func(set *stage.Settings) {
		set.Account = proxy.Account{Mode: proxy.Enforce, Settle: set.Account.Settle, RaceWait: set.Account.RaceWait, RetryStatus: stage.RetryStatus, RequestTags: []uint16{0x1402}}
	}
	otherwise(t, set, func(s *stage.Stage, frame func(wire.Message, uint32) wire.Frame, answer []byte) {
		m := stage.Message("hello")
		m.TLVs = append(m.TLVs, wire.TLV{Tag: 0x1402, Value: []byte("request-1")})
		esme, smsc := s.Bound("acme")
		esme.Send(frame(m, 1))
		f := smsc.Next()
		smsc.Send(wire.New(f.Command()|wire.Response, 0, f.Sequence(), answer))
		esme.Want(f.Command() | wire.Response)
		esme.Send(frame(m, 2))
		if got := esme.Want(f.Command() | wire.Response); got.Sequence() != 2 || !bytes.Equal(got.Body(), answer) {
			s.T.Errorf("got %x, want body %x", got, answer)
		}
		s.WantValue(1, "smpponce_resubmissions_total", "key", "explicit", "verdict", "replay")
	})
}
