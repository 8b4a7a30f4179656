// Command bench measures the whole of Drawbridge: the real binary as a subprocess, with the editor's side and the CLI's side played
// by this program. It prints one table. Every figure has a baseline beside it that was measured in the same run, in turns with
// Drawbridge, so that what counts, the ratio, does not depend on the machine or on what else it does.
//
//	editor (here)  ⇄  drawbridge   ⇄  claude (this program again, see claude.go)
//	editor (here)  ⇄  cat and cat  ⇄  claude                                       the baseline
//
// Times are taken on both ends from CLOCK_MONOTONIC, which all processes of a machine share, so a way there needs no way back.
//
// It measures, it does not judge: the exit code is 1 only if something was lost or did not run at all.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == claudeName {
		os.Exit(playClaude(os.Args[1:], os.Stdin, os.Stdout))
	}
	binary := flag.String("drawbridge", "bin/drawbridge", "the `binary` to measure, stripped (make build)")
	quick := flag.Bool("quick", false, "shorter loads: half a minute instead of some three")
	asJSON := flag.Bool("json", false, "print the figures as one JSON object")
	only := flag.String("only", "", "measure one `part` alone: start, latency, flood, stall, memory, size or split")
	flag.Parse()
	if runtime.GOOS != "linux" {
		fmt.Fprintln(os.Stderr, "bench: needs Linux: /proc and clocks that processes share")
		return
	}
	if err := bench(*binary, *only, *quick, *asJSON, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// world is where it all happens: a folder of its own, with a home of its own.
type world struct {
	binary string // drawbridge
	claude string // this program under the name by which it plays the CLI
	dir    string
	sizes  sizes
}

// sizes are how much of each load is enough.
type sizes struct {
	spawns int
	firsts int // first tokens
	rounds int // of the loads below, for each side in turns
	paced  int // deltas a round, one per ms
	asks   int // permission questions a round
	flood  int // deltas a flood
	floods int
	stall  int // seconds
	settle int // seconds until a runtime has given back what it is going to
	split  int // deltas in-process, for the split of their cost
}

var (
	full  = sizes{spawns: 100, firsts: 100, rounds: 5, paced: 1000, asks: 100, flood: 1_000_000, floods: 7, stall: 10, settle: 5, split: 2_000_000}
	short = sizes{spawns: 60, firsts: 40, rounds: 3, paced: 700, asks: 60, flood: 250_000, floods: 3, stall: 3, settle: 2, split: 300_000}
)

// giveUp is more than a whole run takes on a slow machine.
const giveUp = 10 * time.Minute

func bench(binary, only string, quick, asJSON bool, out io.Writer) error {
	w := &world{sizes: full}
	if quick {
		w.sizes = short
	}
	if err := w.build(binary); err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)

	// Whoever hangs is not waited for: what was started ends with its input.
	defer time.AfterFunc(giveUp, func() {
		fmt.Fprintln(os.Stderr, "bench: no end after", giveUp)
		os.Exit(1)
	}).Stop()

	t := &table{Machine: machine(), Quick: quick}
	var failed error
	for _, part := range []struct {
		name    string
		measure func(*world, *table) error
	}{
		{"start", measureStart},
		{"latency", measureLatency},
		{"flood", measureFlood},
		{"stall", measureStall},
		{"memory", measureSessions},
		{"size", measureSize},
		{"split", measureSplit},
	} {
		if only != "" && only != part.name {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", part.name)
		if err := part.measure(w, t); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", part.name, err))
		}
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return errors.Join(failed, enc.Encode(t))
	}
	t.print(out)
	return failed
}

// build makes the folder, and in it this program's other name.
func (w *world) build(binary string) (err error) {
	if w.binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if _, err := os.Stat(w.binary); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if w.dir, err = os.MkdirTemp("", "drawbridge-bench-"); err != nil {
		return err
	}
	for _, dir := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(w.dir, dir), 0o700); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w.claude = filepath.Join(w.dir, claudeName)
	return os.Symlink(self, w.claude)
}

// environ is a clean environment: the same on every machine, and nothing of the user's is read or written.
func (w *world) environ() []string {
	return []string{"HOME=" + filepath.Join(w.dir, "home"), "PATH=" + os.Getenv("PATH"), "CLAUDE_CODE_PATH=" + w.claude}
}
