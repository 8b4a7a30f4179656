//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// terminations are the signals that ask us to end in good order.
var terminations = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
