package main

import (
	"strings"
	"testing"
)

func TestWrongUsageExitsWith2AndNamesTheFlagOrCommand(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "expected one of"},
		{"frob", "frob"},
		{"serve --lissten :1", "--lissten"},
		{"serve --listen", "--listen"},
		{"version again", "again"},
		{"check --config /nowhere/smpponce.yaml", "--config /nowhere/smpponce.yaml cannot be read (no such file or directory)"},
		{"serve --config /nowhere/smpponce.yaml", "--config /nowhere/smpponce.yaml cannot be read (no such file or directory)"},
	} {
		got := command(t, nil, strings.Fields(c.args)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("smpponce %s: got %+v, want exit code 2 and %q on standard error", c.args, got, c.want)
		}
	}
}

func TestWrongSettingsExitWith2AndAreToldAllAtOnce(t *testing.T) {
	path := file(t, "wrong.yaml", "listen:\n  adress: \":2775\"\ndedup:\n  window: 24\n")
	want := "smpponce: wrong settings:\n" +
		"  wrong.yaml:2:3: listen: \"adress\" is no key here: use address, bind_timeout, max_sessions, max_pending, max_pdu_size, " +
		"write_timeout, proxy_protocol_from, tls\n" +
		"  wrong.yaml:4:11: dedup.window: \"24\" has no unit: write 24s for seconds, or with ms, m or h\n" +
		"  SMPPONCE_LOG_FORMAT: log.format: \"xml\" is not one of its values: write json or console\n" +
		"  --log-level: log.level: \"loud\" is not one of its values: write debug, info, warn or error\n" +
		"  upstream.addresses: is missing: write the SMSC's host:port in the file, in SMPPONCE_UPSTREAM_ADDRESSES or after --upstream\n"
	for _, name := range []string{"serve", "check"} {
		got := command(t, []string{"SMPPONCE_LOG_FORMAT=xml"}, name, "--config", path, "--log-level", "loud")
		if got.code != exitUsage || got.stderr != want || got.stdout != "" {
			t.Errorf("smpponce %s: exit code %d, want 2; standard error\n%s\nwant\n%s", name, got.code, got.stderr, want)
		}
	}
}

func TestAMisspeltVariableIsToldBesideWhatItLeavesUnset(t *testing.T) {
	for _, name := range []string{"serve", "check"} {
		got := command(t, []string{"SMPPONCE_UPSTREAM_ADRESSES=smsc.example.com:2775"}, name)
		for _, want := range []string{"SMPPONCE_UPSTREAM_ADRESSES: names no setting", "upstream.addresses: is missing"} {
			if got.code != exitUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("smpponce %s: exit code %d, want 2; standard error\n%s\nwant in it %q", name, got.code, got.stderr, want)
			}
		}
	}
}

func TestTLSFilesThatCannotBeUsedAreToldBeforeAnythingStarts(t *testing.T) {
	empty := file(t, "empty.pem", "")
	env := []string{
		"SMPPONCE_UPSTREAM_ADDRESSES=127.0.0.1:1",
		"SMPPONCE_LISTEN_TLS_CERT_FILE=/nowhere/cert.pem",
		"SMPPONCE_LISTEN_TLS_KEY_FILE=/nowhere/key.pem",
		"SMPPONCE_LISTEN_TLS_CLIENT_CA_FILE=" + empty,
		"SMPPONCE_UPSTREAM_TLS_ENABLED=true",
		"SMPPONCE_UPSTREAM_TLS_CA_FILE=/nowhere/ca.pem",
	}
	for _, name := range []string{"serve", "check"} {
		got := command(t, env, name)
		for _, want := range []string{
			"listen.tls.cert_file: /nowhere/cert.pem",
			"listen.tls.client_ca_file: " + empty + " cannot be used (no certificate in it)",
			"upstream.tls.ca_file: /nowhere/ca.pem cannot be used (no such file or directory)",
		} {
			if got.code != exitUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("smpponce %s: exit code %d, want 2; standard error\n%s\nwant in it %q", name, got.code, got.stderr, want)
			}
		}
	}
}

func TestCheckPrintsSettingsThatLoadAgain(t *testing.T) {
	path := file(t, "smpponce.yaml", "accounts:\n  - {system_id: 0123, dedup: {request_id_tlvs: [0x1402]}}\n")
	env := []string{"SMPPONCE_UPSTREAM_ADDRESSES=smsc.example.com:2775", "SMPPONCE_PORT=tcp://10.0.0.1:2775"}
	first := command(t, env, "check", "--config", path, "--log-level", "warn")
	if first.code != 0 {
		t.Fatalf("got %+v, want exit code 0", first)
	}
	if want := "smpponce: warning: SMPPONCE_PORT: names no setting"; !strings.Contains(first.stderr, want) {
		t.Errorf("standard error: got %q, want in it %q", first.stderr, want)
	}
	for _, want := range []string{"system_id: \"0123\"", "request_id_tlvs: [0x1402]", "level: warn", "smsc.example.com:2775"} {
		if !strings.Contains(first.stdout, want) {
			t.Errorf("printed settings lack %q:\n%s", want, first.stdout)
		}
	}
	second := command(t, nil, "check", "--config", file(t, "printed.yaml", first.stdout))
	if second.code != 0 || second.stdout != first.stdout || second.stderr != "" {
		t.Errorf("what check printed gives %+v, want the same settings:\n%s", second, first.stdout)
	}
}

func TestVersionAndHelpExitWith0(t *testing.T) {
	if got := command(t, nil, "version"); got.code != 0 || !strings.HasPrefix(got.stdout, "smpponce "+version+" ") {
		t.Errorf("version: got %+v", got)
	}
	if got := command(t, nil, "--help"); got.code != 0 || !strings.Contains(got.stdout, "serve") {
		t.Errorf("--help: got %+v", got)
	}
}
