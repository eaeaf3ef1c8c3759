package main

import (
	"errors"
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"go.uber.org/zap"
)

// memoryShare of the container's limit is for the Go heap. The rest is for the ledger's mapped files, which the kernel counts
// to the container as well.
const memoryShare = 0.6

// limitMemory sets GOMEMLIMIT from the container's limit, unless the environment sets it. Without a limit it does nothing.
func limitMemory(log *zap.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(memoryShare))
	switch {
	case err == nil && limit != math.MaxInt64:
		log.Info("memory limit of the Go heap", zap.Int64("bytes", limit))
	case err != nil && !errors.Is(err, memlimit.ErrNoCgroup) && !errors.Is(err, memlimit.ErrCgroupsNotSupported):
		log.Warn("the container's memory limit is not known: set GOMEMLIMIT to 60 % of it", zap.Error(err))
	}
}
