package history

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"smpponce/test/wire"
)

// Side is where an event was seen.
type Side uint8

const (
	ESME Side = iota
	SMSC
	Proxy
)

// Link is a connection, by its number on a side; 0 where an event is not about one.
type Link struct {
	Side   Side
	Number int
}

func (l Link) String() string {
	return fmt.Sprintf("%s %d", [...]string{"esme", "smsc", "proxy"}[l.Side], l.Number)
}

// Kind of an event.
type Kind uint8

const (
	Opened   Kind = iota // the connection was made
	Sent                 // a frame; noted before its first octet leaves
	Received             // a frame; noted as soon as it is read
	Broken               // the connection, without a word: its ESME died, or something on the way to the proxy
	Ended                // the connection: nothing is read from it any more
	Happened             // to the proxy: Note tells what
)

func (k Kind) String() string {
	return [...]string{"opened", "sent", "received", "broken", "ended", "happened"}[k]
}

// Started is the note of what happened to the proxy when it listens; any other is about its end.
const Started = "started"

// Event is one thing that happened.
type Event struct {
	At    time.Duration // since the start of the run
	Link  Link
	Kind  Kind
	Frame wire.Frame // of Sent and Received
	Copy  int        // with a submission that an ESME sent: which copy of its message, from 0
	Note  string
}

func (e *Event) String() string {
	s := fmt.Sprintf("%9.4fs  %-8s %-8s", e.At.Seconds(), e.Link, e.Kind)
	if e.Frame != nil {
		s += fmt.Sprintf(" %s %d", command(e.Frame.Command()), e.Frame.Sequence())
		if e.Frame.Command()&wire.Response != 0 {
			s += fmt.Sprintf(" status %#x", e.Frame.Status())
			if id := e.Frame.ID(); id != "" {
				s += fmt.Sprintf(" id %q", id)
			}
		} else if m, err := wire.ParseMessage(e.Frame.Body()); err == nil {
			s += fmt.Sprintf(" %q", m.Payload())
		}
	}
	return s + " " + e.Note
}

func command(id uint32) string {
	names := map[uint32]string{
		wire.SubmitSM: "submit_sm", wire.DeliverSM: "deliver_sm", wire.DataSM: "data_sm", wire.Unbind: "unbind", wire.EnquireLink: "enquire_link",
	}
	if id == wire.GenericNack {
		return "generic_nack"
	}
	name := names[id&^wire.Response]
	if name == "" {
		name = fmt.Sprintf("%#x", id&^wire.Response)
	}
	if id&wire.Response != 0 {
		name += "_resp"
	}
	return name
}

// Message is what an application meant to send to one destination. No two messages of a run share the last four digits of theirs: this is how
// receipts and the proxy's log are known to be about it.
type Message struct {
	Account     string
	Destination string
	Texts       []string // each different, and within its first 20 characters already
	Long        bool     // they are the parts of one message
	Copies      int      // of each text
}

// digits are those of a destination that the proxy's log shows.
func digits(destination string) string { return destination[max(0, len(destination)-4):] }

// History is what is known of a run.
type History struct {
	Messages []Message
	Events   []Event
	Accepted map[Place]string    // message ids that the SMSC gave, by submission
	Resent   map[string]int      // how often the proxy told that it sent again in doubt, by the last four digits
	Log      map[string][]string // lines of the proxy's log, by the last four digits
	Total    int                 // what the metric says was sent again in doubt, where every process was asked at its end; -1: not known

	Settle        time.Duration // as the proxy was set
	ClientTimeout time.Duration
	RetryStatus   uint32
	AnsweredBy    time.Duration // the longest that a submission may be unanswered on a connection that stands
}

// Place names a PDU: its connection and sequence number.
type Place struct {
	Link     Link
	Sequence uint32
}

// Recorder takes a history down. Its methods may be called from any goroutine.
type Recorder struct {
	start time.Time

	mu     sync.Mutex
	events []Event
}

// NewRecorder starts the clock.
func NewRecorder() *Recorder { return &Recorder{start: time.Now()} }

// Note enters an event at the present time. A frame must not change any more.
func (r *Recorder) Note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.At = time.Since(r.start)
	r.events = append(r.events, e)
}

// Events are those so far.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Event(nil), r.events...)
}

// Fault is a rule that a history breaks.
type Fault struct {
	Rule string
	Text string
	// Story is the history of the message that it is about.
	Story []string
}

func (f Fault) String() string {
	return f.Rule + ": " + f.Text + "\n\t" + strings.Join(f.Story, "\n\t")
}
