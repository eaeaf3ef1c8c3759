package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestTheControlSocketIsItsOwnersAloneAndGoesWithTheListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	l, err := listenControl("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, want srw-------", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestTheControlSocketIsNeverOpenToOthers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can give a socket its mode from the beginning")
	}
	path := filepath.Join(t.TempDir(), "control.sock")
	l, err := private.Listen(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, %v; want srw------- before anything more is done", info.Mode(), err)
	}
}

func TestAControlSocketLeftBehindIsReplacedAndNothingElseIs(t *testing.T) {
	stale := filepath.Join(t.TempDir(), "stale.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if second, err := listenControl("unix:" + stale); !errors.Is(err, errInUse) {
		t.Errorf("a socket in use: got %v, %v, want %v", second, err, errInUse)
	}
	_ = l.Close()
	again, err := listenControl("unix:" + stale)
	if err != nil {
		t.Fatalf("a socket left behind: %v", err)
	}
	defer again.Close()

	plain := file(t, "plain", "text")
	if _, err := listenControl("unix:" + plain); !errors.Is(err, errNoSocket) {
		t.Errorf("a plain file: got %v, want %v", err, errNoSocket)
	}
	if text, err := os.ReadFile(plain); err != nil || string(text) != "text" {
		t.Errorf("the plain file holds %q, %v", text, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(stale, link); err != nil {
		t.Fatal(err)
	}
	if _, err := listenControl("unix:" + link); !errors.Is(err, errNoSocket) {
		t.Errorf("a symbolic link: got %v, want %v", err, errNoSocket)
	}
	if _, err := listenControl("unix:/nowhere/control.sock"); err == nil {
		t.Error("a directory that is not there: no error")
	}
}
