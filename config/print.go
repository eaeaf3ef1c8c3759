package config

import (
	"time"

	"github.com/goccy/go-yaml"
)

// YAML gives the settings in full, as a file that Load reads back to the same settings. There is no secret to leave out:
// keys and certificates are given as paths, which Load makes sure of, and passwords never are settings.
func (c *Config) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(c, yaml.CustomMarshaler(func(d time.Duration) ([]byte, error) {
		return []byte(durationText(d)), nil
	}))
}
