// Package test holds what is checked across packages; the folders below it hold the peers and scenarios.
package test

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "smpponce"

// rules tells, for the packages of the program, which packages of ours and which libraries they may import, directly or
// through one another. The standard library is free to all.
var rules = map[string]struct{ ours, libraries []string }{
	"pdu": {
		libraries: []string{"github.com/linxGnu/gosmpp"},
	},
	"ledger": {
		libraries: []string{"github.com/dgraph-io/badger", "github.com/dustin/go-humanize", "github.com/prometheus/client_golang",
			"go.uber.org/zap", "golang.org/x/sys"},
	},
	"config": {
		libraries: []string{"github.com/goccy/go-yaml", "github.com/dustin/go-humanize"},
	},
	"proxy": {
		ours: []string{"pdu", "ledger"},
		libraries: []string{"github.com/linxGnu/gosmpp", "github.com/pires/go-proxyproto", "github.com/prometheus/client_golang",
			"go.uber.org/zap", "golang.org/x/sys"},
	},
}

// Test peers that used our own view of a frame would find it right whatever it did.
var peers = []string{"test/smsc", "test/esme", "test/wire", "test/corpus"}

// goPackage is what `go list -json` tells of a package.
type goPackage struct {
	ImportPath string
	Imports    []string // of the files that are no tests
	Deps       []string // of those, through any number of packages
}

func list(t *testing.T) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	packages := map[string]goPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, module+"/")] = p
	}
	return packages
}

// ours gives the folder of a package of this module.
func ours(importPath string) (folder string, ok bool) {
	return strings.CutPrefix(importPath, module+"/")
}

func isLibrary(importPath string) bool {
	host, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(host, ".")
}

func TestPackagesImportOnlyWhatTheirPlaceAllows(t *testing.T) {
	packages := list(t)
	for folder, rule := range rules {
		p, ok := packages[folder]
		if !ok {
			t.Errorf("there is no package %s", folder)
		}
		for _, d := range p.Deps {
			if dep, is := ours(d); is && !slices.Contains(rule.ours, dep) {
				t.Errorf("%s depends on %s, which it may not", folder, dep)
			}
		}
		for _, i := range p.Imports {
			allowed := slices.ContainsFunc(rule.libraries, func(l string) bool { return i == l || strings.HasPrefix(i, l+"/") })
			if isLibrary(i) && !allowed {
				t.Errorf("%s imports %s, which it may not", folder, i)
			}
		}
	}
}

func TestNothingImportsTheCommand(t *testing.T) {
	for folder, p := range list(t) {
		for _, i := range p.Imports {
			if strings.HasPrefix(i, module+"/cmd/") {
				t.Errorf("%s imports %s", folder, i)
			}
		}
	}
}

func TestTestPeersReadFramesWithCodeOfTheirOwn(t *testing.T) {
	packages := list(t)
	for _, folder := range peers {
		if p, ok := packages[folder]; ok && slices.Contains(p.Deps, module+"/pdu") {
			t.Errorf("%s depends on pdu", folder)
		}
	}
}

// Tests are read too: go list tells of them only what the host's build tags choose.
func TestTestsKeepTheImportRules(t *testing.T) {
	for folder, rule := range rules {
		files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, spec := range parsed.Imports {
				i, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				dep, is := ours(i)
				if is && dep != folder && !slices.Contains(rule.ours, dep) && !strings.HasPrefix(dep, "test/") {
					t.Errorf("%s imports %s, which %s may not", path, i, folder)
				}
			}
		}
	}
}

func TestTheTopLevelHoldsWhatBelongsThereAndNothingElse(t *testing.T) {
	allowed := []string{
		"cmd", "config", "deploy", "ledger", "pdu", "proxy", "test",
		"CHANGELOG.md", "Dockerfile", "LICENSE", "README.md", "go.mod", "go.sum",
	}
	// Only what git tracks counts, so that a ledger or a binary left by a run is nobody's fault; a copy of the sources
	// without git has nothing but them.
	for _, name := range topLevel(t) {
		if !strings.HasPrefix(name, ".") && !slices.Contains(allowed, name) {
			t.Errorf("%s has no place at the top level", name)
		}
	}
}

func topLevel(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-tree", "--name-only", "HEAD")
	cmd.Dir = ".."
	if out, err := cmd.Output(); err == nil {
		return strings.Fields(string(out))
	}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNoPackageIsADrawer(t *testing.T) {
	drawers := []string{"util", "utils", "common", "types", "helper", "helpers", "misc", "shared", "internal"}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if name := d.Name(); name == "node_modules" || strings.HasPrefix(name, ".") && name != ".." {
			return filepath.SkipDir
		}
		if slices.Contains(drawers, d.Name()) {
			t.Errorf("%s: name the folder for what is in it", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
