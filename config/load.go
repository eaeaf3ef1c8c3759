package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Sources is where settings come from. Each may be empty.
type Sources struct {
	File     []byte            // contents of the YAML file
	FileName string            // what messages call it
	Env      []string          // NAME=value, as os.Environ gives them; other names than SMPPONCE_… are left alone
	Flags    map[string]string // value by the name of the flag; names other than those in Flags are a mistake of the caller
}

// Flag is a command line flag that sets a setting.
type Flag struct {
	Name    string // without dashes
	Setting string
}

// Flags lists them all.
var Flags = []Flag{
	{"listen", "listen.address"},
	{"upstream", "upstream.addresses"},
	{"ledger", "ledger.path"},
	{"admin", "admin.address"},
	{"log-level", "log.level"},
}

const envPrefix = "SMPPONCE_"

// EnvName gives the environment variable of a setting.
func EnvName(setting string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(setting, ".", "_"))
}

// Load gives the settings that result from all sources. The error is a Faults that lists everything wrong with them; the
// Config is to be used only without one.
func Load(s Sources) (Config, []Warning, error) {
	cfg := Default()
	l := loader{fileName: s.FileName, origins: map[string]string{}, broken: map[string]bool{}}
	if l.fileName == "" {
		l.fileName = "settings"
	}
	accounts, ok := l.file(s.File, &cfg)
	l.environment(s.Env, &cfg)
	l.flags(s.Flags, &cfg)
	if ok {
		l.accounts(accounts, &cfg)
		l.check(&cfg)
	}
	if len(l.faults) > 0 {
		return cfg, l.warnings, l.faults
	}
	return cfg, l.warnings, nil
}

// loader collects what is found on the way.
type loader struct {
	fileName string
	faults   Faults
	warnings []Warning
	origins  map[string]string // by setting: where its value came from
	broken   map[string]bool   // settings whose value could not be read, so that no rule is checked against the default left in place
}

func (l *loader) fault(setting, origin, format string, args ...any) {
	l.faults = append(l.faults, Fault{setting, origin, fmt.Sprintf(format, args...)})
}

func (l *loader) warn(setting, origin, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{setting, origin, fmt.Sprintf(format, args...)})
}

// set gives a setting a value in text form: one text, or any number where the setting is a list.
func (l *loader) set(setting, origin string, value reflect.Value, texts []string) {
	l.origins[setting] = origin
	var errs []error
	if isList(value) {
		errs = assignList(value, texts)
	} else {
		errs = []error{assign(value, texts[0])}
	}
	// The later source wins, but a fault in the earlier one is a fault all the same.
	delete(l.broken, setting)
	for _, err := range errs {
		if err != nil {
			l.broken[setting] = true
			l.fault(setting, origin, "%v", err)
		}
	}
}

// settings calls f for each setting of a section and of the sections in it, with its path.
func settings(section reflect.Value, prefix string, f func(path string, value reflect.Value)) {
	for i := range section.NumField() {
		path := prefix + key(section.Type().Field(i))
		switch value := section.Field(i); {
		case isAccounts(value):
		case value.Kind() == reflect.Struct:
			settings(value, path+".", f)
		default:
			f(path, value)
		}
	}
}

// key is a field's name in the file.
func key(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return name
}

func isAccounts(value reflect.Value) bool { return value.Type() == reflect.TypeFor[[]Account]() }

func (l *loader) environment(env []string, cfg *Config) {
	known := map[string]func(text string){}
	settings(reflect.ValueOf(cfg).Elem(), "", func(path string, value reflect.Value) {
		name := EnvName(path)
		known[name] = func(text string) { l.set(path, name, value, split(value, text)) }
	})
	for _, entry := range env {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		if set, ok := known[name]; ok {
			set(text)
		} else if name == EnvName("accounts") || strings.HasPrefix(name, EnvName("accounts.")) {
			l.warn("", name, "accounts can be given in the file only: this variable has no effect")
		} else {
			l.warn("", name, "names no setting and has no effect: correct the name, or ignore this where Kubernetes set it for a "+
				"Service (enableServiceLinks: false stops that)")
		}
	}
}

func (l *loader) flags(given map[string]string, cfg *Config) {
	settings(reflect.ValueOf(cfg).Elem(), "", func(path string, value reflect.Value) {
		i := slices.IndexFunc(Flags, func(f Flag) bool { return f.Setting == path })
		if i < 0 {
			return
		}
		if text, ok := given[Flags[i].Name]; ok {
			l.set(path, "--"+Flags[i].Name, value, split(value, text))
		}
	})
}

// split takes a list apart at its commas; other settings are one text.
func split(value reflect.Value, text string) []string {
	if !isList(value) {
		return []string{text}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	texts := strings.Split(text, ",")
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	return texts
}

// accounts lays each account's entry over the settings for all, which must be complete by now.
func (l *loader) accounts(entries []ast.Node, cfg *Config) {
	lines := map[string]string{}
	for i, entry := range entries {
		account := Account{Dedup: cfg.Dedup, Receipts: cfg.Receipts}
		account.Dedup.RequestIDTLVs = slices.Clone(cfg.Dedup.RequestIDTLVs)
		path := accountPath(i)
		l.mapping(path, entry, reflect.ValueOf(&account).Elem())
		cfg.Accounts = append(cfg.Accounts, account)

		where, id := path+".system_id", account.SystemID
		origin, given := l.origins[where]
		switch first, seen := lines[id]; {
		case l.broken[where]:
		case !given:
			l.fault(where, l.at(entry), "is missing: write the system_id that this entry is for")
		case id == "":
			l.fault(where, origin, "is empty: write the system_id that this entry is for")
		case seen:
			l.fault(where, origin, "%s has an entry already at %s: put all its settings into one", shown(id), first)
		default:
			lines[id] = origin
		}
	}
}

func accountPath(i int) string { return fmt.Sprintf("accounts[%d]", i) }
