package test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/parser"

	"smpponce/config"
)

var variable = regexp.MustCompile(`- name: (SMPPONCE_\w+)\n +value: (\S+)`)

func TestTheKubernetesExampleIsYAMLAndItsSettingsAreAccepted(t *testing.T) {
	text, err := os.ReadFile("../deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseBytes(text, 0); err != nil {
		t.Error(err)
	}
	_, after, ok := strings.Cut(string(text), "  smpponce.yaml: |\n")
	settings, _, end := strings.Cut(after, "\n---\n")
	if !ok || !end {
		t.Fatal("there is no smpponce.yaml in it")
	}
	var env []string
	for _, v := range variable.FindAllStringSubmatch(after, -1) {
		env = append(env, v[1]+"="+v[2])
	}
	if !slices.Contains(env, "SMPPONCE_ADMIN_CONTROL=unix:/run/smpponce/control.sock") {
		t.Errorf("its environment is %v, without the control address that its text tells of", env)
	}
	if _, warnings, err := config.Load(config.Sources{File: []byte(settings), Env: env}); err != nil || len(warnings) > 0 {
		t.Errorf("its settings give %v, %v", warnings, err)
	}
}
