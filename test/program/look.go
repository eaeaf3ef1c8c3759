package program

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Logged waits for a line in the log of this run that holds all the words, and gives it. It fails where the process ends before.
func (p *Program) Logged(words ...string) string {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		running := p.Running() // asked before the lines: what is there at its end counts
		p.mu.Lock()
		lines, changed := p.lines[p.first:], p.changed
		p.mu.Unlock()
		if i := slices.IndexFunc(lines, func(l string) bool { return holds(l, words) }); i >= 0 {
			return lines[i]
		}
		if !running {
			p.t.Fatalf("the proxy ended without a line that holds %q:\n%s", words, p.Tail(20))
		}
		select {
		case <-changed:
		case <-deadline:
			p.t.Fatalf("no line of the log holds %q:\n%s", words, p.Tail(20))
		}
	}
}

// Field waits for a line with this message in the log of this run and gives one of its fields.
func (p *Program) Field(message, name string) string {
	p.t.Helper()
	line := p.Logged(fmt.Sprintf(`"msg":%q`, message))
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		p.t.Fatalf("log line %s: %v", line, err)
	}
	return fmt.Sprint(fields[name])
}

// Count is the number of lines, of all runs, that hold all the words.
func (p *Program) Count(words ...string) (n int) {
	for _, l := range p.Lines() {
		if holds(l, words) {
			n++
		}
	}
	return n
}

// Lines are the log of all runs.
func (p *Program) Lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

// Tail is the end of the log.
func (p *Program) Tail(n int) string {
	lines := p.Lines()
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func holds(line string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

// Get asks the admin address, once the process serves it.
func (p *Program) Get(path string) (status int, body string) {
	p.t.Helper()
	client := http.Client{Timeout: patience}
	r, err := client.Get("http://" + p.Field("admin address", "address") + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// Metric is the sum of a metric over its labels, or over those that hold all the words.
func (p *Program) Metric(name string, labels ...string) (sum float64) {
	p.t.Helper()
	_, body := p.Get("/metrics")
	for line := range strings.Lines(body) {
		head, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		bare, _, _ := strings.Cut(head, "{")
		if !ok || bare != name || !holds(head, labels) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			p.t.Fatalf("metric line %q: %v", line, err)
		}
		sum += v
	}
	return sum
}
