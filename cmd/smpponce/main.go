// Command smpponce is a transparent SMPP proxy that does not send a message twice.
//
// Exit codes: 0 fine, 1 failed, 2 wrong usage or settings. What is wrong goes to standard error, and names the setting or
// flag.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"smpponce/config"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

// cli is the command line.
type cli struct {
	Serve   serveCmd   `cmd:"" help:"Run the proxy."`
	Check   checkCmd   `cmd:"" help:"Check the settings, and print those in effect."`
	Doubts  doubtsCmd  `cmd:"" help:"List what is in doubt: sent, and nobody knows whether the SMSC accepted it. Asks the running process."`
	Settle  settleCmd  `cmd:"" help:"Say what became of one of them. Asks the running process."`
	Explain explainCmd `cmd:"" help:"Tell the whole story of a message. Asks the running process."`
	Demo    demoCmd    `cmd:"" help:"Show what the proxy is for: break connections under load, without it and with it."`
	SMSC    smscCmd    `cmd:"" name:"smsc" help:"Run a simulated SMSC, to try a client or the proxy against."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run carries out one command and gives the exit code.
func run(args, env []string, stdout, stderr io.Writer) int {
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("smpponce"),
		kong.Description("A transparent SMPP proxy that does not send a message twice. Exit codes: 0 fine, 1 failed, 2 wrong usage or settings."),
		kong.Writers(stdout, stderr),
		kong.Bind(environment(env), output{stdout, stderr}),
	)
	if err != nil {
		return report(stderr, err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "smpponce: %v: see smpponce --help\n", err)
		return exitUsage
	}
	return report(stderr, command.Run())
}

// report tells an error, unless the log has it already, and gives the exit code that it stands for.
func report(stderr io.Writer, err error) int {
	var faults config.Faults
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errLogged):
		return exitFailed
	case errors.As(err, &faults):
		fmt.Fprintf(stderr, "smpponce: wrong settings:\n  %s\n", strings.ReplaceAll(faults.Error(), "\n", "\n  "))
		return exitUsage
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "smpponce: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "smpponce: %v\n", err)
	return exitFailed
}

// errLogged ends a command that has told in its log why it failed.
var errLogged = errors.New("failed: the log tells why")

// usageError is one that another command line would not have met.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// environment and output are what commands get of the process.
type (
	environment []string
	output      struct{ stdout, stderr io.Writer }
)
