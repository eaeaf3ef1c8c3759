package main

import (
	"fmt"
	"os"
	"path/filepath"

	"smpponce/config"
)

// settingsFlags are the flags of all commands that need the settings.
type settingsFlags struct {
	Config   string  `help:"YAML file with settings. Environment (SMPPONCE_…) and flags win over it." placeholder:"FILE"`
	Listen   *string `help:"Address to accept clients on (listen.address)." placeholder:"HOST:PORT"`
	Upstream *string `help:"Addresses of the SMSC, with commas (upstream.addresses)." placeholder:"HOST:PORT,…"`
	Ledger   *string `help:"Directory of the ledger (ledger.path)." placeholder:"DIR"`
	Admin    *string `help:"Address of /metrics, /healthz and /readyz (admin.address)." placeholder:"HOST:PORT"`
	LogLevel *string `help:"debug, info, warn or error (log.level)." placeholder:"LEVEL"`
}

// load gives the settings that file, environment and flags result in. Its errors are usage errors or config.Faults.
func (f *settingsFlags) load(env environment) (config.Config, []config.Warning, error) {
	sources := config.Sources{FileName: filepath.Base(f.Config), Env: env, Flags: map[string]string{}}
	for name, value := range map[string]*string{
		"listen": f.Listen, "upstream": f.Upstream, "ledger": f.Ledger, "admin": f.Admin, "log-level": f.LogLevel,
	} {
		if value != nil {
			sources.Flags[name] = *value
		}
	}
	if f.Config != "" {
		text, err := os.ReadFile(f.Config)
		if err != nil {
			return config.Config{}, nil, usageError{fmt.Errorf("--config %s cannot be read (%w): name a YAML file with settings, or leave the flag out",
				f.Config, cause(err))}
		}
		sources.File = text
	}
	return config.Load(sources)
}
