// Package fidelity sends every frame of the corpus through the whole proxy, both ways, in every mode, in clear and
// under TLS: what comes out is what went in, but for the sequence_number of a request; a response bears its request's
// own. Nothing is lost, and the connection stays up.
package fidelity

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"smpponce/ledger"
	"smpponce/proxy"
	"smpponce/test/cases/stage"
	"smpponce/test/corpus"
	"smpponce/test/wire"
)

// The frames of the corpus are told apart by their bytes; nothing here may take time for a reason to treat one
// otherwise.
func settings(mode proxy.Mode, change func(*stage.Settings)) func(*stage.Settings) {
	return func(set *stage.Settings) {
		set.Account.Mode = mode
		if mode == proxy.Observe {
			set.Policy.Mode = ledger.Observe
		}
		set.Account.RaceWait = time.Millisecond // receipts here have overtaken nothing
		set.Policy.ClientTimeout = time.Hour
		if change != nil {
			change(set)
		}
	}
}

// everywhere runs a test in every mode, in memory, on sockets and under TLS.
func everywhere(t *testing.T, test func(*testing.T, *stage.Stage)) {
	for name, mode := range map[string]proxy.Mode{"enforce": proxy.Enforce, "observe": proxy.Observe, "off": proxy.Off} {
		t.Run(name, func(t *testing.T) {
			t.Run("in memory", func(t *testing.T) {
				stage.InBubble(t, settings(mode, nil), func(s *stage.Stage) { test(t, s) })
			})
			t.Run("sockets", func(t *testing.T) {
				s := stage.Open(t, settings(mode, func(set *stage.Settings) { set.Loopback = true }))
				defer s.Close()
				test(t, s)
			})
			t.Run("TLS", func(t *testing.T) {
				s := stage.Open(t, settings(mode, secured(t)))
				defer s.Close()
				test(t, s)
			})
		})
	}
}

// pair is a session's two peers, each the other's far end.
type pair struct{ esme, smsc *stage.Peer }

func bound(s *stage.Stage) pair {
	s.T.Helper()
	esme, smsc := s.Bound("acme")
	return pair{esme, smsc}
}

// ends gives who sends a frame of that direction, and who receives it.
func (p pair) ends(d corpus.Direction) (from, to *stage.Peer) {
	if d == corpus.ToSMSC {
		return p.esme, p.smsc
	}
	return p.smsc, p.esme
}

// alive says that both legs still carry PDUs, and that no PDU came that was not looked for.
func (p pair) alive(t *testing.T) {
	t.Helper()
	for _, peer := range []*stage.Peer{p.esme, p.smsc} {
		peer.Send(wire.New(wire.EnquireLink, 0, 77, nil))
		if f := peer.Want(wire.EnquireLink | wire.Response); f.Sequence() != 77 {
			t.Errorf("enquire_link_resp %d, want 77", f.Sequence())
		}
	}
}

// same tells that got is want under another sequence_number.
func same(got, want []byte) bool {
	return len(got) == len(want) && bytes.Equal(got[:12], want[:12]) && bytes.Equal(got[16:], want[16:])
}

func numbered(f []byte, sequence uint32) []byte {
	g := bytes.Clone(f)
	binary.BigEndian.PutUint32(g[12:], sequence)
	return g
}

// mismatch tells in short how two frames differ.
func mismatch(t *testing.T, name string, got, want []byte) {
	t.Helper()
	t.Errorf("%s: got %d octets %.60x, want %d octets %.60x", name, len(got), got, len(want), want)
}

// writing sends octets in some way, in a goroutine of its own: a frame may be longer than what the way to its receiver
// holds.
type writing func(p *stage.Peer, octets []byte)

func atOnce(p *stage.Peer, octets []byte) { _, _ = p.Write(octets) } // what fails is missed at the other end

func byteByByte(p *stage.Peer, octets []byte) {
	for i := range octets {
		if _, err := p.Write(octets[i : i+1]); err != nil {
			return
		}
	}
}

// exchange sends one entry, with the request that it answers before it, and checks what arrives.
func (p pair) exchange(t *testing.T, e corpus.Entry, write writing) {
	t.Helper()
	from, to := p.ends(e.Direction)
	if e.Request == nil {
		go write(from, e.Frame)
		if got := to.Next(); !same(got, e.Frame) {
			mismatch(t, e.Name, got, e.Frame)
		}
		return
	}
	go write(to, e.Request)
	request := from.Next()
	if !same(request, e.Request) {
		mismatch(t, e.Name+", its request", request, e.Request)
	}
	go write(from, numbered(e.Frame, request.Sequence()))
	want := numbered(e.Frame, binary.BigEndian.Uint32(e.Request[12:]))
	if got := to.Next(); !bytes.Equal(got, want) {
		mismatch(t, e.Name, got, want)
	}
}

func TestEveryFrameComesOutAsItWentIn(t *testing.T) {
	everywhere(t, func(t *testing.T, s *stage.Stage) {
		p := bound(s)
		for _, e := range corpus.All() {
			p.exchange(t, e, atOnce)
		}
		p.alive(t)
		s.WantValue(0, "smpponce_unmatched_responses_total")
	})
}

func TestFramesThatComeByteByByteComeOutAsTheyWentIn(t *testing.T) {
	const longest = 2000 // a longer one only takes longer
	everywhere(t, func(t *testing.T, s *stage.Stage) {
		p := bound(s)
		for _, e := range corpus.All() {
			if len(e.Frame) <= longest {
				p.exchange(t, e, byteByByte)
			}
		}
		p.alive(t)
	})
}

// The ledger is asked about a submission and about a receipt, and what comes behind need not wait for it; a receipt may
// wait for its answer. All else keeps its order, submissions among themselves too, and in mode off everything does.
func TestFiftyFramesInOneWriteComeOutInTheirOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, s *stage.Stage) {
		kind := func(e corpus.Entry) string {
			switch command := wire.Frame(e.Frame).Command(); {
			case s.Ledger == nil:
				return "all"
			case strings.HasPrefix(e.Name, "receipt: "):
				return e.Name
			case e.Direction == corpus.ToSMSC && (command == wire.SubmitSM || command == wire.SubmitMulti || command == wire.DataSM):
				return "submission"
			}
			return "other"
		}
		p := bound(s)
		for _, d := range []corpus.Direction{corpus.ToSMSC, corpus.ToESME} {
			var requests []corpus.Entry
			for _, e := range corpus.All() {
				if e.Direction == d && e.Request == nil {
					requests = append(requests, e)
				}
			}
			from, to := p.ends(d)
			for some := range slices.Chunk(requests, 50) {
				var octets []byte
				for _, e := range some {
					octets = append(octets, e.Frame...)
				}
				go atOnce(from, octets)
				arrive(t, to, some, kind)
			}
		}
		p.alive(t)
	})
}

// arrive checks that exactly these frames come, those of one kind in their order.
func arrive(t *testing.T, to *stage.Peer, want []corpus.Entry, kind func(corpus.Entry) string) {
	t.Helper()
	waiting := map[string][]corpus.Entry{} // by kind
	for _, e := range want {
		waiting[kind(e)] = append(waiting[kind(e)], e)
	}
	for range want {
		got := to.Next()
		found := false
		for k, list := range waiting {
			if same(got, list[0].Frame) {
				found = true
				if waiting[k] = list[1:]; len(list) == 1 {
					delete(waiting, k)
				}
				break
			}
		}
		if !found {
			t.Fatalf("%d octets %.60x came out of order, or changed", len(got), got)
		}
	}
}
