package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"smpponce/ledger"
)

// fakeLedger answers as it is told, and notes what was resolved.
type fakeLedger struct {
	stories  []ledger.Story
	err      error
	resolved []string
	entered  chan struct{}
	leave    chan struct{}
}

func (f *fakeLedger) Doubts(ctx context.Context) ([]ledger.Story, error) {
	if f.entered != nil {
		f.entered <- struct{}{}
		<-f.leave
	}
	return f.stories, f.err
}

func (f *fakeLedger) Resolve(_ context.Context, n ledger.Number, as ledger.Resolution, id []byte) error {
	f.resolved = append(f.resolved, fmt.Sprintf("%d %s %q", n, as, id))
	return f.err
}

func (f *fakeLedger) Explain(context.Context, string) ([]ledger.Story, error) {
	return f.stories, f.err
}
func (f *fakeLedger) Now() ledger.Time { return 0 }

// desked gives a control address with this ledger behind it, and its log.
func desked(f operable) (http.Handler, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.WarnLevel) // who said what is told at any level but error
	c := newControl(func(string) ledger.Policy { return ledger.Policy{} }, zap.New(core))
	if f != nil {
		c.desk.Store(&desk{ledger: f})
	}
	return c.server().Handler, logs
}

// asked is a request as an operator's tool sends it.
func asked(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:9551"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// served gives status and body of the answer, which is JSON whatever it is.
func served(t *testing.T, h http.Handler, r *http.Request) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); got != "application/json" || !json.Valid(w.Body.Bytes()) {
		t.Errorf("%s %s: got %s %q, want JSON", r.Method, r.URL, got, w.Body)
	}
	return w.Code, w.Body.String()
}

