package main

import (
	"strings"
	"testing"
	"time"
)

func TestTheClosedTableShowsMediansAndRatiosWithinARound(t *testing.T) {
	s := shape{16, 100}
	round := func(perSecond float64, p50 time.Duration, process *usage) *figures {
		return &figures{perSecond: perSecond, p50: p50, p99: 10 * p50, process: process}
	}
	used := func(per100 float64) *usage {
		return &usage{per100: per100, memory: memory{peakResident: 20 << 20, anonymous: 10<<20 + 600<<10}}
	}
	results := map[load][]series{{shape: s}: {
		{direct, []*figures{round(3_000_000, time.Millisecond, nil), round(1_000_000, 2*time.Millisecond, nil), nil}},
		{ioCopy, []*figures{round(1_000_000, time.Millisecond, used(1)), round(500_000, time.Millisecond, used(2)), round(800_000, time.Millisecond, used(3))}},
		{enforce, []*figures{nil, nil, nil}},
	}}
	want := strings.TrimPrefix(`
| binds x window | relay   | submits/s | spread |      p50 |     p99 | CPU s/100k |    RSS | anonymous | of io.Copy |
|----------------|---------|----------:|-------:|---------:|--------:|-----------:|-------:|----------:|-----------:|
| 16x100         | direct  | 2,000,000 |   100% | 1.500 ms | 15.0 ms |          - |      - |         - |       2.50 |
| 16x100         | io.Copy |   800,000 |    62% | 1.000 ms | 10.0 ms |      2.000 | 20 MiB |    11 MiB |       1.00 |
| 16x100         | enforce |         - |      - |        - |       - |          - |      - |         - |          - |
`, "\n")
	if got := closedTable([]shape{s}, results); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheOpenTableShowsWhatARelayAdds(t *testing.T) {
	round := func(p50, p99 time.Duration) *figures {
		return &figures{perSecond: 2000, p50: p50, p99: p99, process: &usage{cores: 0.25}}
	}
	results := map[load][]series{{rate: 2000}: {
		{ioCopy, []*figures{round(100*time.Microsecond, time.Millisecond), round(200*time.Microsecond, 2*time.Millisecond)}},
		{off, []*figures{round(150*time.Microsecond, 900*time.Microsecond), round(250*time.Microsecond, 12*time.Millisecond)}},
	}}
	want := strings.TrimPrefix(`
| relay   | submits/s |      p50 |      p99 | p50 added | p99 added | CPU cores |
|---------|----------:|---------:|---------:|----------:|----------:|----------:|
| io.Copy |     2,000 | 0.150 ms | 1.500 ms |  0.000 ms |  0.000 ms |      0.25 |
| off     |     2,000 | 0.200 ms | 6.450 ms |  0.050 ms |  4.950 ms |      0.25 |
`, "\n")
	if got := openTable(2000, results); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWithoutIoCopyThereIsNothingToCompareWith(t *testing.T) {
	results := map[load][]series{{rate: 1}: {{enforce, []*figures{{p50: time.Millisecond}}}}}
	if got := openTable(1, results); !strings.Contains(got, "| enforce |         0 | 1.000 ms | 0.000 ms |         - |         - |         - |") {
		t.Errorf("got\n%s", got)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
		ok     bool
	}{
		{nil, 0, false},
		{[]float64{4}, 4, true},
		{[]float64{9, 1, 5}, 5, true},
		{[]float64{9, 1, 5, 6}, 5.5, true},
	} {
		if got, ok := median(c.values); got != c.want || ok != c.ok {
			t.Errorf("median(%v) = %v, %v; want %v, %v", c.values, got, ok, c.want, c.ok)
		}
	}
}

func TestRatesAreGroupedByThousands(t *testing.T) {
	for rate, want := range map[float64]string{0: "0", 999.4: "999", 1000: "1,000", 123456: "123,456", 1234567.8: "1,234,568"} {
		if got := formatRate(rate); got != want {
			t.Errorf("formatRate(%v) = %q, want %q", rate, got, want)
		}
	}
}
