package main

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFlagsAreRead(t *testing.T) {
	var told strings.Builder
	o, err := parseOptions([]string{"--only", "enforce, IO.copy,enforce", "--shapes", "2x3, 16x100", "--seconds", "1.5", "--rounds", "1", "--rate", "0", "--sync", "all"}, &told)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.relays, []string{enforce, ioCopy}) || !slices.Equal(o.shapes, []shape{{2, 3}, {16, 100}}) ||
		o.measure != 1500*time.Millisecond || o.sync != "all" || o.cells() != 4 || len(o.loads()) != 2 {
		t.Errorf("got %+v", o)
	}
}

func TestADefaultRunIsBoundedToTwoMinutes(t *testing.T) {
	o, err := parseOptions(nil, &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	measured := time.Duration(0)
	for range o.rounds * len(o.relays) {
		measured += time.Duration(len(o.shapes))*(o.measure+warmUp) + 2*o.measure + warmUp
	}
	if measured > 95*time.Second {
		t.Errorf("%v of load alone leave too little for starting and stopping", measured)
	}
}

func TestAllFaultsAreToldAtOnceAndNameTheirFlag(t *testing.T) {
	var told strings.Builder
	_, err := parseOptions([]string{"--only", "on", "--shapes", "1x", "--seconds", "0", "--rounds", "99", "--rate", "-1", "--sync", "maybe", "more"}, &told)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"--only", "--shapes", "--seconds", "--rounds", "--rate", "--sync", `"more"`} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("%s is not named in:\n%s", want, told.String())
		}
	}
}

func TestShapesOutOfBoundsAreRefused(t *testing.T) {
	for _, text := range []string{"0x1", "1x0", "101x1", "1x1001", "-1x1", "1x1x1", "1x1y", ",", "1X1"} {
		if shapes, err := parseShapes(text); err == nil {
			t.Errorf("%q: got %v", text, shapes)
		}
	}
}

func TestHelpIsNoFault(t *testing.T) {
	if _, err := parseOptions([]string{"--help"}, &strings.Builder{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v", err)
	}
}
