package smsc

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"smpponce/test/wire"
)

// maxWaiting is how many octets may wait for a peer that does not read, before the server stops
// reading from it.
const maxWaiting = 4 << 20

// outbox is what waits to be written to one connection. One write takes all of it.
type outbox struct {
	mu      sync.Mutex
	room    sync.Cond // waiting shrank, or the outbox closed
	waiting []byte
	drop    Drop // how to end the connection once waiting is empty
	closed  bool
	watch   func(wire.Frame) // of each frame that will be written; may be nil

	wake chan struct{} // one token: there is something to do
}

func newOutbox(watch func(wire.Frame)) *outbox {
	o := &outbox{watch: watch, wake: make(chan struct{}, 1)}
	o.room.L = &o.mu
	return o
}

// put adds whole frames, without waking the writer. False where the connection is ending.
func (o *outbox) put(frames []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.drop != NoDrop {
		return false
	}
	if o.watch != nil {
		for rest := frames; len(rest) >= wire.HeaderLen; {
			n := binary.BigEndian.Uint32(rest)
			o.watch(rest[:n])
			rest = rest[n:]
		}
	}
	o.waiting = append(o.waiting, frames...)
	return true
}

func (o *outbox) flush() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// await blocks while too much waits. For the reader only.
func (o *outbox) await() {
	o.mu.Lock()
	for len(o.waiting) > maxWaiting && !o.closed {
		o.room.Wait()
	}
	o.mu.Unlock()
}

// finish lets the writer end the connection once it has written what waits.
func (o *outbox) finish(d Drop) {
	o.mu.Lock()
	if o.drop == NoDrop {
		o.drop = d
	}
	o.mu.Unlock()
	o.flush()
}

func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.room.Broadcast()
	o.mu.Unlock()
	o.flush()
}

// lingering is how long a connection that was finished may still be read.
const lingering = 2 * time.Second

// write is the connection's writer; it ends with the connection.
func (o *outbox) write(c *net.TCPConn) {
	var spare []byte
	for range o.wake {
		for {
			o.mu.Lock()
			batch, drop, closed := o.waiting, o.drop, o.closed
			o.waiting = spare[:0]
			o.room.Broadcast()
			o.mu.Unlock()
			if closed {
				return
			}
			if len(batch) == 0 {
				if drop != NoDrop {
					end(c, drop)
					return
				}
				spare = batch
				break
			}
			if _, err := c.Write(batch); err != nil {
				_ = c.Close() // the reader finds out
				return
			}
			spare = batch
		}
	}
}

// end ends a connection. After a FIN the reader goes on until the peer's, for closing with unread
// input would turn it into a reset and destroy answers that are still on their way.
func end(c *net.TCPConn, d Drop) {
	if d == Reset {
		_ = c.SetLinger(0)
		_ = c.Close()
		return
	}
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(lingering))
}
