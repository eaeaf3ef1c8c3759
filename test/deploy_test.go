package test

import (
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/parser"

	"smpponce/config"
)

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
	if _, warnings, err := config.Load(config.Sources{File: []byte(settings)}); err != nil || len(warnings) > 0 {
		t.Errorf("its settings give %v, %v", warnings, err)
	}
}
