package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// processorTime tells who used the machine up to some moment. Of two of them follows how far the figures
// between can be trusted.
type processorTime struct {
	at     time.Time
	all    time.Duration // of all processes
	own    time.Duration // of the bench and of its children that have ended
	stolen time.Duration // taken by other virtual machines
}

// tick is the unit of /proc/stat (USER_HZ), the same on all platforms that Go knows.
const tick = 10 * time.Millisecond

func readProcessorTime() (processorTime, error) {
	p := processorTime{at: time.Now()}
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return p, err
	}
	if p.all, p.stolen, err = parseStat(string(stat)); err != nil {
		return p, err
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			return p, fmt.Errorf("getrusage: %w", err)
		}
		p.own += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return p, nil
}

// parseStat reads the first line of /proc/stat: all = user + nice + system; stolen.
func parseStat(stat string) (all, stolen time.Duration, err error) {
	line, _, _ := strings.Cut(stat, "\n")
	var user, nice, system, idle, iowait, irq, softirq, steal int64
	if _, err := fmt.Sscanf(line, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal); err != nil {
		return 0, 0, errors.New("/proc/stat has an unknown form")
	}
	return time.Duration(user+nice+system) * tick, time.Duration(steal) * tick, nil
}

// since tells what disturbed the bench.
func (p processorTime) since(before processorTime) string {
	elapsed := p.at.Sub(before.at)
	share := func(d time.Duration) float64 {
		return 100 * max(0, d.Seconds()) / max(1e-9, elapsed.Seconds()*float64(runtime.NumCPU()))
	}
	return fmt.Sprintf("all of it in %v, of whose CPU time other processes took %.0f%% and other machines %.0f%%",
		elapsed.Round(time.Second), share(p.all-before.all-(p.own-before.own)), share(p.stolen-before.stolen))
}
