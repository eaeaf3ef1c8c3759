package history_test

import (
	"math/rand/v2"
	"strconv"
	"time"

	"smpponce/test/history"
	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// center is the script of the SMSC: nearly all is answered well and soon, and the rest by chance in any of the ways that hurt.
func center(chance *rand.Rand) smsc.Script {
	between := func(least, most time.Duration) time.Duration {
		return least + time.Duration(chance.Int64N(int64(most-least)))
	}
	return func(s smsc.Submission) (p smsc.Plan) {
		p.Delay = between(time.Millisecond, 15*time.Millisecond)
		if n, _ := strconv.Atoi(s.Message.Destination.Number[8:]); slow(n) {
			p.Delay = between(100*time.Millisecond, 200*time.Millisecond)
		}
		switch n := chance.IntN(1000); {
		case n < 6:
			p.Drop = smsc.Finish + smsc.Drop(chance.IntN(2))
			p.When = smsc.BeforeTaking + smsc.Moment(chance.IntN(4))
		case n < 16:
			p.Status = []uint32{wire.QueueFull, wire.Throttled}[chance.IntN(2)]
		case n < 20:
			p.Status = 0x45 // ESME_RSUBMITFAIL
		case n < 22:
			p.Status, p.Nack = wire.SystemError, true
		case n < 23:
			p.Silent = true
		case n < 43:
			p.Delay = between(50*time.Millisecond, 1500*time.Millisecond)
		case n < 45:
			p.Delay = between(responseTimeout, 2*responseTimeout)
		case n < 55:
			p.Repeat = 1 + chance.IntN(2)
		case n < 60:
			p.Stall = between(50*time.Millisecond, 300*time.Millisecond)
		}
		p.Receipts = receipts(chance)
		return p
	}
}

// receipts are early, with the answer, or late; some on another bind, some of failure.
func receipts(chance *rand.Rand) *smsc.Receipts {
	r := &smsc.Receipts{Elsewhere: draw(chance, 3)}
	switch chance.IntN(6) {
	case 0:
		r.Order = smsc.BeforeAnswer
	case 1:
		r.Order = smsc.WithAnswer
	case 2:
		r.Delay = time.Duration(chance.Int64N(int64(20 * time.Millisecond)))
	default:
		r.Delay = time.Duration(chance.Int64N(int64(lastReceipt)))
	}
	if draw(chance, 50) {
		r.State = "UNDELIV"
	}
	r.NoTLV = draw(chance, 4)
	r.Data = draw(chance, 10)
	return r
}

// watch notes what the SMSC reads and writes.
func watch(record *history.Recorder) smsc.Watch {
	return func(connection int, sent bool, f wire.Frame) {
		e := history.Event{Link: history.Link{Side: history.SMSC, Number: connection}, Kind: history.Received, Frame: f.Clone()}
		switch {
		case sent:
			e.Kind = history.Sent
		case f == nil:
			e.Kind, e.Frame = history.Ended, nil
		}
		record.Note(e)
	}
}
