package e2e

import (
	"fmt"
	"net"
	"testing"

	"smpponce/test/smsc"
	"smpponce/test/wire"
)

// A client's host is gone without a FIN, with thirty messages open: ten of them were answered and read, ten are answered into the
// void, and ten later. The client starts on another host at once and sends its whole window again: it knows of no answer since the
// host is gone.
func TestTheWindowOfAClientWhoseHostHasVanishedIsNotSentTwice(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]smsc.Options{
		"the SMSC allows many binds": {}, "the SMSC allows one bind": {MaxBinds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const each = 10
			now, gone, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
			close(now)
			o.Script = func(m smsc.Submission) smsc.Plan {
				return smsc.Plan{Gate: []chan struct{}{now, gone, back}[(m.N-1)/each%3]}
			}
			s := startSMSC(t, o)
			first, second := startHost(t), startHost(t)
			p := newProxy(t, s.Addr(), "SMPPONCE_LISTEN_ADDRESS="+net.JoinHostPort(first.gateway, "0"))
			p.Start()
			address := p.Field("listening", "address")

			e := first.bound(address, "acme")
			all := differing(3 * each)
			ids := make([]string, len(all))
			submit := func(from int) (sent []uint32) {
				for _, m := range all[from:] {
					sent = append(sent, send(t, e, m, 1)...)
				}
				return sent
			}
			answered := func(from int, sent []uint32) {
				for i, n := range sent {
					f, err := e.Answer(bounded(t), n)
					if err != nil || f.Status() != wire.OK {
						t.Fatalf("answer %d: %x, %v", n, f, err)
					}
					ids[from+i] = f.ID()
				}
			}
			answered(0, submit(0)[:each])
			if err := s.Wait(bounded(t), func() bool { return s.Counts().Accepted == len(all) }); err != nil {
				t.Fatal(err)
			}
			first.vanish()
			close(gone)
			if err := s.Wait(bounded(t), func() bool { return s.Counts().Answered == 2*each }); err != nil {
				t.Fatal(err)
			}

			e = second.bound(address, "acme")
			again := submit(each)
			answered(each, again[:each])
			close(back)
			answered(2*each, again[each:])
			once(t, s, len(all), func(text string) string { return ids[index(text)] })
			p.Logged(`"msg":"session closed"`, `"reason":"esme_silent"`)
			if refused := p.Metric("smpponce_binds_total", `result="refused"`); refused != 0 {
				t.Errorf("%v binds were refused", refused)
			}
			if n := p.Count(`"msg":"resubmission"`); n != len(again) {
				t.Errorf("%d submissions were taken for resubmissions, want %d: %s", n, len(again), p.resubmissions())
			}
		})
	}
}

// index is the message's place that its text tells.
func index(text string) (i int) {
	_, _ = fmt.Sscanf(text, "message %d", &i)
	return i
}
