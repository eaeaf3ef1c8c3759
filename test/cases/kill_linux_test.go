package cases

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/wire"
)

// CASES 18, with a real kill -9.
func TestAfterAKill9WhatWasReadIsNewAndWhatWasLostIsReplayed(t *testing.T) {
	t.Parallel()
	s, book := stage.Around(t), filepath.Join(t.TempDir(), "ledger")
	p := serve(t, s, book)
	p.listening(s)
	lost, draining := s.Bound("lost")
	lost.Submit(stage.Message("A"))
	submit := draining.WantSubmit()
	lost.Reset()
	eventually(t, "the session is left", func() bool { return p.Metric("smpponce_legs", `leg="smsc"`, `state="draining"`) == 1 })
	draining.Answer(submit, "7")
	draining.Part()

	esme, smsc := s.Bound("acme")
	wantForwarded(s, esme, smsc, stage.Message("A"), "1")
	// The ledger notes the time when the 200 ms are over: until then it could not know.
	answered, commits := time.Now(), p.Metric("smpponce_ledger_commit_duration_seconds_count")
	eventually(t, "the 200 ms are over, and noted", func() bool {
		return time.Since(answered) > 300*time.Millisecond && p.Metric("smpponce_ledger_commit_duration_seconds_count") > commits
	})
	p.Kill()
	esme.WantEnd()
	smsc.WantEnd()

	p = serve(t, s, book)
	p.listening(s)
	esme, smsc = s.Bound("acme")
	wantForwarded(s, esme, smsc, stage.Message("A"), "2")
	lost, smsc = s.Bound("lost")
	if id := lost.WantAnswer(lost.Submit(stage.Message("A")), wire.OK); id != "7" {
		t.Errorf("answered with id %q, want 7", id)
	}
	smsc.WantNothing(50 * time.Millisecond)
}

// CASES 21. The SMSC takes nothing, so that verdicts wait in the process when it is stopped; meanwhile the client gives
// up, comes back and repeats.
func TestAPausedProcessActsOnNoOldVerdict(t *testing.T) {
	t.Parallel()
	const size = 60_000
	s := stage.Around(t)
	p := serve(t, s, filepath.Join(t.TempDir(), "ledger"))
	p.listening(s)
	submit := func(i int) wire.Frame {
		m := stage.Message("")
		m.TLVs = []wire.TLV{{Tag: wire.TagPayload, Value: fmt.Appendf(nil, "%0*d", size, i)}}
		return stage.Numbered(uint32(i), m)
	}
	// All buffers on the way are filled, whatever kernels hold: then the proxy's writer is stuck with one batch, and
	// what was decided after it waits behind.
	first, smsc := s.Bound("acme")
	messages := 0
	for ; ; messages++ {
		_ = first.SetWriteDeadline(time.Now().Add(2 * time.Second))
		if _, err := first.Write(submit(messages)); err != nil {
			break
		}
	}
	t.Logf("%d messages fill the way to an SMSC that does not read", messages)

	p.Pause()
	first.Reset()
	again := s.Dial()
	again.Send(wire.Bind(wire.BindTransceiver, 1, "acme", "secret", "elsewhere"))
	pass(11 * time.Second) // a verdict is good for ten
	p.Signal(syscall.SIGCONT)

	arrived := make(chan string, 2*messages)
	take := func(smsc *stage.Peer) {
		for {
			f, err := smsc.Within(patience)
			if err != nil {
				return
			}
			if f.Command() == wire.SubmitSM {
				m, _ := wire.ParseMessage(f.Body())
				arrived <- string(m.Payload())
			}
			_, _ = smsc.Write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), []byte("id\x00")))
		}
	}
	go take(smsc)
	smscAgain := s.Accept()
	go take(smscAgain)
	again.Want(wire.BindTransceiver | wire.Response)
	for i := range messages {
		again.Send(submit(i))
	}
	for range messages {
		if f := again.Want(wire.SubmitSM | wire.Response); f.Status() != wire.OK {
			t.Fatalf("answer to %d with status %#x", f.Sequence(), f.Status())
		}
	}
	if len(arrived) != messages {
		t.Errorf("the SMSC got %d messages, want %d", len(arrived), messages)
	}
	copies := map[string]int{}
	for range len(arrived) {
		text := <-arrived
		if copies[text]++; copies[text] > 1 {
			t.Errorf("the SMSC got message %.20s again", text)
		}
	}
	if stale := p.Metric("smpponce_outcomes_total", `outcome="never_sent"`); stale == 0 {
		t.Error("no verdict was too old, so this shows nothing")
	}
}

// FIELD: a new pod starts while the old one holds the ledger.
func TestASecondProcessWaitsForTheLedgerAndTakesOver(t *testing.T) {
	t.Parallel()
	s, book := stage.Around(t), filepath.Join(t.TempDir(), "ledger")
	old := serve(t, s, book)
	old.listening(s)
	esme, draining := s.Bound("acme")
	esme.Submit(stage.Message("A"))
	submit := draining.WantSubmit()
	esme.Reset()
	eventually(t, "the session is left", func() bool { return old.Metric("smpponce_legs", `leg="smsc"`, `state="draining"`) == 1 })

	next := serve(t, s, book)
	next.awaitReady(503)
	draining.Answer(submit, "1")
	draining.Part()
	if status, body := next.Get("/readyz"); status != 503 {
		t.Errorf("/readyz of the second process while the first holds the ledger: %d %s, want 503", status, body)
	}
	old.Signal(syscall.SIGTERM)
	old.Ended()
	next.listening(s)
	next.awaitReady(200)
	esme, smsc := s.Bound("acme")
	if id := esme.WantAnswer(esme.Submit(stage.Message("A")), wire.OK); id != "1" {
		t.Errorf("answered with id %q, want 1", id)
	}
	smsc.WantNothing(50 * time.Millisecond)
}
