package proxy

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	proxyproto "github.com/pires/go-proxyproto"

	"smpponce/ledger"
	"smpponce/test/wire"
)

func TestABindIsForwardedUntouchedButForItsNumber(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		for _, command := range []uint32{wire.BindReceiver, wire.BindTransmitter, wire.BindTransceiver} {
			esme := r.dial()
			bind := wire.Bind(command, 0xFFFFFFFF, "acme", "secret", "VMA")
			bind = append(bind, 0x14, 0x01, 0, 1, 0xAA, 0xFE) // a TLV and junk
			bind[3] = byte(len(bind))
			esme.send(bind)
			got := r.accept().want(command)
			if want := renumbered(bind, 1); !bytes.Equal(got, want) {
				t.Errorf("got  %x\nwant %x", got, want)
			}
			_ = esme.Close()
		}
	})
}

func TestTheBindRespIsRelayedWhateverItsShape(t *testing.T) {
	long := append(bytes.Repeat([]byte("x"), 300), 0)
	for _, c := range []struct {
		name string
		resp wire.Frame
	}{
		{"16 octets", wire.New(wire.BindTransceiver|wire.Response, 0, 0, nil)},
		{"17 octets", wire.New(wire.BindTransceiver|wire.Response, 0, 0, []byte{0})},
		{"a TLV", wire.New(wire.BindTransceiver|wire.Response, 0, 0, []byte("smsc\x00\x02\x10\x00\x01\x34"))},
		{"a long system_id", wire.New(wire.BindTransceiver|wire.Response, 0, 0, long)},
		{"an error without body", wire.New(wire.BindTransceiver|wire.Response, wire.BindFailed, 0, nil)},
		{"an error with body", wire.New(wire.BindTransceiver|wire.Response, wire.AlreadyBound, 0, []byte("smsc\x00"))},
		{"a vendor error", wire.New(wire.BindTransceiver|wire.Response, 0x450, 0, []byte{0, 1, 2})},
		{"generic_nack", wire.New(wire.GenericNack, wire.InvCmdID, 0, nil)},
		{"of another command", wire.New(wire.BindReceiver|wire.Response, 0, 0, []byte{0})},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(r *rig) {
				esme := r.dial()
				esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""))
				smsc := r.accept()
				smsc.send(renumbered(c.resp, smsc.next().Sequence()))
				if got, want := esme.next(), renumbered(c.resp, 9); !bytes.Equal(got, want) {
					t.Fatalf("got  %x\nwant %x", got, want)
				}
				if c.resp.Status() != 0 || c.resp.Command() == wire.GenericNack {
					if esme.wantEnd() {
						t.Error("the ESME was reset")
					}
				} else {
					esme.send(submitFrame(10, "bound"))
					smsc.want(wire.SubmitSM)
				}
			})
		})
	}
}

func TestBeforeTheBindOnlyEnquireLinkIsAnsweredWell(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme := r.dial()
		esme.send(wire.New(wire.EnquireLink, 0, 3, nil))
		if got := esme.want(wire.EnquireLink | wire.Response); got.Sequence() != 3 {
			t.Errorf("got number %d, want 3", got.Sequence())
		}
		for _, c := range []struct{ command, answer uint32 }{
			{wire.SubmitSM, wire.SubmitSM | wire.Response}, {wire.Unbind, wire.Unbind | wire.Response}, {0x7777, wire.GenericNack},
		} {
			esme.send(wire.New(c.command, 0, 0xFFFFFFFF, []byte{1, 2}))
			got := esme.want(c.answer)
			if got.Status() != wire.InvBindState || got.Sequence() != 0xFFFFFFFF {
				t.Errorf("command %#x got %x, want ESME_RINVBNDSTS", c.command, got)
			}
		}
		esme.send(wire.New(wire.DeliverSM|wire.Response, 0, 1, nil)) // answers nothing: no answer
		esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""))
		r.accept().want(wire.BindTransceiver)
		esme.send(wire.New(wire.EnquireLink, 0, 11, nil))
		esme.want(wire.EnquireLink | wire.Response)
	})
}

func TestWhatComesBehindABindWaitsForItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		status uint32
	}{{"accepted", 0}, {"refused", 0x0E}} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(r *rig) {
				esme := r.dial()
				esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""), submitFrame(10, "early"))
				smsc := r.accept()
				bind := smsc.want(wire.BindTransceiver)
				esme.wantNothing(time.Second)
				smsc.send(wire.New(wire.BindTransceiver|wire.Response, c.status, bind.Sequence(), []byte("SMSC\x00")))
				if c.status == 0 {
					esme.want(wire.BindTransceiver | wire.Response)
					smsc.want(wire.SubmitSM)
					return
				}
				if got := esme.want(wire.SubmitSM | wire.Response); got.Status() != wire.InvBindState || got.Sequence() != 10 {
					t.Errorf("a submission behind a refused bind got %x, want ESME_RINVBNDSTS", got)
				}
			})
		})
	}
}

func TestAConnectionThatDoesNotBindIsClosedAfterBindTimeout(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, start := r.dial(), time.Now()
		esme.send(wire.Frame{0, 0, 0}) // not even a length
		esme.wantEnd()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("closed after %v, want 5s", took)
		}
		// enquire_link does not buy time.
		esme, start = r.dial(), time.Now()
		for range 9 {
			time.Sleep(500 * time.Millisecond)
			esme.send(wire.New(wire.EnquireLink, 0, 3, nil))
			esme.want(wire.EnquireLink | wire.Response)
		}
		esme.wantEnd()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("closed after %v, want 5s", took)
		}
		synctest.Wait()
		if got := r.value("smpponce_binds_total", "result", "timeout"); got != 2 {
			t.Errorf("%v counted, want 2", got)
		}
	})
}

func TestBeforeTheBindAFrameMayHaveOneKiBOnly(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme := r.dial()
		esme.send(wire.New(wire.SubmitSM, 0, 5, make([]byte, 1008))) // 1024 in all
		if got := esme.want(wire.SubmitSM | wire.Response); got.Status() != wire.InvBindState {
			t.Errorf("got %x, want ESME_RINVBNDSTS", got)
		}
		esme.send(wire.New(wire.BindTransceiver, 0, 6, make([]byte, 1009)))
		if got := esme.want(wire.GenericNack); got.Status() != wire.InvCmdLen || got.Sequence() != 6 {
			t.Errorf("got %x, want ESME_RINVCMDLEN for number 6", got)
		}
		if esme.wantEnd() {
			t.Error("the ESME was reset")
		}
	})
}

func TestAnotherProtocolIsRefusedWithoutReadingOn(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme := r.dial()
		esme.send(wire.Frame("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		esme.want(wire.GenericNack)
		esme.wantEnd()
	})
}

func TestWithoutUpstreamABindGetsSystemError(t *testing.T) {
	inBubble(t, func(o *Options) { o.Upstream = []string{"nowhere:1", "nowhere:2"} }, func(r *rig) {
		esme := r.dial()
		esme.send(wire.Bind(wire.BindTransmitter, 9, "acme", "secret", ""))
		got := esme.want(wire.BindTransmitter | wire.Response)
		if got.Status() != wire.SystemError || got.Sequence() != 9 {
			t.Errorf("got %x, want ESME_RSYSERR for number 9", got)
		}
		if esme.wantEnd() {
			t.Error("the ESME was reset")
		}
		_ = esme.Close()
		synctest.Wait()
		if got := r.value("smpponce_binds_total", "result", "unreachable"); got != 1 {
			t.Errorf("%v counted, want 1", got)
		}
	})
}

func TestUpstreamAddressesAreTriedInOrderWithinOneTimeout(t *testing.T) {
	var tried []string
	inBubble(t, func(o *Options) {
		dial := o.Dial
		o.Upstream = []string{"silent:1", "refusing:1", "smsc:2775"}
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			tried = append(tried, address)
			if address == "silent:1" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return dial(ctx, network, address)
		}
	}, func(r *rig) {
		start := time.Now()
		r.bound()
		if took := time.Since(start); took >= 5*time.Second {
			t.Errorf("bound after %v, want less than dial_timeout", took)
		}
		if got := strings.Join(tried, " "); got != "silent:1 refusing:1 smsc:2775" {
			t.Errorf("tried %s", got)
		}
	})
}

