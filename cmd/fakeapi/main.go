// Command fakeapi serves the scripted Messages API of package fakeapi on loopback, for recordings and for the editor
// plugins' tests. It prints its URL on standard output.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"drawbridge/adapters/fakeapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fakeapi:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	logName := flag.String("log", "", "append every request to this file, one line of JSON each")
	untilEOF := flag.Bool("until-eof", false, "stop when standard input ends, so that it does not outlive the test that started it")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Usage: fakeapi [flags]\n\n")
		flag.PrintDefaults()
		fmt.Fprintf(flag.CommandLine.Output(), "\nThe last thing the user said is the script:\n\n%s", fakeapi.Usage())
	}
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // an error ends it as the end does
			stop()
		}()
	}

	opts := []fakeapi.Option{fakeapi.WithAddr(*addr)}
	if *logName != "" {
		f, err := os.OpenFile(*logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		opts = append(opts, fakeapi.WithLog(f))
	}
	s, err := fakeapi.Start(opts...)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-ctx.Done()
	return s.Close()
}
