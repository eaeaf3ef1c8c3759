package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each file or variable is wrong in one way; the message must be exactly this.
func TestEveryWrongSettingIsToldWithItsPlaceAndTheWayOut(t *testing.T) {
	const up = upstream // one line, so that what follows begins at line 2
	for _, c := range []struct{ file, env, want string }{
		// The file as a whole.
		{file: "a: [", want: `smpponce.yaml:1:4: is no valid YAML: sequence end token ']' not found`},
		{file: "just words", want: `smpponce.yaml:1:1: is a single value: write settings, as key: value`},
		{file: up + "---\nlog:\n  level: info\n", want: `smpponce.yaml:3:1: is a second document: put all settings into one, without a line of ---`},
		{file: up + "dedupe: {}\n", want: `smpponce.yaml:2:1: "dedupe" is no key here: use listen, upstream, keepalive, dedup, receipts, ledger, admin, shutdown_grace, log, accounts`},
		{file: up + "log:\n  levle: info\n", want: `smpponce.yaml:3:3: log: "levle" is no key here: use level, format`},
		{file: up + "log: {level: info, level: warn}\n", want: `smpponce.yaml:2:20: log.level: is given already at smpponce.yaml:2:7: keep one of the two`},
		{file: up + "log: debug\n", want: `smpponce.yaml:2:6: log: is a single value: write its settings below it, as key: value`},
		{file: up + "log: {level: {a: b}}\n", want: `smpponce.yaml:2:14: log.level: is a section of keys: write one plain value, in quotes where it holds a colon`},
		{file: up + "log: {level: [info]}\n", want: `smpponce.yaml:2:14: log.level: is a list: write one plain value, in quotes where it holds a colon`},
		{file: up + "log: {level: &x info}\n", want: `smpponce.yaml:2:14: log.level: is a YAML anchor, alias or tag, which are not understood here: write one plain value, in quotes where it holds a colon`},
		{file: up + "log:\n  level:\n", want: `smpponce.yaml:3:3: log.level: has no value: give one ("" for none) or take the line out`},
		{file: up + "dedup: {request_id_tlvs: }\n", want: `smpponce.yaml:2:9: dedup.request_id_tlvs: has no value: give one ([] for none) or take the line out`},
		{file: up + "dedup: {request_id_tlvs: 0x1402}\n", want: `smpponce.yaml:2:26: dedup.request_id_tlvs: is a single value: write a list, as [a, b]`},
		{file: up + "dedup: {request_id_tlvs: [[1]]}\n", want: `smpponce.yaml:2:27: dedup.request_id_tlvs: is a list: write one plain value, in quotes where it holds a colon`},

		// Forms of values.
		{env: "DEDUP_WINDOW=24", want: `SMPPONCE_DEDUP_WINDOW: dedup.window: "24" has no unit: write 24s for seconds, or with ms, m or h`},
		{file: up + "dedup: {window: 0}\n", want: `smpponce.yaml:2:17: dedup.window: "0" has no unit: write 0s for seconds, or with ms, m or h`},
		{env: "DEDUP_WINDOW=3d", want: `SMPPONCE_DEDUP_WINDOW: dedup.window: "3d" is not a duration: write a number and a unit, such as 500ms, 30s, 10m or 72h`},
		{env: "DEDUP_WINDOW=", want: `SMPPONCE_DEDUP_WINDOW: dedup.window: "" is not a duration: write a number and a unit, such as 500ms, 30s, 10m or 72h`},
		{env: "DEDUP_CONTENT=yes", want: `SMPPONCE_DEDUP_CONTENT: dedup.content: "yes" is neither true nor false: write one of the two`},
		{env: "DEDUP_MODE=on", want: `SMPPONCE_DEDUP_MODE: dedup.mode: "on" is not one of its values: write enforce, observe or off`},
		{env: "DEDUP_ON_MISMATCH=x", want: `SMPPONCE_DEDUP_ON_MISMATCH: dedup.on_mismatch: "x" is not one of its values: write forward or refuse`},
		{env: "DEDUP_ON_IN_DOUBT=x", want: `SMPPONCE_DEDUP_ON_IN_DOUBT: dedup.on_in_doubt: "x" is not one of its values: write hold, forward or refuse`},
		{env: "LEDGER_SYNC=x", want: `SMPPONCE_LEDGER_SYNC: ledger.sync: "x" is not one of its values: write intents, all or none`},
		{env: "LEDGER_ON_FAILURE=x", want: `SMPPONCE_LEDGER_ON_FAILURE: ledger.on_failure: "x" is not one of its values: write refuse or bypass`},
		{env: "LOG_LEVEL=INFO", want: `SMPPONCE_LOG_LEVEL: log.level: "INFO" is not one of its values: write debug, info, warn or error`},
		{env: "LOG_FORMAT=text", want: `SMPPONCE_LOG_FORMAT: log.format: "text" is not one of its values: write json or console`},
		{env: "LISTEN_MAX_SESSIONS=1k", want: `SMPPONCE_LISTEN_MAX_SESSIONS: listen.max_sessions: "1k" is not a whole number that fits: write decimal digits alone`},
		{env: "LEDGER_MIN_FREE=much", want: `SMPPONCE_LEDGER_MIN_FREE: ledger.min_free: "much" is not a size that fits: write a number of bytes, or with a unit, such as 256MiB`},
		{env: "LEDGER_MIN_FREE=8EiB", want: `SMPPONCE_LEDGER_MIN_FREE: ledger.min_free: "8EiB" is not a size that fits: write a number of bytes, or with a unit, such as 256MiB`},
		{env: "DEDUP_RETRY_STATUS=ESME_RMSGQFUL", want: `SMPPONCE_DEDUP_RETRY_STATUS: dedup.retry_status: "ESME_RMSGQFUL" is not a number up to 0xFFFFFFFF: write it in decimal, or in hexadecimal as 0x14`},
		{env: "DEDUP_REQUEST_ID_TLVS=0x1402,0x10000", want: `SMPPONCE_DEDUP_REQUEST_ID_TLVS: dedup.request_id_tlvs: "0x10000" is not a number up to 0xFFFF: write it in decimal, or in hexadecimal as 0x14`},
		{env: "LEDGER_PATH=a\x00b", want: `SMPPONCE_LEDGER_PATH: ledger.path: holds control characters or is not UTF-8: write plain text`},
		{env: "LISTEN_TLS_KEY_FILE=-----BEGIN PRIVATE KEY-----", want: `SMPPONCE_LISTEN_TLS_KEY_FILE: listen.tls.key_file: holds a certificate or key itself: write it to a file and give the file's path`},

		// Bounds.
		{env: "LISTEN_BIND_TIMEOUT=0s", want: `SMPPONCE_LISTEN_BIND_TIMEOUT: listen.bind_timeout: 0s is too short: write at least 1ms`},
		{env: "LISTEN_WRITE_TIMEOUT=-1s", want: `SMPPONCE_LISTEN_WRITE_TIMEOUT: listen.write_timeout: -1s is too short: write at least 1ms`},
		{env: "UPSTREAM_DIAL_TIMEOUT=0s", want: `SMPPONCE_UPSTREAM_DIAL_TIMEOUT: upstream.dial_timeout: 0s is too short: write at least 1ms`},
		{env: "UPSTREAM_RESPONSE_TIMEOUT=100000h", want: `SMPPONCE_UPSTREAM_RESPONSE_TIMEOUT: upstream.response_timeout: 100000h is too long: write at most 87600h`},
		{env: "KEEPALIVE_INTERVAL=0s", want: `SMPPONCE_KEEPALIVE_INTERVAL: keepalive.interval: 0s is too short: write at least 1ms`},
		{env: "KEEPALIVE_TIMEOUT=0s", want: `SMPPONCE_KEEPALIVE_TIMEOUT: keepalive.timeout: 0s is too short: write at least 1ms`},
		{env: "SHUTDOWN_GRACE=0s", want: `SMPPONCE_SHUTDOWN_GRACE: shutdown_grace: 0s is too short: write at least 1ms`},
		{env: "LEDGER_LOCK_WAIT=-1s", want: `SMPPONCE_LEDGER_LOCK_WAIT: ledger.lock_wait: -1s is too short: write at least 0s`},
		{env: "DEDUP_SETTLE=-1s", want: `SMPPONCE_DEDUP_SETTLE: dedup.settle: -1s is too short: write at least 1ms`},
		{env: "RECEIPTS_RACE_WAIT=-1s", want: `SMPPONCE_RECEIPTS_RACE_WAIT: receipts.race_wait: -1s is too short: write at least 0s`},
		{env: "RECEIPTS_ADOPT=all", want: `SMPPONCE_RECEIPTS_ADOPT: receipts.adopt: "all" is not one of its values: write elimination, reference or off`},
		{env: "DEDUP_MIN_INTERVAL=-1s", want: `SMPPONCE_DEDUP_MIN_INTERVAL: dedup.min_interval: -1s is too short: write at least 0s`},
		{env: "DEDUP_MAX_ATTEMPTS=-1", want: `SMPPONCE_DEDUP_MAX_ATTEMPTS: dedup.max_attempts: -1 is out of bounds: write a number from 0 to 1000000`},
		{env: "DEDUP_WINDOW=0s", want: `SMPPONCE_DEDUP_WINDOW: dedup.window: 0s is too short: write at least 1ms`},
		{env: "LISTEN_MAX_SESSIONS=0", want: `SMPPONCE_LISTEN_MAX_SESSIONS: listen.max_sessions: 0 is out of bounds: write a number from 1 to 100000`},
		{env: "LISTEN_MAX_PENDING=-5", want: `SMPPONCE_LISTEN_MAX_PENDING: listen.max_pending: -5 is out of bounds: write a number from 1 to 1000000`},
		{env: "LISTEN_MAX_PDU_SIZE=2MiB", want: `SMPPONCE_LISTEN_MAX_PDU_SIZE: listen.max_pdu_size: 2MiB is out of bounds: write a size from 1KiB to 1MiB`},
		{env: "LEDGER_MIN_FREE=1MiB", want: `SMPPONCE_LEDGER_MIN_FREE: ledger.min_free: 1MiB is too little: write at least 64MiB, since a disk that runs full ends the process`},
		{env: "LEDGER_MAX_BYTES=5", want: `SMPPONCE_LEDGER_MAX_BYTES: ledger.max_bytes: 5 is too little to work with: write 0 for no limit, or at least 128MiB`},
		{env: "LEDGER_PATH=", want: `SMPPONCE_LEDGER_PATH: ledger.path: is empty: write the directory for the ledger`},
		{env: "UPSTREAM_NAME=a b", want: `SMPPONCE_UPSTREAM_NAME: upstream.name: "a b" is no name: write 1 to 64 letters, digits, dots, dashes or underscores`},
		{env: "DEDUP_RETRY_STATUS=0", want: `SMPPONCE_DEDUP_RETRY_STATUS: dedup.retry_status: 0x00 means accepted, and would lose messages: write a temporary status, such as 0x14 (ESME_RMSGQFUL)`},
		{env: "DEDUP_REQUEST_ID_TLVS=0x1402,5122", want: `SMPPONCE_DEDUP_REQUEST_ID_TLVS: dedup.request_id_tlvs: 0x1402 stands twice: write it once`},
		{env: "DEDUP_REQUEST_ID_TLVS=0", want: `SMPPONCE_DEDUP_REQUEST_ID_TLVS: dedup.request_id_tlvs: 0x0000 is no tag: write the tag of a TLV, such as 0x1402`},
		{env: "DEDUP_REQUEST_ID_TLVS=0x0424", want: `SMPPONCE_DEDUP_REQUEST_ID_TLVS: dedup.request_id_tlvs: 0x0424 is message_payload, the text itself: write the tag under which the client puts its own reference`},

		// Addresses, networks and files.
		{env: "LISTEN_ADDRESS=2775", want: `SMPPONCE_LISTEN_ADDRESS: listen.address: "2775" is not host:port: write it as :2775 or 127.0.0.1:2775, an IPv6 host in brackets`},
		{env: "LISTEN_ADDRESS=:smpp", want: `SMPPONCE_LISTEN_ADDRESS: listen.address: ":smpp" has no valid port: write a number from 1 to 65535 after the colon`},
		{env: "ADMIN_ADDRESS=", want: `SMPPONCE_ADMIN_ADDRESS: admin.address: "" is not host:port: write it as :2775 or 127.0.0.1:2775, an IPv6 host in brackets`},
		{env: "ADMIN_ADDRESS=127.0.0.1:2775", want: `SMPPONCE_ADMIN_ADDRESS: admin.address: "127.0.0.1:2775" is the port of listen.address too: write another port`},
		{env: "ADMIN_CONTROL=control.sock", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "control.sock" is neither unix:/path nor host:port: write it as unix:/run/smpponce/control.sock or 127.0.0.1:9551`},
		{env: "ADMIN_CONTROL=unix:control.sock", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "unix:control.sock" is no path of a socket: write it as unix:/run/smpponce/control.sock, at most 100 octets long`},
		{env: "ADMIN_CONTROL=unix:", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "unix:" is no path of a socket: write it as unix:/run/smpponce/control.sock, at most 100 octets long`},
		{env: "ADMIN_CONTROL=:9551", want: `SMPPONCE_ADMIN_CONTROL: admin.control: ":9551" can be reached from other hosts: write unix:/path, or a loopback address such as 127.0.0.1:9551`},
		{env: "ADMIN_CONTROL=10.0.0.1:9551", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "10.0.0.1:9551" can be reached from other hosts: write unix:/path, or a loopback address such as 127.0.0.1:9551`},
		{env: "ADMIN_CONTROL=localhost:x", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "localhost:x" has no valid port: write a number from 1 to 65535 after the colon`},
		{env: "ADMIN_CONTROL=127.0.0.1:9550", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "127.0.0.1:9550" is the port of admin.address too: write another port`},
		{env: "ADMIN_CONTROL=127.0.0.1:2775", want: `SMPPONCE_ADMIN_CONTROL: admin.control: "127.0.0.1:2775" is the port of listen.address too: write another port`},
		{env: "UPSTREAM_ADDRESSES=smsc", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "smsc" is not host:port: write it as smsc.example.com:2775, an IPv6 host in brackets`},
		{env: "UPSTREAM_ADDRESSES=:1", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: ":1" has no host: write it as smsc.example.com:2775`},
		{env: "UPSTREAM_ADDRESSES=a b:1", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "a b:1" has no valid host: write it as smsc.example.com:2775`},
		{env: "UPSTREAM_ADDRESSES=a:0", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "a:0" has no valid port: write a number from 1 to 65535 after the colon`},
		{env: "UPSTREAM_ADDRESSES=a:65536", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "a:65536" has no valid port: write a number from 1 to 65535 after the colon`},
		{env: "UPSTREAM_ADDRESSES=smpp://a:1", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "smpp://a:1" is not host:port: write it as smsc.example.com:2775, an IPv6 host in brackets`},
		{env: "UPSTREAM_ADDRESSES=a:1,a:1", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "a:1" stands twice: write it once`},
		{env: "UPSTREAM_ADDRESSES=localhost:2775", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: "localhost:2775" is smpponce's own listen.address: write the SMSC's, or let smpponce listen on another port`},
		{env: "UPSTREAM_ADDRESSES=", want: `SMPPONCE_UPSTREAM_ADDRESSES: upstream.addresses: is missing: write the SMSC's host:port in the file, in SMPPONCE_UPSTREAM_ADDRESSES or after --upstream`},
		{file: "log: {level: info}\n", want: `upstream.addresses: is missing: write the SMSC's host:port in the file, in SMPPONCE_UPSTREAM_ADDRESSES or after --upstream`},
		{env: "LISTEN_PROXY_PROTOCOL_FROM=10.0.0.1", want: `SMPPONCE_LISTEN_PROXY_PROTOCOL_FROM: listen.proxy_protocol_from: "10.0.0.1" is no network: write an address and a prefix length, such as 10.0.0.0/8 or 192.0.2.7/32`},
		{env: "LISTEN_TLS_CERT_FILE=c", want: `SMPPONCE_LISTEN_TLS_CERT_FILE: listen.tls.cert_file: is set without listen.tls.key_file: set both or neither`},
		{env: "LISTEN_TLS_KEY_FILE=k", want: `SMPPONCE_LISTEN_TLS_KEY_FILE: listen.tls.key_file: is set without listen.tls.cert_file: set both or neither`},
		{env: "LISTEN_TLS_CLIENT_CA_FILE=c", want: `SMPPONCE_LISTEN_TLS_CLIENT_CA_FILE: listen.tls.client_ca_file: is set without listen.tls.cert_file, so no TLS is spoken: set that and listen.tls.key_file too, or take this out`},
		{file: up + "", env: "UPSTREAM_TLS_CA_FILE=c", want: `SMPPONCE_UPSTREAM_TLS_CA_FILE: upstream.tls.ca_file: is set while upstream.tls.enabled is false, so no TLS is spoken: set that to true, or take this out`},
		{file: "upstream: {addresses: [\"a:1\"], tls: {enabled: true, cert_file: c}}", want: `smpponce.yaml:1:64: upstream.tls.cert_file: is set without upstream.tls.key_file: set both or neither`},
		{file: "upstream: {addresses: [\"a:1\"], tls: {enabled: true, key_file: k}}", want: `smpponce.yaml:1:63: upstream.tls.key_file: is set without upstream.tls.cert_file: set both or neither`},

		// Settings that must suit each other.
		{env: "DEDUP_CONTENT_WINDOW=2m", want: `SMPPONCE_DEDUP_CONTENT_WINDOW: dedup.content_window: 2m is not more than twice dedup.in_doubt_deadline (1m): raise the one or lower the other, or a client that was asked to try again comes too late to be recognised`},
		{env: "DEDUP_IN_DOUBT_DEADLINE=5m", want: `SMPPONCE_DEDUP_IN_DOUBT_DEADLINE: dedup.content_window: 10m is not more than twice dedup.in_doubt_deadline (5m): raise the one or lower the other, or a client that was asked to try again comes too late to be recognised`},
		{env: "DEDUP_CONTENT_LIMIT=5m", want: `SMPPONCE_DEDUP_CONTENT_LIMIT: dedup.content_limit: 5m is less than dedup.content_window (10m): raise the one or lower the other`},
		{env: "DEDUP_HOLD_TIMEOUT=60s", want: `SMPPONCE_DEDUP_HOLD_TIMEOUT: dedup.hold_timeout: 1m is not less than dedup.client_timeout (1m): lower it, or the client gives up before it gets an answer`},
		{env: "DEDUP_CLIENT_TIMEOUT=2s", want: `SMPPONCE_DEDUP_CLIENT_TIMEOUT: dedup.hold_timeout: 3s is not less than dedup.client_timeout (2s): lower it, or the client gives up before it gets an answer`},
		{env: "DEDUP_MIN_INTERVAL=10m", want: `SMPPONCE_DEDUP_MIN_INTERVAL: dedup.min_interval: 10m is not less than dedup.content_window (10m): lower it, or a client that was asked to try again comes too late to be recognised`},
		{env: "DEDUP_SETTLE=2m", want: `SMPPONCE_DEDUP_SETTLE: dedup.settle: 2m is not less than dedup.client_timeout (1m): lower it`},
		{env: "RECEIPTS_RETENTION=1h", want: `SMPPONCE_RECEIPTS_RETENTION: receipts.retention: 1h is less than dedup.window (24h): raise it, or a message whose answer is repeated loses its receipt`},
		{env: "DEDUP_CONTENT_LIMIT=100h", want: `SMPPONCE_DEDUP_CONTENT_LIMIT: receipts.retention: 72h is less than dedup.content_limit (100h): raise it, or a message whose answer is repeated loses its receipt`},

		// Accounts.
		{file: up + "accounts: {acme: {}}\n", want: `smpponce.yaml:2:11: accounts: is a section of keys: write a list, each entry beginning with - system_id:`},
		{file: up + "accounts: [acme]\n", want: "smpponce.yaml:2:12: accounts[0]: is a single value: write its settings below it, as key: value\n" +
			`smpponce.yaml:2:12: accounts[0].system_id: is missing: write the system_id that this entry is for`},
		{file: up + "accounts: [{dedup: {mode: off}}]\n", want: `smpponce.yaml:2:12: accounts[0].system_id: is missing: write the system_id that this entry is for`},
		{file: up + "accounts: [{system_id: \"\"}]\n", want: `smpponce.yaml:2:24: accounts[0].system_id: is empty: write the system_id that this entry is for`},
		{file: up + "accounts: [{system_id: a}, {system_id: a}]\n", want: `smpponce.yaml:2:40: accounts[1].system_id: "a" has an entry already at smpponce.yaml:2:24: put all its settings into one`},
		{file: up + "accounts: [{system_id: a, ledger: {}}]\n", want: `smpponce.yaml:2:27: accounts[0]: "ledger" is no key here: use system_id, dedup, receipts`},
		{file: up + "accounts: [{system_id: a, dedup: {hold_timeout: 1h}}]\n", want: `smpponce.yaml:2:49: accounts[0].dedup.hold_timeout: 1h is not less than dedup.client_timeout (1m): lower it, or the client gives up before it gets an answer`},
	} {
		s := Sources{File: []byte(c.file), FileName: "smpponce.yaml"}
		if c.env != "" {
			s.Env = []string{"SMPPONCE_" + c.env}
			if c.file == "" && !strings.HasPrefix(c.env, "UPSTREAM_ADDRESSES") {
				s.Env = append(s.Env, "SMPPONCE_UPSTREAM_ADDRESSES=smsc.example.com:2775")
			}
		}
		_, _, err := Load(s)
		if got := message(err); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.file, c.env, got, c.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAWrongFlagIsNamed(t *testing.T) {
	_, _, err := Load(Sources{Flags: map[string]string{"upstream": "a:1", "log-level": "loud"}})
	want := `--log-level: log.level: "loud" is not one of its values: write debug, info, warn or error`
	if got := message(err); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestAllFaultsAreToldAtOnceAndNoneTwice(t *testing.T) {
	_, _, err := Load(Sources{
		FileName: "f",
		File: []byte(`
listen: {bind_timeout: 5, max_sessions: none}
dedup: {in_doubt_deadline: soon, content_window: 1m, hold_timeout: 2h}
accounts:
  - {system_id: a, dedup: {content_window: 2m}}
  - {system_id: b, dedup: {content: maybe}}
`),
		Env:   []string{"SMPPONCE_LEDGER_SYNC=never"},
		Flags: map[string]string{"listen": "nowhere"},
	})
	want := []string{
		`f:2:24: listen.bind_timeout: "5" has no unit: write 5s for seconds, or with ms, m or h`,
		`f:2:41: listen.max_sessions: "none" is not a whole number that fits: write decimal digits alone`,
		`f:3:28: dedup.in_doubt_deadline: "soon" is not a duration: write a number and a unit, such as 500ms, 30s, 10m or 72h`,
		`SMPPONCE_LEDGER_SYNC: ledger.sync: "never" is not one of its values: write intents, all or none`,
		`f:6:37: accounts[1].dedup.content: "maybe" is neither true nor false: write one of the two`,
		`--listen: listen.address: "nowhere" is not host:port: write it as :2775 or 127.0.0.1:2775, an IPv6 host in brackets`,
		`upstream.addresses: is missing: write the SMSC's host:port in the file, in SMPPONCE_UPSTREAM_ADDRESSES or after --upstream`,
		`f:3:68: dedup.hold_timeout: 2h is not less than dedup.client_timeout (1m): lower it, or the client gives up before it gets an answer`,
	}
	if diff := cmp.Diff(want, strings.Split(message(err), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAFaultInAnEarlierSourceIsToldThoughALaterOneWins(t *testing.T) {
	_, _, err := Load(Sources{
		FileName: "f",
		File:     []byte(upstream + "dedup: {window: 24}\n"),
		Env:      []string{"SMPPONCE_DEDUP_WINDOW=100h"},
	})
	want := `f:2:17: dedup.window: "24" has no unit: write 24s for seconds, or with ms, m or h` + "\n" +
		`SMPPONCE_DEDUP_WINDOW: receipts.retention: 72h is less than dedup.window (100h): raise it, or a message whose answer is repeated loses its receipt`
	if got := message(err); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestNoMessageRepeatsAPastedKey(t *testing.T) {
	_, _, err := Load(Sources{File: []byte(upstream + `
listen:
  tls:
    key_file: |
      -----BEGIN PRIVATE KEY-----
      topsecret
      -----END PRIVATE KEY-----
`)})
	if got := message(err); !strings.Contains(got, "listen.tls.key_file") || strings.Contains(got, "topsecret") {
		t.Errorf("got %s, want a message that names the setting and hides its value", got)
	}
}
