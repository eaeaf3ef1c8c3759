package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"smpponce/config"
	"smpponce/ledger"
)

// The control address lets an operator see what is in doubt, settle it, and read a message's story: HTTP with JSON, on a unix
// socket or a loopback address.
//
//	GET  /doubts             what is in doubt, the oldest first
//	POST /doubts/{number}    settles one: {"as": "accepted" | "rejected" | "released", "message_id": "…"}
//	GET  /explain?id=…       the stories of all messages with that id
//
// What goes wrong is answered as {"error": "…"}.

// operable is what operators do with the ledger.
type operable interface {
	Doubts(ctx context.Context) ([]ledger.Story, error)
	Resolve(ctx context.Context, n ledger.Number, as ledger.Resolution, messageID []byte) error
	Explain(ctx context.Context, id string) ([]ledger.Story, error)
	Now() ledger.Time
}

const (
	maxControlRequests = 4       // carried out at a time; more of them wait, and are sent away when their time is over
	maxControlBody     = 4 << 10 // bytes

	// How long a request may take. To explain an id the whole store may have to be read.
	answerWithin  = 15 * time.Second
	explainWithin = 60 * time.Second
)

// control serves the control address. Any goroutine may use it.
type control struct {
	policyOf func(account string) ledger.Policy
	log      *zap.Logger
	slots    chan struct{}
	desk     atomic.Pointer[desk]
}

// desk is where requests go: the ledger, or why there is none.
type desk struct {
	ledger operable
	why    string
}

func newControl(policyOf func(string) ledger.Policy, log *zap.Logger) *control {
	c := &control{policyOf: policyOf, log: log, slots: make(chan struct{}, maxControlRequests)}
	c.desk.Store(&desk{why: "the ledger is still being opened: try again in a moment"})
	return c
}

// attach gives the control address the ledger, which is nil where none is kept.
func (c *control) attach(book *ledger.Ledger) {
	if book == nil {
		c.desk.Store(&desk{why: "no ledger is kept, since dedup.mode is off"})
		return
	}
	c.desk.Store(&desk{ledger: book})
}

func (c *control) server() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /doubts", c.route(answerWithin, c.doubts))
	mux.HandleFunc("POST /doubts/{number}", c.route(answerWithin, c.settle))
	mux.HandleFunc("GET /explain", c.route(explainWithin, c.explain))
	mux.HandleFunc("/", c.route(answerWithin, func(*http.Request, operable) (any, error) {
		return nil, refusal{http.StatusNotFound, "there is GET /doubts, POST /doubts/{number} and GET /explain?id=…, and nothing else"}
	}))
	return httpServer(mux, c.log, explainWithin+answerWithin, withPeer)
}

// refusal is an error with its HTTP status.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// action answers one kind of request. What it returns beside an error tells the log what was asked for.
type action func(r *http.Request, l operable) (any, error)

// route makes a handler of an action. Each POST is logged, whatever comes of it, and above what log.level may leave out.
func (c *control) route(within time.Duration, act action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), within)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxControlBody)
		result, err := c.act(r.WithContext(ctx), act)
		status, body := http.StatusOK, result
		if err != nil {
			status, body = statusOf(err), failure{explained(err)}
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			path := r.URL.EscapedPath()
			c.log.Warn("an operator's request", zap.String("by", peerOf(r)), zap.String("method", r.Method), zap.String("path", path[:min(len(path), 100)]),
				zap.Any("word", result), zap.Int("status", status), zap.Error(err))
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(status)
		writeJSON(w, body)
	}
}

func (c *control) act(r *http.Request, act action) (any, error) {
	if err := ours(r); err != nil {
		return nil, err
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-r.Context().Done():
		return nil, refusal{http.StatusServiceUnavailable, "too many requests are being carried out, so nothing was done about this one: try again"}
	}
	d := c.desk.Load()
	if d.ledger == nil {
		return nil, refusal{http.StatusServiceUnavailable, d.why}
	}
	return act(r, d.ledger)
}

