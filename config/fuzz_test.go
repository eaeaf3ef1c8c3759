package config

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// Whatever the file and the environment hold: there is no panic; what is refused is told in plain lines; and what is
// accepted prints as a file that gives the same settings.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(upstream), "SMPPONCE_DEDUP_WINDOW=24h")
	f.Add([]byte(upstream+"accounts:\n  - {system_id: 0123, dedup: {request_id_tlvs: [0x1402]}}\n"), "SMPPONCE_LEDGER_PATH=a: b #")
	f.Add([]byte("listen: {max_pdu_size: 1e5KiB, tls: {cert_file: |\n a\n}}"), "SMPPONCE_LEDGER_MAX_BYTES=1.5GiB")
	f.Add([]byte("? [a]\n: {<<: *x}\n"), "SMPPONCE_DEDUP_REQUEST_ID_TLVS=,0x1")
	f.Add([]byte("%YAML 1.2\n--- !t\nlog: &a {level: ~}\n...\n"), "")
	printed := Default()
	text, err := printed.YAML()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, "SMPPONCE_UPSTREAM_ADDRESSES=[::1]:1,b:2")
	f.Fuzz(func(t *testing.T, file []byte, variable string) {
		c, warnings, err := Load(Sources{File: file, Env: []string{variable}})
		for _, w := range warnings {
			plain(t, w.String())
		}
		if err != nil {
			var faults Faults
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("%T is no list of faults", err)
			}
			for _, fault := range faults {
				plain(t, fault.String())
			}
			return
		}
		text, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Load(Sources{File: text})
		if err != nil {
			t.Fatalf("its own print is refused: %v\n%s", err, text)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("(-first +again):\n%s\n%s", diff, text)
		}
	})
}

func plain(t *testing.T, line string) {
	if strings.ContainsFunc(line, unicode.IsControl) {
		t.Errorf("%q is not one plain line", line)
	}
}