func TestAPageInABrowserCannotUseTheControlAddress(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"another site's script":               {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"a script without an origin":          {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"an image of another site":            {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"an image of another port":            {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"an empty origin":                     {func(r *http.Request) { r.Header["Origin"] = []string{""} }, 403},
		"a name that points to this host":     {func(r *http.Request) { r.Host = "evil.example:9551" }, 403},
		"a name that begins as localhost":     {func(r *http.Request) { r.Host = "localhost.evil.example" }, 403},
		"no host":                             {func(r *http.Request) { r.Host = "" }, 403},
		"a form":                              {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"a form that says it is JSON, nearly": {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain; application/json") }, 415},
		"no type":                             {func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
	} {
		f := &fakeLedger{}
		h, logs := desked(f)
		r := asked("POST", "/doubts/7", `{"as":"rejected"}`)
		c.change(r)
		if got, body := served(t, h, r); got != c.want || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: got %d %s, want %d and an error", name, got, body, c.want)
		}
		if len(f.resolved) > 0 {
			t.Errorf("%s: settled %v", name, f.resolved)
		}
		if logs.Len() != 1 {
			t.Errorf("%s: %d lines in the log, want one of the attempt", name, logs.Len())
		}
	}
	for _, host := range []string{"127.0.0.1:9551", "localhost:9551", "localhost", "[::1]:9551", "[::1]", "127.8.8.8"} {
		h, _ := desked(&fakeLedger{})
		r := asked("POST", "/doubts/7", `{"as":"rejected"}`)
		r.Host = host
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		r.Header.Set("Sec-Fetch-Site", "none")
		if got, body := served(t, h, r); got != 200 {
			t.Errorf("host %s: got %d %s, want 200", host, got, body)
		}
	}
	for header, value := range map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
		h, _ := desked(&fakeLedger{})
		r := asked("GET", "/doubts", "")
		r.Header.Set(header, value)
		if got, _ := served(t, h, r); got != 403 {
			t.Errorf("a page asks for the doubts with %s: got %d, want 403", header, got)
		}
	}
}

func TestEachRequestOfTheControlAddressHasAFittingStatus(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		err                error
		want               int
		says               string
	}{
		{"GET", "/doubts", "", nil, 200, "[]"},
		{"GET", "/explain?id=77", "", nil, 200, "[]"},
		{"GET", "/explain", "", nil, 400, "there is no id"},
		{"GET", "/doubts", "", ledger.ErrClosed, 503, "closed"},
		{"GET", "/explain?id=77", "", context.DeadlineExceeded, 504, "in time"},
		{"GET", "/", "", nil, 404, "GET /doubts"},
		{"GET", "/doubts/7", "", nil, 404, "GET /doubts"},
		{"POST", "/doubts", "{}", nil, 404, "GET /doubts"},
		{"DELETE", "/doubts/7", "", nil, 404, "GET /doubts"},
		{"POST", "/doubts/7", `{"as":"accepted","message_id":"x"}`, nil, 200, `"number": 7`},
		{"POST", "/doubts/7", `{"as":"rejected"}`, ledger.ErrUnknown, 404, "no live record"},
		{"POST", "/doubts/7", `{"as":"rejected"}`, ledger.ErrNotInDoubt, 409, "not in doubt"},
		{"POST", "/doubts/7", `{"as":"rejected"}`, ledger.ErrMessageID, 422, "message id"},
		{"POST", "/doubts/7", `{"as":"rejected"}`, ledger.ErrUnwritable, 503, "not writable"},
		{"POST", "/doubts/7", `{"as":"rejected"}`, errors.New("disk"), 500, "may be lost"},
		{"POST", "/doubts/7", `{"as":"rejected"}`, fmt.Errorf("x: %w", context.DeadlineExceeded), 504, "not known"},
		{"POST", "/doubts/-7", `{"as":"rejected"}`, nil, 404, "whole number"},
		{"POST", "/doubts/7", `{"as":"lost"}`, nil, 400, "none of"},
		{"POST", "/doubts/7", `{}`, nil, 400, "none of"},
		{"POST", "/doubts/7", `{"as":"rejected","why":"x"}`, nil, 400, "why"},
		{"POST", "/doubts/7", `{"as":"rejected"} {"as":"accepted"}`, nil, 400, "more than one"},
		{"POST", "/doubts/7", `{"as":"` + strings.Repeat("x", maxControlBody) + `"}`, nil, 400, "too large"},
	} {
		f := &fakeLedger{err: c.err}
		h, logs := desked(f)
		got, body := served(t, h, asked(c.method, c.path, c.body))
		if got != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s %s %s with error %v: got %d %s, want %d and %q", c.method, c.path, c.body, c.err, got, body, c.want, c.says)
		}
		wantLines := 1
		if c.method == "GET" {
			wantLines = 0
		}
		if logs.Len() != wantLines {
			t.Errorf("%s %s: %d lines in the log, want %d", c.method, c.path, logs.Len(), wantLines)
		}
		if wantResolved := c.want == 200 && c.method == "POST" || c.err != nil && c.method == "POST"; (len(f.resolved) > 0) != wantResolved {
			t.Errorf("%s %s %s: settled %v, want %v", c.method, c.path, c.body, f.resolved, wantResolved)
		}
	}
}

func TestAnOperatorsWordReachesTheLedgerAsItWasSaidAndTheLog(t *testing.T) {
	f := &fakeLedger{err: ledger.ErrNotInDoubt}
	h, logs := desked(f)
	r := asked("POST", "/doubts/18446744073709551615", `{"as":"accepted","message_id":"a\"b"}`)
	r.RemoteAddr = "127.0.0.1:4711"
	served(t, h, r)
	served(t, h, asked("POST", "/doubts/8", `{"as":"released"}`))
	if diff := cmp.Diff([]string{`18446744073709551615 accepted "a\"b"`, `8 released ""`}, f.resolved); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	line, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(logs.All()[0].Entry, logs.All()[0].Context)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"by":"127.0.0.1:4711"`, `"number":18446744073709551615`, `"as":"accepted"`, `"message_id":"a\"b"`, `"status":409`, "not in doubt"} {
		if !strings.Contains(line.String(), want) {
			t.Errorf("the log lacks %s: %s", want, line)
		}
	}
}

func TestTheControlAddressSaysWhyThereIsNoLedger(t *testing.T) {
	core, _ := observer.New(zapcore.InfoLevel)
	c := newControl(nil, zap.New(core))
	if got, body := served(t, c.server().Handler, asked("GET", "/doubts", "")); got != 503 || !strings.Contains(body, "opened") {
		t.Errorf("while the ledger opens: got %d %s, want 503", got, body)
	}
	c.attach(nil)
	if got, body := served(t, c.server().Handler, asked("GET", "/doubts", "")); got != 503 || !strings.Contains(body, "dedup.mode is off") {
		t.Errorf("without a ledger: got %d %s, want 503", got, body)
	}
}

func TestTheControlAddressCarriesOutOnlySoManyRequestsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeLedger{entered: make(chan struct{}, maxControlRequests+2), leave: make(chan struct{})}
		h, _ := desked(f)
		for range maxControlRequests + 2 {
			go h.ServeHTTP(httptest.NewRecorder(), asked("GET", "/doubts", ""))
		}
		synctest.Wait()
		if got := len(f.entered); got != maxControlRequests {
			t.Errorf("%d were let in, want %d", got, maxControlRequests)
		}
		f.leave <- struct{}{}
		synctest.Wait()
		if got := len(f.entered); got != maxControlRequests+1 {
			t.Errorf("%d were let in when one was done, want one more", got)
		}
		w := httptest.NewRecorder()
		go h.ServeHTTP(w, asked("POST", "/doubts/7", `{"as":"rejected"}`))
		time.Sleep(answerWithin) // the patience of who waits
		synctest.Wait()
		if w.Code != 503 || !strings.Contains(w.Body.String(), "nothing was done") || len(f.resolved) > 0 {
			t.Errorf("who has waited in vain: got %d %s, settled %v; want 503", w.Code, w.Body, f.resolved)
		}
		close(f.leave)
		synctest.Wait()
		if got := len(f.entered); got != maxControlRequests+1 {
			t.Errorf("%d were let in, though the last had given up", got)
		}
	})
}
