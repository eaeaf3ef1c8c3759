package everycut

import (
	"fmt"
	"sync"
	"time"

	"smpponce/test/cases/stage"
	"smpponce/test/memnet"
	"smpponce/test/wire"
)

// center is an SMSC that accepts every message and answers it after a while.
type center struct {
	s     *stage.Stage
	delay time.Duration

	mu    sync.Mutex
	cut   *cut // for the next connection
	taken []taken
}

// taken is a message that the center has read to its last octet.
type taken struct {
	account, text, id string
	at                time.Time
	conn              *memnet.Conn
	end               uint64 // where its answer ends, in octets sent on conn; 0: it was not written
}

// doubtful says whether the answer never reached the proxy's host in whole.
func (m taken) doubtful() bool {
	arrived, _, _ := m.conn.Acknowledged()
	return m.end == 0 || arrived < m.end
}

// of gives what was taken of an account, in order.
func (c *center) of(account string) (all []taken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.taken {
		if m.account == account {
			all = append(all, m)
		}
	}
	return all
}

// next sets the cut of the next connection.
func (c *center) next(x *cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = x
}

// serve accepts connections; it ends with the stage.
func (c *center) serve() {
	for {
		p, err := c.s.TryAccept()
		if err != nil {
			return
		}
		c.mu.Lock()
		x := c.cut
		c.cut = nil
		c.mu.Unlock()
		t := &talk{center: c, peer: p, cut: x, owed: make(chan owed, 100)}
		go t.run()
		go t.answer()
	}
}

// talk is one connection's life.
type talk struct {
	*center
	peer    *stage.Peer
	cut     *cut
	account string
	owed    chan owed

	writing sync.Mutex
	sent    uint64
}

// owed is an answer at its time.
type owed struct {
	submit wire.Frame
	n      int
	id     string
	at     time.Time
}

func (t *talk) run() {
	defer func() { _ = t.peer.Close() }()
	defer close(t.owed)
	for {
		f, err := t.peer.Within(24 * time.Hour)
		if err != nil {
			return
		}
		switch f.Command() {
		case wire.BindTransceiver:
			t.account = f.ID()
			t.write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), []byte(stage.BindResp)))
			t.cut.bound(t.peer.Mem())
		case wire.SubmitSM:
			n, id := t.take(f)
			t.cut.taken(t.peer.Mem())
			t.owed <- owed{f, n, id, time.Now().Add(t.delay)}
		default:
			t.write(wire.New(f.Command()|wire.Response, 0, f.Sequence(), nil))
			if f.Command() == wire.Unbind {
				return
			}
		}
	}
}

// take enters a message and gives its place and id.
func (t *talk) take(f wire.Frame) (n int, id string) {
	m, _ := wire.ParseMessage(f.Body())
	c := t.center
	c.mu.Lock()
	defer c.mu.Unlock()
	n, id = len(c.taken), fmt.Sprintf("%06d", len(c.taken)+1)
	c.taken = append(c.taken, taken{account: t.account, text: string(m.Text), id: id, at: time.Now(), conn: t.peer.Mem()})
	return n, id
}

// answer gives the answers in the order of their submissions.
func (t *talk) answer() {
	for o := range t.owed {
		time.Sleep(time.Until(o.at))
		end := t.write(stage.Answer(o.submit, o.id))
		t.mu.Lock()
		t.center.taken[o.n].end = end
		t.mu.Unlock()
	}
}

// write sends a frame, and tells where it ends among all that was. What does not arrive is seen at the other end.
func (t *talk) write(f wire.Frame) (end uint64) {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, _ = t.peer.Write(f)
	t.sent += uint64(len(f))
	return t.sent
}
