package ledger

import "time"

// Time is a moment on the ledger's own clock, in nanoseconds since the Unix epoch; 0 is "never". The clock starts
// at the later of the ledger's last time mark and the wall clock, and from there counts elapsed time only: a step of
// the wall clock changes nothing, and no time in the ledger ever lies ahead of it.
type Time int64

// Add returns t+d. Sub returns t-u.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Std gives t as a wall-clock time, for logs.
func (t Time) Std() time.Time { return time.Unix(0, int64(t)).UTC() }

// A clock counts from base with the monotonic clock of start.
type clock struct {
	base  Time
	start time.Time
}

// newClock starts a clock that is not behind mark.
func newClock(mark Time, start time.Time) clock {
	return clock{base: max(mark, Time(start.UnixNano())), start: start}
}

func (c clock) at(t time.Time) Time { return c.base.Add(t.Sub(c.start)) }
