package main

import (
	"syscall"

	"go.uber.org/zap"
)

// The ledger ends the process when it cannot open another file, so clients must not take the last descriptors: a session needs
// up to three, for its ESME, its SMSC, and an earlier SMSC connection that is still waited for.
const (
	descriptorsKept       = 128 // for the ledger, the admin address and what the process itself has open
	descriptorsPerSession = 3
)

// sessionsWithin is how many of the wanted sessions a limit of open files allows, at least one.
func sessionsWithin(limit uint64, wanted int) int {
	if limit <= descriptorsKept {
		return 1
	}
	return int(max(1, min((limit-descriptorsKept)/descriptorsPerSession, uint64(wanted))))
}

// limitSessions lowers listen.max_sessions to what the process may open, and says so.
func limitSessions(wanted int, log *zap.Logger) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		log.Warn("the limit of open files is not known", zap.Error(err))
		return wanted
	}
	allowed := sessionsWithin(uint64(files.Cur), wanted)
	if allowed < wanted {
		log.Warn("listen.max_sessions is lowered: the process may not open enough files; raise its limit (ulimit -n)",
			zap.Int("max_sessions", wanted), zap.Int("allowed", allowed), zap.Uint64("open_files", uint64(files.Cur)))
	}
	return allowed
}
