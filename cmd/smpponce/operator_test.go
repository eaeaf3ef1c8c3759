package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"smpponce/test/smsc"
)

// socketPath is shorter than what t.TempDir gives: a socket's path may have 100 octets only.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "smpponce-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "control.sock")
}

// doubtful gives a proxy with one message in doubt, and its control address. Its SMSC accepts that one and drops the connection
// unanswered; all further ones it answers.
func doubtful(t *testing.T, env ...string) (p *process, control string, center *smsc.Server) {
	t.Helper()
	center, err := smsc.Start(smsc.Options{Script: func(s smsc.Submission) smsc.Plan {
		if s.N == 1 {
			return smsc.Plan{Drop: smsc.Finish, When: smsc.Unanswered}
		}
		return smsc.Plan{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(center.Close)
	control = "unix:" + socketPath(t)
	p = start(t, append(env, "SMPPONCE_UPSTREAM_ADDRESSES="+center.Addr(), "SMPPONCE_ADMIN_CONTROL="+control, "SMPPONCE_DEDUP_REQUEST_ID_TLVS=0x1402")...)
	c, _ := bound(t, p.ready(t))
	if _, err := c.Write(frame(submitSM, 0, 8, referredBody)); err != nil {
		t.Fatal(err)
	}
	p.logged(t, "SMSC leg ended with unanswered submissions")
	return p, control, center
}

// referredBody has a reference of the client in TLV 0x1402.
const referredBody = submitBody + "\x14\x02\x00\x07order-1"

// number reads the first column of the first line of the table of doubts.
func number(t *testing.T, table string) string {
	t.Helper()
	lines := strings.Split(table, "\n")
	if len(lines) != 3 { // the last is empty
		t.Fatalf("want a table with one line, got\n%s", table)
	}
	return strings.Fields(lines[1])[0]
}

func TestAnOperatorListsSettlesAndExplainsWhatIsInDoubt(t *testing.T) {
	p, control, center := doubtful(t)
	env := []string{"SMPPONCE_ADMIN_CONTROL=" + control} // all that a shell in the container needs
	listed := command(t, env, "doubts")
	for _, want := range []string{"NUMBER", `"acme"`, "********0002", "leg_ended", "repeats are sent back until"} {
		if listed.code != 0 || !strings.Contains(listed.stdout, want) {
			t.Errorf("doubts: got %+v, want %q", listed, want)
		}
	}
	n := number(t, listed.stdout)

	settled := command(t, env, "settle", n, "--as", "accepted", "--message-id", "77")
	if settled.code != 0 || settled.stdout != n+" is settled as accepted.\n" {
		t.Errorf("settle: got %+v", settled)
	}
	line := p.logged(t, "an operator's request")
	by, _ := line["by"].(string)
	if want := "unix uid " + strconv.Itoa(os.Getuid()) + " pid "; !strings.HasPrefix(by, want) {
		t.Errorf("the log says that it was %q, want %q", by, want)
	}
	if listed := command(t, env, "doubts"); listed.code != 0 || listed.stdout != "Nothing is in doubt.\n" {
		t.Errorf("doubts when it is settled: got %+v", listed)
	}
	if again := command(t, env, "settle", n, "--as", "rejected"); again.code != exitFailed || !strings.Contains(again.stderr, n+": ") {
		t.Errorf("settle again: got %+v, want exit code 1", again)
	}

	c, _ := bound(t, p.ready(t))
	if _, err := c.Write(frame(submitSM, 0, 9, referredBody)); err != nil {
		t.Fatal(err)
	}
	if _, status, sequence, err := next(c); err != nil || status != 0 || sequence != 9 {
		t.Errorf("the repeat: status %#x, sequence %d, error %v; want it answered", status, sequence, err)
	}
	if got := len(center.Received()); got != 1 {
		t.Errorf("the SMSC got %d submissions, want 1", got)
	}

	for _, id := range []string{"77", "order-1"} {
		story := command(t, env, "explain", id)
		for _, want := range []string{n + ": message of", "accepted", "(operator)", `message id "77"`, "sequence number 8: forward (new), not answered", "sequence number 9: replay (accepted), answered"} {
			if story.code != 0 || !strings.Contains(story.stdout, want) {
				t.Errorf("explain %s: got %+v, want %q", id, story, want)
			}
		}
		if strings.Contains(story.stdout, "491700000002") || strings.Contains(story.stdout, "hello") {
			t.Errorf("explain %s tells a number or a text:\n%s", id, story.stdout)
		}
	}
	if unknown := command(t, env, "explain", "no-such-id"); unknown.code != exitFailed || unknown.stdout != "" || !strings.Contains(unknown.stderr, `"no-such-id"`) {
		t.Errorf("explain of what is unknown: got %+v, want exit code 1", unknown)
	}
	for _, args := range [][]string{{"doubts", "--json"}, {"explain", "77", "--json"}} {
		var list []map[string]any
		if got := command(t, env, args...); got.code != 0 || json.Unmarshal([]byte(got.stdout), &list) != nil {
			t.Errorf("%v: got %+v, want JSON", args, got)
		}
	}
}

func TestWhatAnOperatorReleasesIsSentAgain(t *testing.T) {
	p, control, center := doubtful(t, "SMPPONCE_DEDUP_ON_IN_DOUBT=refuse")
	listed := command(t, nil, "doubts", "--control", control)
	if !strings.Contains(listed.stdout, "repeats are sent back until it is settled") {
		t.Errorf("doubts under refuse: got %+v", listed)
	}
	if got := command(t, nil, "settle", number(t, listed.stdout), "--as", "released", "--control", control); got.code != 0 {
		t.Errorf("settle: got %+v", got)
	}
	if listed := command(t, nil, "doubts", "--control", control); !strings.Contains(listed.stdout, "the next repeat is sent to the SMSC again") {
		t.Errorf("doubts when it is released: got %+v", listed)
	}
	c, _ := bound(t, p.ready(t))
	if _, err := c.Write(frame(submitSM, 0, 9, referredBody)); err != nil {
		t.Fatal(err)
	}
	if _, status, _, err := next(c); err != nil || status != 0 {
		t.Errorf("the repeat: status %#x, error %v; want it accepted", status, err)
	}
	if got := len(center.Received()); got != 2 {
		t.Errorf("the SMSC got %d submissions, want 2", got)
	}
}

func TestTheControlAddressIsFoundByFlagFileOrEnvironment(t *testing.T) {
	p := start(t, "SMPPONCE_ADMIN_CONTROL=127.0.0.1:0")
	address, _ := p.logged(t, "control address")["address"].(string)
	p.ready(t)
	unfinished := file(t, "smpponce.yaml", "admin: {control: \""+address+"\"}\ndedup: {window: 5}\n") // of the others none matters
	for name, got := range map[string]result{
		"flag":                      command(t, []string{"SMPPONCE_ADMIN_CONTROL=unix:/nowhere"}, "doubts", "--control", address),
		"environment":               command(t, []string{"SMPPONCE_ADMIN_CONTROL=" + address}, "doubts"),
		"file":                      command(t, nil, "doubts", "--config", unfinished),
		"environment over the file": command(t, []string{"SMPPONCE_ADMIN_CONTROL=" + address}, "doubts", "--config", file(t, "f.yaml", "admin: {control: \"unix:/nowhere\"}")),
		"in spite of a proxy":       command(t, []string{"SMPPONCE_ADMIN_CONTROL=" + address, "HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1"}, "doubts"),
	} {
		if got.code != 0 || got.stdout != "Nothing is in doubt.\n" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestWrongUseOfTheOperatorsCommandsIsToldApartFromFailure(t *testing.T) {
	p := start(t)
	admin, _ := p.logged(t, "admin address")["address"].(string)
	nowhere := "unix:/nowhere/control.sock"
	for _, c := range []struct {
		args, env string
		code      int
		says      string
	}{
		{"doubts", "", exitUsage, "admin.control is not set"},
		{"doubts", "ADMIN_CONTROL=:9551", exitUsage, "SMPPONCE_ADMIN_CONTROL: admin.control: \":9551\" can be reached from other hosts"},
		{"doubts --control 10.0.0.1:9551", "", exitUsage, "--control: \"10.0.0.1:9551\" can be reached"},
		{"doubts --config /nowhere/smpponce.yaml", "", exitUsage, "--config /nowhere/smpponce.yaml cannot be read"},
		{"doubts 7", "", exitUsage, "7"},
		{"settle --as accepted", "", exitUsage, "id"},
		{"settle seven --as accepted", "", exitUsage, "seven"},
		{"settle 7", "", exitUsage, "--as"},
		{"settle 7 --as lost", "", exitUsage, "--as"},
		{"settle 7 --as rejected --message-id 77 --control " + nowhere, "", exitUsage, "--message-id"},
		{"explain", "", exitUsage, "id"},
		{"doubts --control " + nowhere, "", exitFailed, "no such file or directory"},
		{"settle 7 --as accepted --control " + nowhere, "", exitFailed, nowhere},
		{"explain 77", "ADMIN_CONTROL=" + nowhere, exitFailed, nowhere},
		{"doubts --control " + admin, "", exitFailed, "is not smpponce's control address"},
	} {
		var env []string
		if c.env != "" {
			env = []string{"SMPPONCE_" + c.env}
		}
		got := command(t, env, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.says) || got.stdout != "" {
			t.Errorf("smpponce %s %s: got %+v, want exit code %d and %q on standard error", c.args, c.env, got, c.code, c.says)
		}
	}
}

func TestServeKeepsItsControlSocketToItselfAndReplacesOneLeftBehind(t *testing.T) {
	path := socketPath(t)
	control := "SMPPONCE_ADMIN_CONTROL=unix:" + path
	killed := start(t, control)
	killed.ready(t)
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("socket: %v, %v, want srw-------", info, err)
	}
	if code, log := start(t, control).exit(t); code != exitFailed || !strings.Contains(log, "admin.control") {
		t.Errorf("a second process: exit code %d, want 1 and admin.control in its log:\n%s", code, log)
	}
	killed.signal(t, syscall.SIGKILL)
	killed.exit(t)
	p := start(t, control)
	p.ready(t)
	if got := command(t, []string{control}, "doubts"); got.code != 0 {
		t.Errorf("after a kill: got %+v", got)
	}
	p.signal(t, syscall.SIGTERM)
	p.exit(t)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after SIGTERM the socket is still there: %v", err)
	}
}

func TestTheControlAddressSaysThatTheLedgerIsStillOpening(t *testing.T) {
	path := "SMPPONCE_LEDGER_PATH=" + filepath.Join(t.TempDir(), "ledger")
	start(t, path).ready(t)
	control := "SMPPONCE_ADMIN_CONTROL=unix:" + socketPath(t)
	start(t, path, control).logged(t, "control address")
	if got := command(t, []string{control}, "doubts"); got.code != exitFailed || !strings.Contains(got.stderr, "still being opened") {
		t.Errorf("got %+v, want exit code 1 and why", got)
	}
}
