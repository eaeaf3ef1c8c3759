package main

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestDisturbanceIsWhatTheBenchDidNotUseItself(t *testing.T) {
	all, stolen, err := parseStat("cpu  1000 200 300 5000 60 7 8 90 0 0\ncpu0 1 2 3\n")
	if err != nil || all != 15*time.Second || stolen != 900*time.Millisecond {
		t.Errorf("got %v, %v, %v", all, stolen, err)
	}
	if _, _, err := parseStat("intr 1 2 3"); err == nil {
		t.Error("no error for an unknown form")
	}
	elapsed := 10 * time.Second
	capacity := elapsed * time.Duration(runtime.NumCPU())
	start := time.Now()
	before := processorTime{at: start, all: time.Hour, own: time.Minute, stolen: time.Second}
	after := processorTime{at: start.Add(elapsed), all: time.Hour + capacity*3/4, own: time.Minute + capacity/2, stolen: time.Second + capacity/20}
	want := fmt.Sprintf("all of it in %v, of whose CPU time other processes took 25%% and other machines 5%%", elapsed)
	if got := after.since(before); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
