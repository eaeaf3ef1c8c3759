package ledger

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A chaos is a random run in which commits fail and hang, the process is killed and paused, and the power goes. It predicts no
// verdict; it keeps a few promises that must hold whatever happens.
type chaos struct {
	*rapid.T
	r         *rig
	all       string // forwards all, in this way
	bindings  []*binding
	ended     map[*binding]bool
	told      map[string]Time   // request ids whose acceptance was told and written down, since when
	forgotten int               // what the messages before this one were told may not be on the disk
	lost      map[*message]bool // submissions that the client may have given up
	fate      map[Number]bool   // attempts that the SMSC has accepted, or not
	asked     int               // look-ups that were not answered
	blurred   bool              // attempts may be forgotten, so that receipts may be taken for others'
}

// TestPromisesAreKeptWhateverFails: nobody is answered twice (the message itself sees to that); who was told an acceptance under a
// request id is never forwarded again within the window; no more submissions are absorbed than were abandoned; no receipt is taken for
// that of another attempt; and in the end everyone is answered whose session and leg live.
func TestPromisesAreKeptWhateverFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doubt := rapid.SampledFrom([]DoubtPolicy{Hold, ForwardInDoubt, RefuseInDoubt}).Draw(t, "on_in_doubt")
		mode := rapid.SampledFrom([]SyncMode{SyncIntents, SyncAll, SyncNone}).Draw(t, "sync")
		c := &chaos{T: t, ended: map[*binding]bool{}, told: map[string]Time{}, lost: map[*message]bool{}, fate: map[Number]bool{}}
		// With bypass and in observe mode all is forwarded: there the promises are that nobody is answered twice and nothing is left over.
		c.all = rapid.SampledFrom([]string{"", "", "bypass", "observe"}).Draw(t, "forward all")
		c.r = newRig(t, func(o *Options, p *Policy) {
			o.Bypass = c.all == "bypass"
			if c.all == "observe" {
				p.Mode = Observe
			}
			o.Sync, o.Retention, p.OnInDoubt, p.Window = mode, 5*time.Hour, doubt, 3*time.Hour
		})
		c.bind()
		for range rapid.IntRange(5, 80).Draw(t, "steps") {
			c.step()
			c.check()
		}
		c.finish()
	})
}

func (c *chaos) step() {
	r := c.r
	switch n := rapid.IntRange(0, 33).Draw(c.T, "step"); {
	case n < 8:
		c.submit()
	case n < 13:
		c.settle()
	case n < 16:
		c.wait(rapid.SampledFrom([]time.Duration{time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 6 * time.Second, time.Minute, 10 * time.Minute}).Draw(c.T, "wait"))
	case n < 18:
		c.bind()
	case n == 18:
		c.end(true)
	case n == 19:
		c.end(false)
	case n == 20:
		r.hang = true
	case n == 21:
		r.slow = true
	case n == 22:
		r.broken = errDisk
	case n < 25:
		r.broken = nil
		r.release(nil)
	case n == 25:
		if r.job != nil && !r.wrote {
			r.hang = false
			r.finish(errDisk)
			r.run()
		}
	case n == 26:
		c.kill(false)
	case n == 27:
		c.kill(true)
	case n == 28:
		r.checkpoint()
	case n < 33:
		c.receipt()
	default:
		c.operator()
	}
}

func (c *chaos) bind() {
	b := c.r.bind("acme")
	c.bindings = append(c.bindings, b)
}

