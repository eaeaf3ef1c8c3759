package ledger

// A batch is what one transaction commits, and what is told to the proxy once it has.
type batch struct {
	journal
	serial  uint64                // tells batches apart; from 1
	live    map[Number]liveRecord // journal.Live, until it is sealed
	puts    []put
	size    int // bytes in puts
	effects []effect
	touched []*entry // whose records are in puts
	intents bool     // holds something that must reach the disk before its effects
}

// A put sets key to the encoded record; ttl in seconds.
type put struct {
	key   []byte
	value []byte
	ttl   int64
}

// An effect is something said to the proxy after the commit. Exactly one of forward, answer, lookup, over and resolved is set.
type effect struct {
	claim   *Claim
	forward Number  // hand the attempt over
	answer  *Answer // give the answer
	lookup  *lookup // tell what was found
	found   Found
	over    func() // tell that a closed session's last submission has been handed over
	// resolved tells an operator whether the disk holds the word.
	resolved func(error)
}

// empty: nothing to write. idle: nothing to say either.
func (b *batch) idle() bool  { return b.empty() && len(b.effects) == 0 }
func (b *batch) empty() bool { return len(b.puts) == 0 && len(b.live) == 0 && b.journal.empty() }

// Bounds of one transaction, far below Badger's own (15 % of the memtable).
const (
	maxBatchPuts  = 4096
	maxBatchBytes = 1 << 20
)

func (b *batch) full() bool { return len(b.puts) >= maxBatchPuts || b.size >= maxBatchBytes }

// speak takes what is to be told out of the batch.
func (b *batch) speak() []effect {
	effects := b.effects
	b.effects = nil
	return effects
}

// seal completes the journal. told is when the batch before was done.
func (b *batch) seal(seq uint64, at, told Time) {
	b.Seq, b.At, b.Told, b.Live = seq, at, told, make([]liveRecord, 0, len(b.live))
	for _, l := range b.live {
		b.Live = append(b.Live, l)
	}
}
