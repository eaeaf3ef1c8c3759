package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Both are set when a release is built where there is no repository: -ldflags "-X main.version=1.2.3 -X main.commit=…".
var (
	version = "devel"
	commit  = ""
)

// versionCmd is `smpponce version`.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(out output) error {
	_, err := fmt.Fprintf(out.stdout, "smpponce %s (revision %s, %s %s/%s)\n", version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// revision is the commit that the binary was built from, where the build knew it.
func revision() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
