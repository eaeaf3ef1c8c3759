package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The relays, by their names in flags and tables.
const (
	direct  = "direct"
	ioCopy  = "io.Copy"
	off     = "off"
	observe = "observe"
	enforce = "enforce"
)

var allRelays = []string{direct, ioCopy, off, observe, enforce}

// isSmpponce tells that the relay is smpponce, in the dedup.mode of that name.
func isSmpponce(relay string) bool { return relay == off || relay == observe || relay == enforce }

// workshop is where relays are made: the bench's own executable, smpponce's, and folders for what they write.
type workshop struct {
	self     string // the bench
	smpponce string // "" where no relay needs it
	scratch  string // temporary; holds the binary and the logs
	ledgers  string // on the disk that is to be measured
	sync     string // ledger.sync
}

// newWorkshop builds smpponce if one of the relays needs it. The caller removes scratch and ledgers.
func newWorkshop(ctx context.Context, o options) (workshop, error) {
	w := workshop{sync: o.sync}
	var err error
	if w.self, err = os.Executable(); err != nil {
		return w, err
	}
	if w.scratch, err = os.MkdirTemp("", "smpponce-bench-"); err != nil {
		return w, err
	}
	if w.ledgers, err = os.MkdirTemp(o.ledger, "smpponce-bench-ledgers-"); err != nil {
		return w, fmt.Errorf("--ledger: %w", err)
	}
	if !slices.ContainsFunc(o.relays, isSmpponce) {
		return w, nil
	}
	w.smpponce = filepath.Join(w.scratch, "smpponce")
	build := exec.CommandContext(ctx, "go", "build", "-o", w.smpponce, "smpponce/cmd/smpponce")
	if output, err := build.CombinedOutput(); err != nil {
		return w, fmt.Errorf("building smpponce: %w\n%s", err, output)
	}
	return w, nil
}

func (w workshop) remove() error {
	var failed error
	for _, folder := range []string{w.scratch, w.ledgers} {
		if folder != "" {
			failed = errors.Join(failed, os.RemoveAll(folder))
		}
	}
	return failed
}

// relay is what stands between ESMEs and SMSC in one cell.
type relay struct {
	address string   // where ESMEs connect to
	process *process // nil if direct
	ledger  string   // removed with it; "" if it has none
}

// start starts a relay in front of the SMSC at upstream. It may not listen yet when start returns.
func (w workshop) start(name string, cell int, upstream string) (*relay, error) {
	if name == direct {
		return &relay{address: upstream}, nil
	}
	address, admin, err := freeAddresses()
	if err != nil {
		return nil, err
	}
	r := &relay{address: address}
	log := filepath.Join(w.scratch, fmt.Sprintf("%03d-%s.log", cell, name))
	if name == ioCopy {
		r.process, err = startProcess(log, os.Environ(), w.self, copyCommand, address, upstream)
		return r, err
	}
	r.ledger = filepath.Join(w.ledgers, fmt.Sprintf("%03d", cell))
	r.process, err = startProcess(log, smpponceEnvironment(os.Environ(), map[string]string{
		"DEDUP_MODE":         name,
		"LISTEN_ADDRESS":     address,
		"UPSTREAM_ADDRESSES": upstream,
		"ADMIN_ADDRESS":      admin,
		"LEDGER_PATH":        r.ledger,
		"LEDGER_SYNC":        w.sync,
	}), w.smpponce, "serve")
	return r, err
}

// smpponceEnvironment adds settings to an environment, in the place of all settings that it carries itself.
func smpponceEnvironment(environment []string, settings map[string]string) []string {
	const prefix = "SMPPONCE_"
	result := slices.DeleteFunc(slices.Clone(environment), func(v string) bool { return strings.HasPrefix(v, prefix) })
	for name, value := range settings {
		result = append(result, prefix+name+"="+value)
	}
	return result
}

// stop ends the relay and removes its ledger. An error means that it didn't end as it should.
func (r *relay) stop() error {
	var failed error
	if r.process != nil {
		failed = r.process.stop()
	}
	if r.ledger != "" {
		failed = errors.Join(failed, os.RemoveAll(r.ledger))
	}
	return failed
}

// freeAddresses are two ports of the loopback on which nobody listens. They are below the ports that the kernel
// gives to outgoing connections, which could take one before the relay does, or even connect it to itself.
func freeAddresses() (listen, admin string, err error) {
	const first, half, tries = 20000, 6000, 100
	for range tries {
		n := rand.IntN(half)
		listen, admin = fmt.Sprintf("127.0.0.1:%d", first+n), fmt.Sprintf("127.0.0.1:%d", first+half+n)
		if err = errors.Join(tryListening(listen), tryListening(admin)); err == nil {
			return listen, admin, nil
		}
	}
	return "", "", fmt.Errorf("no free port: %w", err)
}

func tryListening(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return listener.Close()
}