// bound draws a session that is bound.
func (c *chaos) bound() *binding {
	var list []*binding
	for _, b := range c.bindings {
		if !c.ended[b] {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(c.T, "session")]
}

func (c *chaos) submit() {
	b := c.bound()
	if b == nil {
		return
	}
	n := rapid.IntRange(0, 5).Draw(c.T, "text")
	text := fmt.Sprint("text ", n)
	options := []option{to(fmt.Sprint("number ", n/2)), referring(uint16(rapid.IntRange(0, 2).Draw(c.T, "reference")))}
	if n < 3 {
		options = append(options, withID(text))
	}
	if n == 5 {
		number := byte(rapid.IntRange(1, 2).Draw(c.T, "part"))
		options = append(options, asPart(uint16(rapid.IntRange(1, 3).Draw(c.T, "concatenation")), number, 2))
		text = fmt.Sprint("part ", number)
	}
	b.submit(text, options...)
}

func (c *chaos) settle() {
	var list []*message
	for _, m := range c.r.messages {
		if len(m.forwards) > 0 && !m.b.noLeg {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return
	}
	m := list[rapid.IntRange(0, len(list)-1).Draw(c.T, "settled")]
	i := rapid.IntRange(0, len(m.forwards)-1).Draw(c.T, "attempt")
	if c.accepts(m.forwards[i]) {
		m.settleAttempt(i, accepted(fmt.Sprint("id", m.forwards[i])))
	} else {
		m.settleAttempt(i, Response{Status: 0x58})
	}
}

// accepts draws once whether the SMSC has accepted an attempt.
func (c *chaos) accepts(n Number) bool {
	if _, ok := c.fate[n]; !ok {
		c.fate[n] = rapid.IntRange(0, 4).Draw(c.T, "accepted") > 0
	}
	return c.fate[n]
}

// receipt is one of an attempt that the SMSC has accepted, whoever knows that.
func (c *chaos) receipt() {
	type sent struct {
		*message
		n Number
	}
	var list []sent
	for _, m := range c.r.messages {
		for _, n := range m.forwards {
			list = append(list, sent{m, n})
		}
	}
	if len(list) == 0 {
		return
	}
	s := list[rapid.IntRange(0, len(list)-1).Draw(c.T, "receipt")]
	if !c.accepts(s.n) {
		return
	}
	r := s.receipt(fmt.Sprint("id", s.n))
	if rapid.Bool().Draw(c.T, "echoes nothing") {
		r.Reference = 0
	}
	wait := rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(c.T, "race_wait")
	c.r.l.Lookup("acme", r, wait, func(Found) { c.asked-- })
	c.asked++
	c.r.run()
}

// operator tells the truth about something in doubt.
func (c *chaos) operator() {
	list := c.r.l.book.doubts()
	if len(list) == 0 {
		return
	}
	s := list[rapid.IntRange(0, len(list)-1).Draw(c.T, "doubt")]
	as, id := ResolveReleased, ""
	if last := s.lastInDoubt().Number; s.Record.nameless() == 1 {
		if as = ResolveRejected; c.accepts(last) {
			as, id = ResolveAccepted, fmt.Sprint("id", last)
		}
	}
	if as == ResolveAccepted && rapid.Bool().Draw(c.T, "without id") {
		id = ""
	}
	c.r.resolve(s.Number, as, id)
}

func (c *chaos) wait(d time.Duration) { c.r.wait(d) }

func (c *chaos) end(leg bool) {
	b := c.bound()
	if b == nil {
		return
	}
	c.ended[b] = true
	var answers []Answered
	for _, m := range c.r.messages {
		if m.b != b {
			continue
		}
		if len(m.answers) == 0 {
			c.lost[m] = true
		} else if m.answers[0].Ticket != nil && rapid.Bool().Draw(c.T, "unacked") {
			c.lost[m] = true
			answers = append(answers, m.unacked())
		}
	}
	if leg {
		b.endLeg()
	}
	b.end(ByProxy, answers...)
}

func (c *chaos) kill(power bool) {
	r := c.r
	c.blurred = c.blurred || r.l.failed && c.all != "" || power && r.o.Sync == SyncNone
	if power || r.l.failed { // what was told may not be on the disk
		clear(c.told)
		c.forgotten = len(r.messages)
	}
	if power {
		r.disk.cutPower()
	}
	known, err := r.disk.rebuild()
	if err != nil {
		c.Fatal(err)
	}
	for _, m := range r.messages {
		if len(m.answers) == 0 || m.answers[0].Ticket == nil || m.answers[0].Ticket.answered > known.Heard {
			c.lost[m] = true
		}
	}
	for _, b := range c.bindings {
		c.ended[b], b.noLeg = true, true
	}
	c.asked = 0
	r.kill(time.Second)
}

// check looks at all promises but the last.
func (c *chaos) check() {
	c.r.l.book.each(func(e *entry) {
		for _, a := range e.Attempts {
			// Which of its attempts in doubt a record has an id from, nobody can tell, and need not.
			if n := new(Number); len(a.ID) > 0 && !c.blurred {
				if fmt.Sscanf(string(a.ID), "id%d", n); e.attempt(*n) == nil {
					c.Fatalf("attempt %d got the id %s, by %s", a.Number, a.ID, a.Evidence)
				}
			}
		}
	})
	if c.all != "" {
		return
	}
	p := c.r.o.PolicyOf("")
	absorbed, abandoned := map[string]int{}, map[string]int{}
	for i, m := range c.r.messages {
		if !c.lost[m] {
			late := len(m.answers) == 0 || m.answers[0].Ticket != nil && m.answers[0].Ticket.answered >= m.At.Add(p.ClientTimeout) ||
				m.answers[0].Status != 0
			if late && c.r.now >= m.At.Add(p.ClientTimeout) {
				c.lost[m] = true
			}
		}
		if m.Part.long() {
			continue // who lost one part sends all again
		}
		if !m.Key.Explicit {
			if c.lost[m] {
				abandoned[m.text]++
			}
			if len(m.answers) == 1 && len(m.forwards) == 0 && m.answers[0].Status == 0 {
				absorbed[m.text]++
			}
			continue
		}
		since, known := c.told[m.text]
		if known && m.At > since && len(m.forwards) > 0 && c.r.now < since.Add(p.Window/2) {
			c.Fatalf("%q was forwarded though an acceptance had been told before", m.text)
		}
		if !known && i >= c.forgotten && len(m.answers) == 1 && m.answers[0].Status == 0 && !c.r.l.failed {
			c.told[m.text] = c.r.now
		}
	}
	for text, n := range absorbed {
		if n > abandoned[text] {
			c.Fatalf("%d submissions of %q were absorbed, and only %d abandoned", n, text, abandoned[text])
		}
	}
	if j := c.r.job; j == nil && len(c.r.l.book.batch.effects) > 0 {
		c.Fatalf("%d effects are left unsaid", len(c.r.l.book.batch.effects))
	}
}

// finish lets the disk work and time pass: nobody waits for ever, and nothing is left over.
func (c *chaos) finish() {
	r := c.r
	r.broken = nil
	r.release(nil)
	c.wait(2 * time.Hour)
	if err := r.l.Writable(); err != nil {
		c.Fatalf("not writable: %v", err)
	}
	if c.asked != 0 {
		c.Fatalf("%d receipts wait for ever", c.asked)
	}
	for i, m := range r.messages {
		if c.all != "observe" && !c.ended[m.b] && len(m.answers) != 1 {
			c.Fatalf("submission %d, %q, has %d answers", i, m.text, len(m.answers))
		}
	}
	for _, b := range c.bindings {
		b.endLeg()
		if !c.ended[b] {
			b.end(ByProxy)
		}
	}
	c.wait(4 * time.Hour)
	k := r.l.book
	if got := r.metric("smpponce_in_doubt"); int(got) > len(k.spent) || len(k.index) != 0 {
		c.Fatalf("%v in doubt, %d kept for receipts, %d kept for repeats", got, len(k.spent), len(k.index))
	}
	c.wait(r.o.Retention)
	if len(k.sessions)+len(k.flights)+len(k.legs)+len(k.holds)+len(k.outstanding)+len(k.overdue)+len(k.index)+len(k.ids)+len(k.spent)+len(k.groups)+len(k.nameless)+len(k.lookups)+k.parked+k.live != 0 {
		c.Fatalf("left over: %d sessions, %d flights, %d legs, %d holds, %d outstanding, %d overdue, %d keys, %d ids, %d spent, %d groups, %d destinations in doubt, %d look-ups, %d parked, %d live",
			len(k.sessions), len(k.flights), len(k.legs), len(k.holds), len(k.outstanding), len(k.overdue), len(k.index), len(k.ids), len(k.spent), len(k.groups), len(k.nameless), len(k.lookups),
			k.parked, k.live)
	}
	if n := len(r.l.image.Live); n != 0 {
		c.Fatalf("%d live records in the image: %v", n, r.l.image.Live)
	}
	if got := r.metric("smpponce_in_doubt"); got != 0 {
		c.Fatalf("in doubt %v", got)
	}
}
