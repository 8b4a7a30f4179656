package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Options are what a chat is made of.
type Options struct {
	Bridge  []string // the command line of the bridge
	Version string
	CWD     string // of the session, absolute
	Trusted bool
	// AskTrust has the user asked whether the folder is trusted, if there is a terminal to ask in, and is told the answer.
	AskTrust func(trusted bool) error
	Demo     bool // the bridge drives the scripted agent: greet, suggest, and without a terminal play the tour
	AllowAll bool // without a terminal: allow each tool once instead of denying it
	In       io.Reader
	Out      io.Writer
}

// Run converses until the user has had enough, the input ends, the bridge ends, or ctx ends. It returns the exit code: that of the
// bridge if there was no usable claude (72, 78) or it broke, 1 if a turn failed and nobody was there to see it, else 0.
func Run(ctx context.Context, o Options) (code int, err error) {
	if console := openConsole(o.In, o.Out); console != nil {
		return runTerminal(ctx, o, console)
	}
	return runPlain(ctx, o)
}

// exitOf makes an exit code of how the bridge ended.
func exitOf(err error) (code int, told error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), nil // the bridge has said why
	}
	return 1, fmt.Errorf("the bridge ended: %w", err)
}
