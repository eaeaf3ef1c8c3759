package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// kannel is a bearerbox and a smsbox, with all files in a temporary directory, and the application
// behind them: it asks smsbox to send, and is told by HTTP what became of it.
type kannel struct {
	t           *testing.T
	bearerbox   string // path of the program
	smsbox      string
	dir         string
	sendsms     string // host:port of smsbox
	admin       string // host:port of bearerbox
	boxes       string // host:port of bearerbox, for smsbox
	application string // URL for reports
	running     map[string]*exec.Cmd

	mu      sync.Mutex
	changed chan struct{}
	reports map[string]map[string][]string // by text and Kannel's type of report: message ids
}

// Kannel's types of delivery report.
const (
	delivered = "1"
	failed    = "2"
	taken     = "8"
	refused   = "16"
)

// startKannel runs both boxes against an SMSC address, or skips the test.
func startKannel(t *testing.T, smsc string) *kannel {
	t.Helper()
	k := &kannel{t: t, dir: t.TempDir(), changed: make(chan struct{}), reports: map[string]map[string][]string{}, running: map[string]*exec.Cmd{}}
	for name, path := range map[string]*string{"bearerbox": &k.bearerbox, "smsbox": &k.smsbox} {
		p, err := exec.LookPath(name)
		if errors.Is(err, exec.ErrNotFound) {
			if p = "/usr/sbin/" + name; !exists(p) {
				t.Skipf("Kannel's %s is not installed", name)
			}
		}
		*path = p
	}
	application := httptest.NewServer(http.HandlerFunc(k.report))
	t.Cleanup(application.Close)
	t.Cleanup(func() {
		for name := range k.running {
			k.kill(name)
		}
		if t.Failed() {
			for _, f := range []string{"bearerbox.log", "smsbox.log"} {
				b, _ := os.ReadFile(filepath.Join(k.dir, f))
				t.Logf("%s ends with:\n%s", f, b[max(0, len(b)-3000):])
			}
		}
	})
	k.application = application.URL
	k.configure(smsc)
	k.run("bearerbox")
	k.reachable(k.boxes) // smsbox gives up at once where bearerbox does not listen
	k.run("smsbox")
	k.connected()
	return k
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// configure writes the configuration of both boxes. Window and response timer are Kannel's defaults;
// only the delays before it connects again (10 s) and tries again what it could not write (60 s) are
// shorter.
func (k *kannel) configure(smsc string) {
	k.t.Helper()
	host, port, _ := net.SplitHostPort(smsc)
	ports := free(k.t, 3)
	k.sendsms, k.boxes = ports[0], ports[1]
	_, sendsmsPort, _ := net.SplitHostPort(k.sendsms)
	k.admin = ports[2]
	_, adminPort, _ := net.SplitHostPort(k.admin)
	_, boxPort, _ := net.SplitHostPort(k.boxes)
	text := fmt.Sprintf(`
group = core
admin-port = %[1]s
admin-interface = 127.0.0.1
admin-password = secret
smsbox-port = %[2]s
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
log-file = %[3]s/bearerbox.log
log-level = 0
store-type = file
store-location = %[3]s/store
store-dump-freq = 1
sms-resend-freq = 1
dlr-storage = spool
dlr-spool = %[3]s/dlr

group = smsc
smsc = smpp
smsc-id = proxy
host = %[4]s
port = %[5]s
transceiver-mode = true
smsc-username = kannel
smsc-password = secret
system-type = ""
reconnect-delay = 1
max-pending-submits = 10

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = %[6]s
sendsms-interface = 127.0.0.1
log-file = %[3]s/smsbox.log
log-level = 0

group = sendsms-user
username = app
password = secret
user-allow-ip = 127.0.0.1

group = sms-service
keyword = default
max-messages = 0
text = ""
`, adminPort, boxPort, k.dir, host, port, sendsmsPort)
	if err := os.Mkdir(filepath.Join(k.dir, "dlr"), 0o700); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, "kannel.conf"), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// run starts one of the boxes.
func (k *kannel) run(name string) {
	k.t.Helper()
	path := map[string]string{"bearerbox": k.bearerbox, "smsbox": k.smsbox}[name]
	cmd := exec.Command(path, "-v", "4", filepath.Join(k.dir, "kannel.conf"))
	cmd.Dir = k.dir
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.running[name] = cmd
}

// reachable waits until an address accepts connections.
func (k *kannel) reachable(address string) {
	k.t.Helper()
	ctx := bounded(k.t)
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
		k.pause(ctx, "a box to listen")
	}
}