// ours refuses what a page in a browser on this host may have sent. Its requests carry an Origin, or where they fetch an image or the
// like, Sec-Fetch-Site (W3C Fetch Metadata; "none" is an address that the user typed); where its own name was made to point to this
// address they carry that name; and a POST without the others' consent has one of the types of forms.
func ours(r *http.Request) error {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	site := r.Header.Get("Sec-Fetch-Site")
	switch mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case len(r.Header.Values("Origin")) > 0:
		return refusal{http.StatusForbidden, "a request with an Origin comes from a web page"}
	case site != "" && site != "none":
		return refusal{http.StatusForbidden, "a request with this Sec-Fetch-Site comes from a web page"}
	case !config.IsLoopback(host):
		return refusal{http.StatusForbidden, "the Host is neither localhost nor a loopback address"}
	case r.Method == http.MethodPost && (err != nil || mediaType != "application/json"):
		return refusal{http.StatusUnsupportedMediaType, "the Content-Type is not application/json"}
	}
	return nil
}

func (c *control) doubts(r *http.Request, l operable) (any, error) {
	stories, err := l.Doubts(r.Context())
	return c.tell(stories, l.Now()), err
}

func (c *control) explain(r *http.Request, l operable) (any, error) {
	id := r.URL.Query().Get("id")
	if id == "" {
		return nil, refusal{http.StatusBadRequest, "there is no id: ask for /explain?id=…, a message id, a request id or a request key"}
	}
	stories, err := l.Explain(r.Context(), id)
	return c.tell(stories, l.Now()), err
}

// word is what an operator says of one record, and settlement of which.
type word struct {
	As        string `json:"as"`
	MessageID string `json:"message_id,omitempty"`
}

type settlement struct {
	Number ledger.Number `json:"number"`
	word
}

var resolutions = map[string]ledger.Resolution{}

func init() {
	for _, r := range []ledger.Resolution{ledger.ResolveAccepted, ledger.ResolveRejected, ledger.ResolveReleased} {
		resolutions[r.String()] = r
	}
}

func (c *control) settle(r *http.Request, l operable) (any, error) {
	n, err := strconv.ParseUint(r.PathValue("number"), 10, 64)
	if err != nil {
		return nil, refusal{http.StatusNotFound, "the number of a record in doubt is a whole number: GET /doubts lists them"}
	}
	s := settlement{Number: ledger.Number(n)}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s.word); err != nil {
		return nil, refusal{http.StatusBadRequest, "the body is no {\"as\": \"accepted\", \"message_id\": \"…\"}: " + err.Error()}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, refusal{http.StatusBadRequest, "the body is more than one object"}
	}
	as, ok := resolutions[s.As]
	if !ok {
		return s, refusal{http.StatusBadRequest, "\"as\" is none of accepted, rejected and released"}
	}
	return s, l.Resolve(r.Context(), s.Number, as, []byte(s.MessageID))
}

// statusOf and explained tell an error to the one who asked.
func statusOf(err error) int {
	var r refusal
	switch {
	case errors.As(err, &r):
		return r.status
	case errors.Is(err, ledger.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, ledger.ErrNotInDoubt):
		return http.StatusConflict
	case errors.Is(err, ledger.ErrMessageID):
		return http.StatusUnprocessableEntity
	case errors.Is(err, ledger.ErrUnwritable), errors.Is(err, ledger.ErrClosed):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

func explained(err error) string {
	switch statusOf(err) {
	case http.StatusGatewayTimeout:
		return "no answer from the ledger in time; whether anything was done is not known: look again"
	case http.StatusInternalServerError:
		return fmt.Sprintf("the ledger failed; what was asked for may be lost in a restart: %v", err)
	}
	return err.Error()
}

type failure struct {
	Error string `json:"error"`
}

func writeJSON(w io.Writer, v any) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	// Who asked may have gone; there is nobody else to tell.
	_ = encoder.Encode(v)
}
