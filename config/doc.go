// Package config holds the settings of smpponce and loads them.
//
// A setting has one path, such as dedup.client_timeout, and one default. It can be given in three places, of which the
// later wins:
//
//  1. the YAML file,
//  2. the environment, as SMPPONCE_ and the path in upper case (SMPPONCE_DEDUP_CLIENT_TIMEOUT), lists with commas,
//  3. a command line flag, for the few that have one (Flags).
//
// The overrides under accounts can be given in the file only. They are laid over the settings that result from all three.
//
// Load is pure: it gets the file's bytes, the environment and the flags, and touches neither disk nor network. It goes on
// after a fault, so that one run tells all of them; Faults names for each the setting, where its value came from (line and
// column, variable or flag), and what to do.
//
// The types below are the only list of settings: paths, environment names and what Config.YAML prints are derived from
// their fields.
package config