// connected waits until smsbox has found bearerbox: what it is asked to send before then, it neither sends nor refuses.
func (k *kannel) connected() {
	k.t.Helper()
	for ctx := bounded(k.t); ; k.pause(ctx, "smsbox to find bearerbox") {
		if b, _ := os.ReadFile(filepath.Join(k.dir, "smsbox.log")); bytes.Contains(b, []byte("Connected to bearerbox")) {
			return
		}
	}
}

// pause is for what Kannel tells by no event.
func (k *kannel) pause(ctx context.Context, what string) {
	k.t.Helper()
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
		k.t.Fatalf("waited in vain for %s", what)
	}
}

// kill ends a box with SIGKILL.
func (k *kannel) kill(name string) {
	_ = k.running[name].Process.Kill()
	_ = k.running[name].Wait()
	delete(k.running, name)
}

// report is the application's side of Kannel's delivery reports.
func (k *kannel) report(_ http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.reports[q.Get("m")]
	if of == nil {
		of = map[string][]string{}
		k.reports[q.Get("m")] = of
	}
	of[q.Get("type")] = append(of[q.Get("type")], q.Get("id"))
	close(k.changed)
	k.changed = make(chan struct{})
}

// ids are the message ids in the reports of a type about a message.
func (k *kannel) ids(text, kind string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.reports[text][kind]...)
}

// submit hands n messages to smsbox, which is tried until it listens and bearerbox takes them.
func (k *kannel) submit(n int) {
	k.t.Helper()
	ctx := bounded(k.t)
	for i := 0; i < n; {
		text := fmt.Sprintf("message %d", i)
		q := url.Values{
			"username": {"app"}, "password": {"secret"}, "from": {"Shop"}, "to": {fmt.Sprintf("49151%08d", i)}, "text": {text}, "dlr-mask": {"31"},
			"dlr-url": {k.application + "/?m=" + url.QueryEscape(text) + "&type=%d&id=%F"},
		}
		r, err := http.Get("http://" + k.sendsms + "/cgi-bin/sendsms?" + q.Encode())
		if err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusAccepted {
				i++
				continue
			}
		}
		k.pause(ctx, "smsbox to take messages")
	}
}

// emptied waits until bearerbox has nothing in its store: everything was answered.
func (k *kannel) emptied() {
	k.t.Helper()
	ctx := bounded(k.t)
	for {
		r, err := http.Get("http://" + k.admin + "/status.txt?password=secret")
		if err == nil {
			b, _ := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if strings.Contains(string(b), "store size 0") {
				return
			}
		}
		k.pause(ctx, "bearerbox to have sent everything")
	}
}

// wait returns when cond holds; it is asked again after each report.
func (k *kannel) wait(what string, cond func() bool) {
	k.t.Helper()
	k.waitFor(bounded(k.t), what, cond)
}

func (k *kannel) waitLong(what string, cond func() bool) {
	k.t.Helper()
	k.waitFor(patient(k.t), what, cond)
}

func (k *kannel) waitFor(ctx context.Context, what string, cond func() bool) {
	k.t.Helper()
	for {
		k.mu.Lock()
		changed := k.changed
		k.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			k.t.Fatalf("waited in vain for %s", what)
		}
	}
}
