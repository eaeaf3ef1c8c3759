package smsc

import (
	"time"

	"smpponce/test/wire"
)

// Options of a server. The zero value accepts every bind and every submission, at once.
type Options struct {
	Address     string                   // host:port; "": a free port of the loopback interface
	Bind        func(BindRequest) uint32 // command_status of a bind; nil: each is accepted
	MaxBinds    int                      // of one account at a time, further ones get ESME_RALYBND; 0: no limit
	IDs         IDForm                   // form of message ids; nil: Decimal
	AnswerDelay time.Duration            // between a submission and its answer
	Script      Script                   // faults; nil: none
	Receipts    *Receipts                // for submissions that ask for one; nil: none
	Keep        Keep
	Watch       Watch // nil: nobody watches
}

// Watch is told of each frame of a connection: when it was read, and (sent) before its first octet is written. At the end of the
// connection, when nothing is read any more, it is told nil. It must not keep the frame, nor call the server.
type Watch func(connection int, sent bool, f wire.Frame)

// Keep says what a server remembers of submissions.
type Keep int

const (
	KeepAll      Keep = iota // every submission (Received), and their contents
	KeepContents             // 32 octets for each different content, to count duplicates
	KeepNothing              // for load
)

// BindRequest is what a bind asks for.
type BindRequest struct {
	Connection int // number of the connection, from 1
	Command    uint32
	Account    string // system_id
	Open       int    // binds of the account that stand already
}

// Script says what happens to a submission. It is called in the order of arrival and never twice
// at a time, so it may keep state of its own without a lock. It must not call the server.
type Script func(Submission) Plan

// Plan is the fate of one submission; the zero value is an ordinary answer.
type Plan struct {
	Drop   Drop   // ends the connection, at the moment that When says
	When   Moment // only with Drop
	Silent bool   // taken, but never answered
	Status uint32 // of the answer; with any but 0 nothing was accepted
	Nack   bool   // generic_nack in place of the response; nothing was accepted
	Delay  time.Duration
	Gate   <-chan struct{} // the answer waits until it is closed, and then for the delay
	Repeat int             // further copies of the answer
	Before [][]byte        // frames, whole, that go out right before the answer
	Stall  time.Duration   // nothing more is read from this connection for so long

	Receipts  *Receipts // in place of the server's
	NoReceipt bool
}

// Drop is a way to end a connection.
type Drop int

const (
	NoDrop Drop = iota
	Finish      // FIN: what was answered is delivered first, what still comes in is not looked at
	Reset       // RST
)

// Moment says when a Drop happens.
type Moment int

const (
	BeforeTaking Moment = iota // the submission is not received: nothing was accepted
	Unanswered                 // it is received and accepted, and its answer never leaves; the connection ends after Delay
	Answered                   // right after its answer was written
	Settled                    // as BeforeTaking, but what was taken before is still answered
)

// Receipts says how delivery receipts look and travel. A receipt waits for a bind that can receive,
// and is shown again on the next one where its connection ended before the ESME acknowledged it.
type Receipts struct {
	Order     Order
	Delay     time.Duration                           // after the answer; only with AfterAnswer
	Held      bool                                    // until Server.Release; only with AfterAnswer
	Elsewhere bool                                    // on another bind of the account, where there is one
	State     string                                  // of the text; "": DELIVRD
	Text      func(id string, m *wire.Message) string // nil: the canonical text
	ID        func(id string) string                  // the id's form in receipts; nil: as answered
	NoTLV     bool                                    // without receipted_message_id and message_state
	Data      bool                                    // as data_sm
}

// Order is a receipt's place beside its answer.
type Order int

const (
	AfterAnswer  Order = iota
	WithAnswer         // right behind it, in one write
	BeforeAnswer       // in one write too, in front
)
