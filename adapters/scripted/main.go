package scripted

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

//go:embed demo.txtar
var demo []byte

// Demo is the tour of `drawbridge chat --demo`: it shows each thing a session can do, without an account.
func Demo() *Script {
	s, err := Parse(demo)
	if err != nil {
		panic("demo.txtar: " + err.Error()) // a test parses it
	}
	return s
}

// DemoFiles are the files the tour speaks of, by name. Whoever shows it writes them to a directory of their own, so that the
// edit has a file to differ from; the tour itself changes nothing.
var DemoFiles = map[string]string{"lamp.toml": "[lamp]\ncolor = \"white\"\nperiod = \"10s\"\n"}

// Main is the hidden subcommand: args[0] is the path of a script, or "demo", and the rest is the command line the CLI would get. It
// plays on this process's stdin, stdout and stderr and returns the exit code.
func Main(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: SCRIPT|demo [the arguments of claude]")
		return 2
	}
	script, err := load(args[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
		return 2
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	agent := Agent{Script: script, Args: args[1:], Signals: signals, Kill: killSelf, Number: os.Getpid()}
	return agent.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
}

func load(name string) (*Script, error) {
	if name == "demo" {
		return Demo(), nil
	}
	archive, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(archive)
}
