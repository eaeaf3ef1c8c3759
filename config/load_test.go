package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const upstream = "upstream: {addresses: [\"smsc.example.com:2775\"]}\n"

func mustLoad(t *testing.T, s Sources) Config {
	t.Helper()
	c, _, err := Load(s)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

func TestAnUpstreamAloneIsEnough(t *testing.T) {
	want := Default()
	want.Upstream.Addresses = []string{"smsc.example.com:2775"}
	for name, s := range map[string]Sources{
		"file":        {File: []byte(upstream)},
		"environment": {Env: []string{"SMPPONCE_UPSTREAM_ADDRESSES=smsc.example.com:2775", "PATH=/bin"}},
		"flag":        {Flags: map[string]string{"upstream": "smsc.example.com:2775"}},
	} {
		if diff := cmp.Diff(want, mustLoad(t, s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheLaterSourceWins(t *testing.T) {
	s := Sources{
		File: []byte("upstream: {addresses: [\"file:1\"], name: file}\nlog: {level: error}\nledger: {path: file}\n"),
		Env:  []string{"SMPPONCE_UPSTREAM_ADDRESSES=env:1, env:2", "SMPPONCE_LOG_LEVEL=warn"},
		Flags: map[string]string{
			"log-level": "debug",
		},
	}
	c := mustLoad(t, s)
	if got, want := strings.Join(c.Upstream.Addresses, " "), "env:1 env:2"; got != want {
		t.Errorf("upstream.addresses: got %s, want %s", got, want)
	}
	if c.Log.Level != LevelDebug {
		t.Errorf("log.level: got %s, want debug", c.Log.Level)
	}
	if c.Ledger.Path != "file" || c.Upstream.Name != "file" {
		t.Errorf("what only the file sets: got %s and %s, want file", c.Ledger.Path, c.Upstream.Name)
	}
}

func TestEveryFlagSetsItsSetting(t *testing.T) {
	c := mustLoad(t, Sources{Flags: map[string]string{
		"listen": "127.0.0.1:1", "upstream": "a:2,b:3", "ledger": "/l", "admin": "127.0.0.1:4", "log-level": "warn",
	}})
	got := []string{c.Listen.Address, strings.Join(c.Upstream.Addresses, ","), c.Ledger.Path, c.Admin.Address, string(c.Log.Level)}
	if diff := cmp.Diff([]string{"127.0.0.1:1", "a:2,b:3", "/l", "127.0.0.1:4", "warn"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValuesAreReadInTheFormsPeopleWriteThem(t *testing.T) {
	c := mustLoad(t, Sources{File: []byte(upstream + `
listen:   # all of it is commented out
dedup:
  request_id_tlvs: [0x1402, 5120]
  window: 1h30m
  retry_status: 88
ledger:
  min_free: 1GiB
  max_bytes: 2000000000
  path: "/var/lib/smpponce"
accounts:
  - {system_id: 0123, dedup: {retry_status: 0x58}}
  - {system_id: 1e3}
  - {system_id: true}
  - {system_id: "quoted # not a comment"}
`)})
	d := Default()
	d.Upstream.Addresses = []string{"smsc.example.com:2775"}
	d.Dedup.RequestIDTLVs = []Tag{0x1402, 0x1400}
	d.Dedup.Window = 90 * time.Minute
	d.Dedup.RetryStatus = 0x58
	d.Ledger.MinFree, d.Ledger.MaxBytes, d.Ledger.Path = 1<<30, 2_000_000_000, "/var/lib/smpponce"
	for _, id := range []string{"0123", "1e3", "true", "quoted # not a comment"} {
		d.Accounts = append(d.Accounts, Account{SystemID: id, Dedup: d.Dedup, Receipts: d.Receipts})
	}
	if diff := cmp.Diff(d, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAccountsAreLaidOverTheSettingsForAllFieldByField(t *testing.T) {
	c := mustLoad(t, Sources{
		File: []byte(upstream + `
accounts:
  - system_id: acme
    dedup: {request_id_tlvs: [0x1402], content: false}
    receipts: {race_wait: 0s}
dedup: {request_id_tlvs: [0x1400], hold_timeout: 1s}
`),
		Env: []string{"SMPPONCE_DEDUP_HOLD_TIMEOUT=2s"},
	})
	want := Account{SystemID: "acme", Dedup: c.Dedup, Receipts: c.Receipts}
	want.Dedup.RequestIDTLVs = []Tag{0x1402}
	want.Dedup.Content = false
	want.Receipts.RaceWait = 0
	if diff := cmp.Diff(want, c.Account("acme")); diff != "" {
		t.Errorf("acme (-want +got):\n%s", diff)
	}
	if c.Account("acme").Dedup.HoldTimeout != 2*time.Second {
		t.Errorf("hold_timeout of acme: got %v, want 2s, which the environment sets for all", c.Account("acme").Dedup.HoldTimeout)
	}
	other := Account{SystemID: "ACME", Dedup: c.Dedup, Receipts: c.Receipts}
	if diff := cmp.Diff(other, c.Account("ACME")); diff != "" {
		t.Errorf("another account (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Tag{0x1400}, c.Dedup.RequestIDTLVs); diff != "" {
		t.Errorf("settings for all (-want +got):\n%s", diff)
	}
}

func TestUnknownVariablesAreOnlyWarnedOf(t *testing.T) {
	_, warnings, err := Load(Sources{Env: []string{
		"SMPPONCE_UPSTREAM_ADDRESSES=a:1",
		"SMPPONCE_PORT=tcp://10.0.0.1:2775",
		"SMPPONCE_ACCOUNTS=acme",
		"SMPPONCE_ACCOUNTS_ACME_DEDUP_MODE=off",
		"smpponce_x=1",
	}})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	var origins []string
	for _, w := range warnings {
		origins = append(origins, w.Origin)
	}
	want := []string{"SMPPONCE_PORT", "SMPPONCE_ACCOUNTS", "SMPPONCE_ACCOUNTS_ACME_DEDUP_MODE"}
	if diff := cmp.Diff(want, origins); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if !strings.Contains(warnings[1].String(), "in the file only") {
		t.Errorf("got %q, want it to say that accounts are for the file only", warnings[1])
	}
}

func TestSettingsThatWorkButAreHardlyMeantAreWarnedOf(t *testing.T) {
	for file, want := range map[string]string{
		"dedup: {content: false}": "settings:2:18: dedup.content: is false and dedup.request_id_tlvs is empty, so no resubmission is ever " +
			"recognised: set one of them, or dedup.mode: off",
		"dedup: {request_id_tlvs: [0x0204]}": "settings:2:26: dedup.request_id_tlvs: 0x0204 (user_message_reference) has 16 bits, so its " +
			"values come again after 65,536 messages: keep dedup.window shorter than the client needs for those",
		"dedup: {request_id_tlvs: [1402]}": "settings:2:26: dedup.request_id_tlvs: 0x057A lies outside the tags that SMPP leaves to providers " +
			"(0x1400 to 0x3FFF): hexadecimal tags are written with 0x",
	} {
		_, warnings, err := Load(Sources{File: []byte(upstream + file)})
		if err != nil || len(warnings) != 1 || warnings[0].String() != want {
			t.Errorf("%s:\n got %v, %v\nwant %s", file, warnings, err, want)
		}
	}
}

func TestNoTwoSettingsShareAVariable(t *testing.T) {
	seen := map[string]string{}
	c := Default()
	settings(reflect.ValueOf(&c).Elem(), "", func(path string, _ reflect.Value) {
		if other, ok := seen[EnvName(path)]; ok {
			t.Errorf("%s is the variable of both %s and %s", EnvName(path), other, path)
		}
		seen[EnvName(path)] = path
	})
	if len(seen) < 40 {
		t.Errorf("only %d settings were found", len(seen))
	}
	for _, f := range Flags {
		if seen[EnvName(f.Setting)] != f.Setting {
			t.Errorf("--%s sets %s, which is no setting", f.Name, f.Setting)
		}
	}
}

func TestWhatIsPrintedLoadsToTheSameSettings(t *testing.T) {
	for name, s := range map[string]Sources{
		"defaults": {File: []byte(upstream)},
		"odd": {File: []byte(`
upstream: {addresses: ["[::1]:1", "b:2"], name: 0x10, tls: {enabled: true, ca_file: "- a: 'b' #\\", server_name: "null"}}
listen: {proxy_protocol_from: [10.0.0.0/8, "fd00::/8"], max_pdu_size: 70001}
dedup: {request_id_tlvs: [1, 0xFFFF], retry_status: 4294967295, window: 1h0m0.5s, mode: observe}
ledger: {path: "  two  spaces ", max_bytes: 7EiB}
accounts:
  - {system_id: 0123, dedup: {mode: off}}
  - {system_id: "on: - [a]", receipts: {race_wait: 0s}}
  - {system_id: "~"}
  - {system_id: "übel 😀"}
`)},
	} {
		first := mustLoad(t, s)
		text, err := first.YAML()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		second, _, err := Load(Sources{File: text})
		if err != nil {
			t.Errorf("%s: its own print is refused: %v\n%s", name, err, text)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s (-first +second):\n%s", name, diff)
		}
	}
}

func TestTheControlAddressIsASocketOrALoopbackAddress(t *testing.T) {
	for _, address := range []string{"", "unix:/run/c.sock", "127.0.0.1:9551", "127.9.9.9:0", "[::1]:9551", "localhost:9551"} {
		c := mustLoad(t, Sources{File: []byte(upstream), Env: []string{"SMPPONCE_ADMIN_CONTROL=" + address}})
		if c.Admin.Control != address {
			t.Errorf("got %q, want %q", c.Admin.Control, address)
		}
	}
}
