package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"smpponce/config"
	"smpponce/ledger"
	"smpponce/proxy"
)

// readme gives the text of README.md after the line with a marker.
func readme(t *testing.T, marker string) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatalf("README.md cannot be read: %v", err)
	}
	_, after, ok := strings.Cut(string(text), "\n"+marker+"\n")
	if !ok {
		t.Fatalf("README.md has no line %s", marker)
	}
	return after
}

func TestTheSettingsInTheREADMEAreAllSettingsWithTheirDefaults(t *testing.T) {
	_, block, ok := strings.Cut(readme(t, "<!-- settings -->"), "```yaml\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatal("README.md has no ```yaml block after <!-- settings -->")
	}
	told, _, err := config.Load(config.Sources{File: []byte(block), FileName: "README.md, settings"})
	if err != nil {
		t.Fatalf("README.md tells settings that are refused:\n%v", err)
	}
	// These two have no default to tell; what stands there is an example.
	told.Upstream.Addresses, told.Accounts = []string{}, nil
	if diff := cmp.Diff(config.Default(), told); diff != "" {
		t.Errorf("README.md tells other defaults (-default +README):\n%s", diff)
	}

	all := config.Default()
	text, err := all.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys(t, text), keys(t, []byte(block))); diff != "" {
		t.Errorf("README.md does not tell exactly the settings that exist (-exists +README):\n%s", diff)
	}
}

// keys lists the paths of the settings in a file, without those of accounts.
func keys(t *testing.T, file []byte) []string {
	t.Helper()
	var tree map[string]any
	if err := yaml.Unmarshal(file, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "accounts")
	var paths []string
	var walk func(prefix string, section map[string]any)
	walk = func(prefix string, section map[string]any) {
		for key, value := range section {
			if below, ok := value.(map[string]any); ok {
				walk(prefix+key+".", below)
				continue
			}
			paths = append(paths, prefix+key)
		}
	}
	walk("", tree)
	sort.Strings(paths)
	return paths
}

var (
	described   = regexp.MustCompile(`fqName: "(smpponce_[a-z_]+)".*constLabels: \{(.*?)\}, variableLabels: \{(.*?)\}`)
	inTable     = regexp.MustCompile("^\\| *`(smpponce_[a-z_]+)(?:\\{([a-z_, ]*)\\})?`")
	constLabels = regexp.MustCompile(`([a-z_]+)="`)
)

func TestTheMetricsInTheREADMEAreAllMetricsWithTheirLabels(t *testing.T) {
	told := map[string]string{}
	for line := range strings.Lines(readme(t, "<!-- metrics -->")) {
		if m := inTable.FindStringSubmatch(line); m != nil {
			told[m[1]] = labels(strings.Split(m[2], ","))
		} else if strings.HasPrefix(line, "#") {
			break // the next heading
		}
	}
	if len(told) == 0 {
		t.Fatal("README.md has no table of metrics, | `smpponce_…{labels}` | …, after <!-- metrics -->")
	}
	if diff := cmp.Diff(exposed(t), told); diff != "" {
		t.Errorf("README.md does not tell exactly the metrics and labels that exist (-exists +README):\n%s", diff)
	}
}

// exposed lists what can come to stand under /metrics, with its labels. (A scrape shows a metric with labels only once it has
// counted something, so what is registered is asked instead.)
func exposed(t *testing.T) map[string]string {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{Env: []string{
		"SMPPONCE_UPSTREAM_ADDRESSES=127.0.0.1:1",
		"SMPPONCE_LEDGER_PATH=" + filepath.Join(t.TempDir(), "ledger"),
		"SMPPONCE_LEDGER_MIN_FREE=64MiB",
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen := &recorder{Registerer: newRegistry()}
	book, err := ledger.Open(context.Background(), ledgerOptions(&cfg, zap.NewNop(), seen))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = book.Close() })
	options, err := proxyOptions(&cfg, book, zap.NewNop(), seen)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proxy.New(options); err != nil {
		t.Fatal(err)
	}

	metrics := map[string]string{"smpponce_build_info": labels([]string{"version", "revision", "go"})}
	for _, d := range seen.descriptions {
		m := described.FindStringSubmatch(d)
		if m == nil {
			t.Errorf("%s is no metric of the form smpponce_…", d)
			continue
		}
		names := strings.Split(m[3], ",")
		for _, c := range constLabels.FindAllStringSubmatch(m[2], -1) {
			names = append(names, c[1])
		}
		metrics[m[1]] = labels(names)
	}
	return metrics
}

func labels(names []string) string {
	var kept []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" {
			kept = append(kept, n)
		}
	}
	sort.Strings(kept)
	return strings.Join(kept, ",")
}

// recorder notes what is registered.
type recorder struct {
	prometheus.Registerer
	mu           sync.Mutex
	descriptions []string // guarded by mu
}

func (r *recorder) Register(c prometheus.Collector) error {
	found := make(chan *prometheus.Desc)
	go func() {
		c.Describe(found)
		close(found)
	}()
	for d := range found {
		r.mu.Lock()
		r.descriptions = append(r.descriptions, fmt.Sprint(d))
		r.mu.Unlock()
	}
	return r.Registerer.Register(c)
}

func (r *recorder) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		if err := r.Register(c); err != nil {
			panic(err)
		}
	}
}
