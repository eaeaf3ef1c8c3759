package pdu

import (
	"encoding/binary"
	"time"

	"github.com/linxGnu/gosmpp/data"
)

// timeSize is the length of an SMPP time: YYMMDDhhmmss and "tnnp" or "000R".
const timeSize = 16

// quarterHour is the unit of the offset from UTC.
const quarterHour = 15 * time.Minute

// ScheduleSeconds reads an absolute or relative SMPP time (section 7.1.1), as
// in schedule_delivery_time, and gives it in seconds since the Unix epoch; the
// tenths are dropped. A relative one counts from now, its years and months by
// the calendar. It is not ok for an empty one, which means "at once", and for
// one that does not have this form.
func ScheduleSeconds(raw []byte, now time.Time) (unix int64, ok bool) {
	if len(raw) != timeSize {
		return 0, false
	}
	var pair [7]int // YY MM DD hh mm ss, and nn
	for i := range pair {
		at := 2 * i
		if i == 6 {
			at++ // after the tenths
		}
		tens, ones := raw[at]-'0', raw[at+1]-'0'
		if tens > 9 || ones > 9 {
			return 0, false
		}
		pair[i] = int(10*tens + ones)
	}
	if raw[12] < '0' || raw[12] > '9' {
		return 0, false
	}
	offset := time.Duration(pair[6]) * quarterHour
	switch raw[15] {
	case 'R':
		return relative(pair, now)
	case '+': // local time is ahead of UTC
		return absolute(pair, -offset)
	case '-':
		return absolute(pair, offset)
	}
	return 0, false
}

// Expiry says until when the message is of use: until a moment (an absolute
// validity_period), in seconds since the Unix epoch, or for a time from its
// submission on (a relative one, or in a data_sm qos_time_to_live, 5.3.2.9).
// Both are 0 where the SMSC has its own rule. now is the time of submission.
func (s *Submit) Expiry(now time.Time) (until int64, lasts time.Duration) {
	if s.frame.Command() == data.DATA_SM {
		if ttl, _ := s.TLV(tagQosTimeToLive); len(ttl) == 4 {
			lasts = time.Duration(binary.BigEndian.Uint32(ttl)) * time.Second
		}
		return 0, lasts
	}
	unix, ok := ScheduleSeconds(s.Validity, now)
	switch {
	case !ok:
		return 0, 0
	case s.Validity[timeSize-1] == 'R':
		return 0, time.Duration(unix-now.Unix()) * time.Second
	}
	return unix, 0
}

func relative(pair [7]int, now time.Time) (int64, bool) {
	clock := time.Duration(pair[3])*time.Hour + time.Duration(pair[4])*time.Minute + time.Duration(pair[5])*time.Second
	return now.UTC().AddDate(pair[0], pair[1], pair[2]).Add(clock).Unix(), true
}

func absolute(pair [7]int, toUTC time.Duration) (int64, bool) {
	if pair[3] > 23 || pair[4] > 59 || pair[5] > 59 || pair[6] > 48 {
		return 0, false
	}
	t := time.Date(2000+pair[0], time.Month(pair[1]), pair[2], pair[3], pair[4], pair[5], 0, time.UTC)
	if int(t.Month()) != pair[1] {
		return 0, false // no such day: it has become one of another month
	}
	return t.Add(toUTC).Unix(), true
}
