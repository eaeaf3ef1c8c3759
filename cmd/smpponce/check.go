package main

import (
	"fmt"

	"smpponce/config"
)

// checkCmd is `smpponce check`: it loads the settings as serve does, opens no address and no ledger, and prints them in full as a file that
// serve would take. There is no secret in them.
type checkCmd struct {
	settingsFlags
}

// Run checks and prints.
func (c *checkCmd) Run(env environment, out output) error {
	cfg, warnings, err := c.load(env)
	printWarnings(out, warnings)
	if err == nil {
		err = checkTLSFiles(&cfg)
	}
	if err != nil {
		return err
	}
	text, err := cfg.YAML()
	if err != nil {
		return err
	}
	_, err = out.stdout.Write(text)
	return err
}

func printWarnings(out output, warnings []config.Warning) {
	for _, w := range warnings {
		fmt.Fprintf(out.stderr, "smpponce: warning: %v\n", w)
	}
}
