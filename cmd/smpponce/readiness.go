package main

import "sync/atomic"

// readiness holds why clients should not come yet, or no longer. Any goroutine may use it.
type readiness struct {
	reason   atomic.Pointer[string]       // set by serve as it goes through its stages
	writable atomic.Pointer[func() error] // asked while there is no reason
}

// notReady gives the reason to keep clients away; an empty one ends that.
func (r *readiness) notReady(reason string) { r.reason.Store(&reason) }

// watch makes readiness depend on whether the ledger can write.
func (r *readiness) watch(writable func() error) { r.writable.Store(&writable) }

// why gives the reason now, or nothing where clients may come.
func (r *readiness) why() string {
	if reason := r.reason.Load(); reason != nil && *reason != "" {
		return *reason
	}
	if writable := r.writable.Load(); writable != nil {
		if err := (*writable)(); err != nil {
			return "the ledger cannot write: " + err.Error()
		}
	}
	return ""
}
