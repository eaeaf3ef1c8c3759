package pdu

import (
	"strings"
	"testing"

	"github.com/linxGnu/gosmpp/data"
	"pgregory.net/rapid"
)

func TestCommandNamesAreAClosedSet(t *testing.T) {
	for c, want := range map[data.CommandIDType]string{
		data.SUBMIT_SM:                     "submit_sm",
		data.SUBMIT_SM_RESP:                "submit_sm_resp",
		data.GENERIC_NACK:                  "generic_nack",
		data.BIND_TRANSCEIVER_RESP:         "bind_transceiver_resp",
		data.ALERT_NOTIFICATION:            "alert_notification",
		data.ALERT_NOTIFICATION | response: "unknown", // has no response
		0x111:                              "broadcast_sm",
		0x111 | response:                   "broadcast_sm_resp",
		0x113 | response:                   "cancel_broadcast_sm_resp",
		0x200:                              "unknown",
		0:                                  "unknown",
		-1:                                 "unknown",
	} {
		if got := Name(c); got != want {
			t.Errorf("%08x: got %s, want %s", uint32(c), got, want)
		}
	}
}

// gosmpp names what the specification names; we must not name it otherwise.
func TestCommandsAndStatusesAreNamedAsInGosmpp(t *testing.T) {
	for c, name := range commandNames {
		if theirs := strings.ToLower(c.String()); !strings.HasPrefix(theirs, "commandidtype") && theirs != name {
			t.Errorf("%08x: got %s, gosmpp has %s", uint32(c), name, theirs)
		}
	}
	for s, name := range statusNames {
		if theirs := data.CommandStatusType(s).String(); !strings.HasPrefix(theirs, "CommandStatusType") && theirs != name {
			t.Errorf("%08x: got %s, gosmpp has %s", s, name, theirs)
		}
	}
}

func TestStatusNamesAreAClosedSet(t *testing.T) {
	for s, want := range map[uint32]string{
		0: "ESME_ROK", 0x14: "ESME_RMSGQFUL", 0x50: "ESME_RINVDSTTON", 0x58: "ESME_RTHROTTLED", 0xFE: "ESME_RDELIVERYFAILURE", 0xFF: "ESME_RUNKNOWNERR",
		0x100: "ESME_RSERTYPUNAUTH", 0x112: "ESME_RINVBCASTCHANIND", 0x113: "other",
		0x09: "other", 0x3FF: "other", 0x400: "vendor", 0x450: "vendor", 0x4FF: "vendor", 0x500: "other", 0xFFFFFFFF: "other",
	} {
		if got := StatusName(s); got != want {
			t.Errorf("%x: got %s, want %s", s, got, want)
		}
	}
}

func TestAtMost16OctetsOfASystemIDReachALog(t *testing.T) {
	for id, want := range map[string]string{
		"acme":                      `"acme"`,
		"":                          `""`,
		"0123456789abcdef":          `"0123456789abcdef"`,
		"0123456789abcdef and on":   `"0123456789abcdef"`,
		"line\nbreak\x1b[31m\xFF\"": `"line\nbreak\x1b[31m\xff"`,
		"0123456789abcde\u00e9":     `"0123456789abcde\xc3"`,
	} {
		if got := LogSystemID([]byte(id)); got != want {
			t.Errorf("%q: got %s, want %s", id, got, want)
		}
	}
}

func TestOnlyTheLastFourDigitsOfANumberReachALog(t *testing.T) {
	for number, want := range map[string]string{
		"491701234567":             "********4567",
		"+491701234567":            "*********4567",
		"12345":                    "*2345",
		"1234":                     "1234",
		"12":                       "12",
		"":                         "",
		"ACME":                     "****",
		"Bank24":                   "****24",
		"49170\n1":                 "***70*1",
		strings.Repeat("7", 60000): strings.Repeat("*", 16) + "7777",
	} {
		if got := MaskNumber([]byte(number)); got != want {
			t.Errorf("%q: got %q, want %q", number, got, want)
		}
	}
}

func TestNoNumberIsShownBeyondItsLastFourOctets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SliceOf(rapid.Byte()).Draw(t, "number")
		got := MaskNumber(number)
		if len(got) > 20 || strings.Trim(got, "*0123456789") != "" || strings.Trim(got[:max(0, len(got)-4)], "*") != "" {
			t.Fatalf("%q: got %q", number, got)
		}
	})
}
