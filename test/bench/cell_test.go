package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// runAgainst runs a cell's load through relay and holds it against what the SMSC got.
func runAgainst(t *testing.T, c cell, relayTo func(t *testing.T, upstream string) string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	smsc, err := listenSMSC(c.number)
	if err != nil {
		t.Fatal(err)
	}
	defer smsc.close()
	total, _, err := c.load(ctx, &relay{address: relayTo(t, smsc.address())})
	if err != nil {
		t.Fatal(err)
	}
	if total.sent == 0 {
		t.Fatal("nothing was sent")
	}
	smsc.close()
	return verify(&total, smsc.tally)
}

func noRelay(_ *testing.T, upstream string) string { return upstream }

func copyRelay(t *testing.T, upstream string) string {
	address, _, err := freeAddresses()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- serveCopies(ctx, address, upstream) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return address
}

func TestNothingIsLostOrRepeatedWithoutARelayOrWithACopyingOne(t *testing.T) {
	for name, relayTo := range map[string]func(*testing.T, string) string{direct: noRelay, ioCopy: copyRelay} {
		for loop, c := range map[string]cell{
			"closed loop": {number: 12, shape: shape{3, 20}, measure: 100 * time.Millisecond},
			"open loop":   {number: 13, rate: 1000, measure: 100 * time.Millisecond},
		} {
			t.Run(name+", "+loop, func(t *testing.T) {
				if err := runAgainst(t, c, relayTo); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// faultyRelay relays a single connection frame by frame. altered tells which frames a frame becomes; it is called
// for both directions, with the number of submit_sm, or of their answers, so far.
func faultyRelay(altered func(n int, frame []byte) [][]byte) func(*testing.T, string) string {
	return func(t *testing.T, upstream string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() {
			esme, err := listener.Accept()
			if err != nil {
				return
			}
			smsc, err := net.Dial("tcp", upstream)
			if err != nil {
				esme.Close()
				return
			}
			go relayFrames(smsc, esme, altered)
			relayFrames(esme, smsc, altered)
		}()
		return listener.Addr().String()
	}
}

func relayFrames(to, from net.Conn, altered func(n int, frame []byte) [][]byte) {
	defer to.Close()
	in := &frameReader{source: from}
	n := 0
	for {
		frame, err := in.await()
		if err != nil {
			return
		}
		frames := [][]byte{frame}
		if command(frame) == submitSM || command(frame) == submitSMResp {
			n++
			frames = altered(n, frame)
		}
		for _, frame := range frames {
			if _, err := to.Write(frame); err != nil {
				return
			}
		}
	}
}

func TestWhateverARelayDoesToAMessageIsNoticed(t *testing.T) {
	onThird := func(wanted uint32, change func(frame []byte) [][]byte) func(int, []byte) [][]byte {
		return func(n int, frame []byte) [][]byte {
			if n == 3 && command(frame) == wanted {
				return change(frame)
			}
			return [][]byte{frame}
		}
	}
	setByte := func(at int, value byte) func([]byte) [][]byte {
		return func(frame []byte) [][]byte {
			frame[at] = value
			return [][]byte{frame}
		}
	}
	secondAgain := func(frame []byte) [][]byte {
		c := newComposer(1, 0)
		c.appendNext(nil, 2)
		return [][]byte{c.appendNext(nil, sequence(frame))}
	}
	withForeign := func(frame []byte) [][]byte {
		c := newComposer(2, 0)
		return [][]byte{frame, c.appendNext(nil, 0x70000000)}
	}
	twice := func(frame []byte) [][]byte { return [][]byte{frame, frame} }
	for name, c := range map[string]struct {
		altered func(int, []byte) [][]byte
		want    []string
	}{
		"a submit_sm sent twice":       {onThird(submitSM, twice), []string{"duplicated", "belong to nothing"}},
		"an answer sent twice":         {onThird(submitSMResp, twice), []string{"belong to nothing"}},
		"a changed text":               {onThird(submitSM, setByte(tailAt, 'X')), []string{"lost", "changed", "without an answer", "another's message id"}},
		"another's message id":         {onThird(submitSMResp, setByte(headerLength+referenceDigits-1, 'x')), []string{"without an answer", "another's message id"}},
		"a refusal":                    {onThird(submitSMResp, setByte(11, 0x14)), []string{"refused"}},
		"another message in its place": {onThird(submitSM, secondAgain), []string{"lost", "duplicated", "without an answer", "another's message id"}},
		"a message that nobody sent":   {onThird(submitSM, withForeign), []string{"changed", "belong to nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := runAgainst(t, cell{number: 1, shape: shape{1, 5}, measure: 100 * time.Millisecond}, faultyRelay(c.altered))
			if err == nil {
				t.Fatal("not noticed")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in:\n%v", want, err)
				}
			}
			if got := len(strings.Split(err.Error(), "\n")); got != len(c.want) {
				t.Errorf("%d faults, want %d:\n%v", got, len(c.want), err)
			}
		})
	}
}

func TestFiguresOfACell(t *testing.T) {
	var total account
	for range 99 {
		total.latency.add(50)
	}
	total.latency.add(100)
	c := cell{measure: 2 * time.Second}
	f := c.figures(&total, &usage{cores: 0.5})
	if f.perSecond != 50 || f.p50 != 50 || f.p99 != 50 || f.process.per100 != 1000 {
		t.Errorf("got %+v, %+v", f, f.process)
	}
}