func TestAnSMSCThatDoesNotAnswerTheBindIsGivenUpAfterResponseTimeout(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme, start := r.dial(), time.Now()
		esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""))
		smsc := r.accept()
		smsc.want(wire.BindTransceiver)
		esme.wantEnd()
		if took := time.Since(start); took != time.Minute {
			t.Errorf("closed after %v, want response_timeout", took)
		}
		_ = esme.Close()
		smsc.wantEnd()
	})
}

func TestAnESMEThatLeavesBeforeTheBindRespTakesItsSMSCLegAlong(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme := r.dial()
		esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""))
		smsc := r.accept()
		smsc.want(wire.BindTransceiver)
		_ = esme.Close()
		smsc.wantEnd()
		_ = smsc.Close()
		time.Sleep(lingerTime)
		synctest.Wait()
		if got := r.value("smpponce_binds_total", "result", "abandoned"); got != 1 {
			t.Errorf("%v counted, want 1", got)
		}
		if told := r.ledger.told; len(told) != 0 {
			t.Errorf("the ledger was told %v, want nothing", told)
		}
	})
}

// slowOpening is a ledger during whose OpenSession something happens.
type slowOpening struct {
	*fakeLedger
	meanwhile func()
}

func (l *slowOpening) OpenSession(account string, canSubmit bool) ledger.SessionID {
	l.meanwhile()
	return l.fakeLedger.OpenSession(account, canSubmit)
}

func TestAnESMEThatLeavesWhileTheLedgerLearnsOfItIsClosedThereToo(t *testing.T) {
	inBubble(t, nil, func(r *rig) {
		esme := r.dial()
		r.proxy.o.Ledger = &slowOpening{r.ledger, func() {
			_ = esme.Close()
			time.Sleep(time.Millisecond) // all others go on
		}}
		esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""))
		smsc := r.accept()
		smsc.send(wire.New(wire.BindTransceiver|wire.Response, 0, smsc.next().Sequence(), nil))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if ends, legs := len(r.ledger.ends), r.ledger.legEnds; ends != 1 || legs != 1 {
			t.Errorf("the ledger was told of %d sessions' and %d legs' ends, want 1 of each", ends, legs)
		}
	})
}

func TestTheProxyHeaderIsBelievedFromConfiguredNetworksOnly(t *testing.T) {
	inBubble(t, func(o *Options) {
		o.ProxyProtocolFrom = []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}
	}, func(r *rig) {
		for _, version := range []byte{1, 2} {
			esme := r.dialFrom("10.9.0.1:4000")
			h := proxyproto.HeaderProxyFromAddrs(version,
				&net.TCPAddr{IP: net.IPv4(192, 0, 2, version), Port: 1}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 9), Port: 2775})
			if _, err := h.WriteTo(esme); err != nil {
				t.Fatal(err)
			}
			esme.send(wire.Bind(wire.BindTransceiver, 9, "acme", "secret", ""))
			smsc := r.accept()
			smsc.send(wire.New(wire.BindTransceiver|wire.Response, 0, smsc.next().Sequence(), nil))
			esme.want(wire.BindTransceiver | wire.Response)
			synctest.Wait()
			opened := r.logs.FilterMessage("session opened").All()
			opened = opened[len(opened)-1:]
			if opened[0].ContextMap()["peer"] != "192.0.2."+string('0'+version)+":1" {
				t.Errorf("version %d: the log of the session is %v, want the header's address", version, opened)
			}
		}
		// A header is optional, for probes.
		esme := r.dialFrom("10.9.0.1:4000")
		esme.send(wire.New(wire.EnquireLink, 0, 1, nil))
		esme.want(wire.EnquireLink | wire.Response)
		// From elsewhere it is no PDU.
		esme = r.dialFrom("10.8.0.1:4000")
		esme.send(wire.Frame("PROXY TCP4 192.0.2.1 192.0.2.9 1 2775\r\n"))
		esme.want(wire.GenericNack)
		esme.wantEnd()
	})
}
