package main

import "testing"

func TestSessionsLeaveTheLedgerItsFiles(t *testing.T) {
	for _, c := range []struct {
		limit        uint64
		wanted, want int
	}{
		{1 << 20, 1000, 1000}, {1024, 1000, 298}, {1024, 5, 5}, {131, 1000, 1}, {100, 1000, 1}, {1<<64 - 1, 1000, 1000},
	} {
		if got := sessionsWithin(c.limit, c.wanted); got != c.want {
			t.Errorf("with %d files, of %d sessions %d are allowed, want %d", c.limit, c.wanted, got, c.want)
		}
	}
}
