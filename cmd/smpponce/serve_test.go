package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWhatServeCannotUseEndsItWith1AndIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		env  string
		want []string
	}{
		"listen port in use": {"SMPPONCE_LISTEN_ADDRESS=" + taken(t), []string{"listen.address", "address already in use"}},
		"admin port in use":  {"SMPPONCE_ADMIN_ADDRESS=" + taken(t), []string{"admin.address", "address already in use"}},
		"ledger directory that cannot be made": {
			"SMPPONCE_LEDGER_PATH=" + filepath.Join(file(t, "plain-file", ""), "ledger"), []string{"ledger.path", "not a directory"}},
	} {
		code, log := start(t, c.env).exit(t)
		if code != exitFailed {
			t.Errorf("%s: exit code %d, want 1", name, code)
		}
		for _, want := range c.want {
			if !strings.Contains(log, want) {
				t.Errorf("%s: log lacks %q:\n%s", name, want, log)
			}
		}
	}
}

func TestServeIsReadyUntilSIGTERMAndThenExitsWith0(t *testing.T) {
	p := start(t)
	p.ready(t)
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if status, body := p.get(t, path); status != http.StatusOK || body != want {
			t.Errorf("%s: got %d %q, want 200 %q", path, status, body, want)
		}
	}
	status, body := p.get(t, "/metrics")
	for _, want := range []string{"smpponce_build_info{", "go_goroutines ", "process_open_fds ", "smpponce_ledger_writable 1"} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("/metrics: status %d, want 200 and %q in it:\n%s", status, want, body)
		}
	}
	p.signal(t, syscall.SIGHUP) // ignored
	p.signal(t, syscall.SIGTERM)
	if code, log := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0; log:\n%s", code, log)
	}
}

func TestTheAdminAddressIsForReadingOnly(t *testing.T) {
	p := start(t)
	p.ready(t)
	address, _ := p.logged(t, "admin address")["address"].(string)
	client := http.Client{Timeout: patience}
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		response, err := client.Post("http://"+address+path, "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: got %d, want 405", path, response.StatusCode)
		}
	}
}

func TestASecondProcessWaitsForTheLedgerAndTakesOver(t *testing.T) {
	path := "SMPPONCE_LEDGER_PATH=" + filepath.Join(t.TempDir(), "ledger")
	first := start(t, path)
	first.ready(t)
	second := start(t, path)
	status, body := second.get(t, "/readyz")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "ledger.path") {
		t.Errorf("/readyz while another process holds the ledger: got %d %q, want 503 and the reason", status, body)
	}
	if status, _ := second.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz while another process holds the ledger: got %d, want 200", status)
	}
	first.signal(t, syscall.SIGTERM)
	if code, log := first.exit(t); code != 0 {
		t.Errorf("the first: exit code %d, want 0; log:\n%s", code, log)
	}
	second.ready(t)
	if status, body := second.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz after the first process ended: got %d %q, want 200", status, body)
	}
}

func TestASecondProcessGivesUpAfterLockWait(t *testing.T) {
	path := "SMPPONCE_LEDGER_PATH=" + filepath.Join(t.TempDir(), "ledger")
	start(t, path).ready(t)
	code, log := start(t, path, "SMPPONCE_LEDGER_LOCK_WAIT=100ms").exit(t)
	if code != exitFailed || !strings.Contains(log, "ledger.path") || !strings.Contains(log, "ledger.lock_wait") {
		t.Errorf("exit code %d, want 1; log lacks ledger.path or ledger.lock_wait:\n%s", code, log)
	}
}

func TestSIGTERMEndsTheWaitForTheLedgerWith0(t *testing.T) {
	path := "SMPPONCE_LEDGER_PATH=" + filepath.Join(t.TempDir(), "ledger")
	start(t, path).ready(t)
	second := start(t, path)
	second.get(t, "/readyz")
	second.signal(t, syscall.SIGTERM)
	if code, log := second.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0; log:\n%s", code, log)
	}
}

func TestWithoutRoomForTheLedgerServeStaysUpAndIsNotReady(t *testing.T) {
	p := start(t, "SMPPONCE_LEDGER_MIN_FREE=1EiB")
	p.ready(t)
	if status, body := p.get(t, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "ledger.min_free") {
		t.Errorf("/readyz: got %d %q, want 503 and ledger.min_free in it", status, body)
	}
	if status, body := p.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: got %d %q, want 200", status, body)
	}
}

func TestUnknownVariablesAreWarnedOfInTheLog(t *testing.T) {
	p := start(t, "SMPPONCE_PORT=tcp://10.0.0.1:2775")
	p.ready(t)
	if warning, _ := p.logged(t, "settings")["warning"].(string); !strings.Contains(warning, "SMPPONCE_PORT") {
		t.Errorf("got %q, want a warning of SMPPONCE_PORT", warning)
	}
}

func TestWithoutDeduplicationNoLedgerIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	p := start(t, "SMPPONCE_DEDUP_MODE=off", "SMPPONCE_LEDGER_PATH="+path)
	p.ready(t)
	if status, body := p.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: got %d %q, want 200", status, body)
	}
	p.signal(t, syscall.SIGINT)
	if code, log := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0; log:\n%s", code, log)
	}
	if found, _ := filepath.Glob(path); len(found) > 0 {
		t.Errorf("%s was made", path)
	}
}
