package pdu

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSMPPTimesAreReadInBothForms(t *testing.T) {
	now := time.Date(2024, 1, 31, 23, 59, 58, 900_000_000, time.FixedZone("", 2*3600))
	tests := []struct{ raw, want string }{ // want in UTC, "" for none
		{"250607080910000+", "2025-06-07T08:09:10Z"},
		{"250607080910908+", "2025-06-07T06:09:10Z"},
		{"250607080910108-", "2025-06-07T10:09:10Z"},
		{"250607080910048+", "2025-06-06T20:09:10Z"},
		{"250607080910022+", "2025-06-07T02:39:10Z"}, // five and a half hours
		{"240229000000000+", "2024-02-29T00:00:00Z"},
		{"991231235959000+", "2099-12-31T23:59:59Z"},
		{"000000000000000R", "2024-01-31T21:59:58Z"},
		{"000000000010000R", "2024-01-31T22:00:08Z"},
		{"000001020304000R", "2024-02-02T00:03:02Z"},
		{"010000000000000R", "2025-01-31T21:59:58Z"},
		{"000007000000000R", "2024-02-07T21:59:58Z"},
		{"000000990000000R", "2024-02-05T00:59:58Z"},

		{"", ""}, {"250607080910", ""}, {"250607080910000", ""}, {"250607080910000+0", ""},
		{"250607080910000Z", ""}, {"250607080910000r", ""}, {"2506070809x0000+", ""}, {"250607080910x00+", ""}, {"2506070809100x0+", ""},
		{"250007080910000+", ""}, {"251307080910000+", ""}, {"250600080910000+", ""}, {"250631080910000+", ""}, {"250229000000000+", ""},
		{"250607240910000+", ""}, {"250607086010000+", ""}, {"250607080960000+", ""}, {"250607080910049+", ""},
		{"000001020304000\x00", ""}, {"\x0000001020304000R", ""}, {" 50607080910000+", ""},
	}
	for _, test := range tests {
		unix, ok := ScheduleSeconds([]byte(test.raw), now)
		got := ""
		if ok {
			got = time.Unix(unix, 0).UTC().Format(time.RFC3339)
		}
		if got != test.want || !ok && unix != 0 {
			t.Errorf("%q: got %q (%d, %v), want %q", test.raw, got, unix, ok, test.want)
		}
	}
}

func TestAnAbsoluteTimeIsReadAsItWasWrittenInAnyZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(946771200, 4102358400).Draw(t, "unix") // 2000-01-02 to 2099-12-30
		quarters := rapid.IntRange(-48, 48).Draw(t, "quarters")
		local := time.Unix(want, 0).In(time.FixedZone("", quarters*900))
		sign := '+'
		if quarters < 0 {
			sign, quarters = '-', -quarters
		}
		raw := fmt.Sprintf("%s%d%02d%c", local.Format("060102150405"), rapid.IntRange(0, 9).Draw(t, "tenths"), quarters, sign)
		if got, ok := ScheduleSeconds([]byte(raw), time.Time{}); !ok || got != want {
			t.Fatalf("%s: got %d, %v; want %d", raw, got, ok, want)
		}
	})
}
