package config

// A setting with a closed set of values is a string type whose values method lists them.
type choice interface{ values() []string }

// Mode is dedup.mode.
type Mode string

// The modes of deduplication.
const (
	ModeEnforce Mode = "enforce"
	ModeObserve Mode = "observe"
	ModeOff     Mode = "off"
)

func (Mode) values() []string { return []string{"enforce", "observe", "off"} }

// OnMismatch is dedup.on_mismatch.
type OnMismatch string

// What happens to a submission with a known request id and another body.
const (
	MismatchForward OnMismatch = "forward"
	MismatchRefuse  OnMismatch = "refuse"
)

func (OnMismatch) values() []string { return []string{"forward", "refuse"} }

// OnInDoubt is dedup.on_in_doubt.
type OnInDoubt string

// What happens to the resubmission of a message in doubt.
const (
	InDoubtHold    OnInDoubt = "hold"
	InDoubtForward OnInDoubt = "forward"
	InDoubtRefuse  OnInDoubt = "refuse"
)

func (OnInDoubt) values() []string { return []string{"hold", "forward", "refuse"} }

// Adopt is receipts.adopt.
type Adopt string

// Which receipts prove that a message in doubt was accepted.
const (
	AdoptElimination Adopt = "elimination"
	AdoptReference   Adopt = "reference"
	AdoptOff         Adopt = "off"
)

func (Adopt) values() []string { return []string{"elimination", "reference", "off"} }

// Sync is ledger.sync.
type Sync string

// What the ledger syncs to disk before it goes on.
const (
	SyncIntents Sync = "intents"
	SyncAll     Sync = "all"
	SyncNone    Sync = "none"
)

func (Sync) values() []string { return []string{"intents", "all", "none"} }

// OnFailure is ledger.on_failure.
type OnFailure string

// What happens to submissions while the ledger can't write.
const (
	FailureRefuse OnFailure = "refuse"
	FailureBypass OnFailure = "bypass"
)

func (OnFailure) values() []string { return []string{"refuse", "bypass"} }

// Level is log.level.
type Level string

// The log levels, each with all that are more severe.
const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

func (Level) values() []string { return []string{"debug", "info", "warn", "error"} }

// Format is log.format.
type Format string

// The log formats: an object a line, or text for people.
const (
	FormatJSON    Format = "json"
	FormatConsole Format = "console"
)

func (Format) values() []string { return []string{"json", "console"} }
