// Command drawbridge is the bridge between an editor and Claude Code: see `drawbridge --help` and docs/protocol.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"drawbridge/adapters/scripted"
	"drawbridge/bridge/guard"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

// Exit codes, as in docs/protocol.md; 72 and 78 are sysexits' "a system file is missing" and "configuration error".
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitNoClaude = 72
	exitTooOld   = 78
)

// agentCommand is the hidden subcommand that plays claude from a script.
const agentCommand = "__agent"

func main() {
	// A guard is started with every claude process and must weigh nothing: it is dispatched before anything is set up.
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case guard.Subcommand:
			os.Exit(guard.Main(os.Args[2:]))
		case agentCommand:
			os.Exit(scripted.Main(os.Args[2:]))
		}
	}
	// stdout is the protocol: a stray print must not get into a frame.
	out := os.Stdout
	os.Stdout = os.Stderr
	// An editor that dies makes writing fail; by default it would kill us, before the claude processes are stopped.
	ignoreBrokenPipes()
	ctx, stop := signal.NotifyContext(context.Background(), terminations...)
	defer stop()
	code := run(ctx, os.Args[1:], os.Stdin, out, os.Stderr)
	stop()
	os.Exit(code)
}

// exitError is an error that has an exit code of its own. A nil err has been told already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "drawbridge",
		Short:         "The bridge between any editor and Claude Code",
		Long:          "drawbridge is started by an editor and speaks JSON-RPC on stdin and stdout, like a language server.\nWithout a subcommand it serves.",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	settings := addSettings(root)
	serve := serveCommand(settings)
	root.RunE = serve.RunE
	root.Flags().AddFlagSet(serve.Flags())
	root.AddCommand(serve, chatCommand(settings), configCommand(settings),
		sessionsCommand(settings), usageCommand(settings), doctorCommand(settings),
		explainCommand(settings), auditCommand())

	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(stderr, "drawbridge:", exit.err)
		}
		return exit.code
	}
	fmt.Fprintln(stderr, "drawbridge:", err)
	return exitUsage
}
