package pdu

import (
	"fmt"
	"testing"
	"time"

	"github.com/linxGnu/gosmpp/data"
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

func TestAMessageExpiresAtAMomentOrAfterATime(t *testing.T) {
	now := time.Date(2024, 1, 31, 23, 59, 58, 900_000_000, time.UTC)
	ttl := func(value string) message { return plain("text").with(testTLV{0x0017, value}) }
	validity := func(raw string) message {
		m := ttl("\x00\x00\x00\x63") // which is of a data_sm only
		m.validity = raw
		return m
	}
	tests := []struct {
		name  string
		frame Frame
		until int64
		lasts time.Duration
	}{
		{"a moment", validity("250607080910908+").frame(data.SUBMIT_SM), 1749276550, 0},
		{"a time", validity("000001020304000R").frame(data.SUBMIT_SM), 0, 26*time.Hour + 3*time.Minute + 4*time.Second},
		{"a month from the end of January", validity("000100000000000R").frame(data.SUBMIT_SM), 0, 31 * 24 * time.Hour},
		{"a month of a submit_multi", validity("000100000000000R").multiFrame("\x02x\x00"), 0, 31 * 24 * time.Hour},
		{"the longest", validity("999999999999000R").frame(data.SUBMIT_SM), 0, time.Duration(time.Date(2024+99, 1+99, 31+99, 23+99, 59+99, 58+99, 0, time.UTC).Unix()-now.Unix()) * time.Second},
		{"none", validity("").frame(data.SUBMIT_SM), 0, 0},
		{"nonsense", validity("tomorrow").frame(data.SUBMIT_SM), 0, 0},
		{"of a data_sm", ttl("\x00\x00\x0E\x10").dataFrame(), 0, time.Hour},
		{"the longest of a data_sm", ttl("\xFF\xFF\xFF\xFF").dataFrame(), 0, (1<<32 - 1) * time.Second},
		{"of another size", ttl("\x0E\x10").dataFrame(), 0, 0},
		{"none of a data_sm", plain("text").dataFrame(), 0, 0},
	}
	for _, test := range tests {
		s, err := ParseSubmit(test.frame)
		if until, lasts := s.Expiry(now); err != nil || until != test.until || lasts != test.lasts {
			t.Errorf("%s: got %d, %v, %v; want %d, %v", test.name, until, lasts, err, test.until, test.lasts)
		}
	}
}
