package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The least a program can do that is spoken to on stdin: read a line, answer a line.
const (
	trivialC = `#include <stdio.h>
int main(void) {
	char line[65536];
	if (!fgets(line, sizeof line, stdin)) return 1;
	puts("{}");
	return fflush(stdout);
}
`
	trivialGo = `package main

import "os"

func main() {
	b := make([]byte, 65536)
	os.Stdin.Read(b)
	os.Stdout.WriteString("{}\n")
}
`
)

// measureStart measures the time from spawning to the answer to initialize.
func measureStart(w *world, t *table) error {
	trivial, of, err := w.trivial()
	if err != nil {
		return err
	}
	if err := w.acquaint(); err != nil {
		return err
	}
	initialize := call(1, "initialize", w.initializeParams(false))
	var ours, base []float64
	for i := range w.sizes.spawns + 3 {
		d, err := w.spawn(w.binary, initialize)
		if err != nil {
			return err
		}
		b, err := w.spawn(trivial, initialize)
		if err != nil {
			return err
		}
		if i >= 3 { // the first ones read the files from disk
			ours, base = append(ours, d), append(base, b)
		}
	}
	t.compare("spawn → initialize answered, p50", "ms", median(ours), median(base), of, 4, 0)
	t.value("  the same, on this machine as loaded as it was", "ms", median(ours), 10)
	return nil
}

// acquaint has drawbridge meet the CLI once, so that it knows its version as it does on every day but the first.
func (w *world) acquaint() error {
	c, err := w.bridge(false)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.turn("first 1", hooks{})
	return err
}

// spawn starts a program, sends it a line and takes the time until it has answered one, in ms.
func (w *world) spawn(program, line string) (float64, error) {
	cmd := exec.Command(program)
	cmd.Env = w.environ()
	var began, answered int64
	c, err := open(dialect{name: program}, func(c *conversation, in, out *os.File) error {
		began = monotonic()
		return c.start(cmd, in, out)
	})
	if err != nil {
		return 0, err
	}
	defer c.close()
	if err := c.write(line); err != nil {
		return 0, err
	}
	if _, err := c.out.ReadSlice('\n'); err != nil {
		return 0, fmt.Errorf("%s: %w", program, err)
	}
	answered = monotonic()
	return float64(answered-began) / 1e6, nil
}

// trivial compiles the baseline.
func (w *world) trivial() (path, of string, err error) {
	path = filepath.Join(w.dir, "trivial")
	source, compile, of := path+".c", exec.Command("cc", "-O2", "-o", path, path+".c"), "trivial C"
	text := trivialC
	if _, err := exec.LookPath("cc"); err != nil {
		source, text, of = path+".go", trivialGo, "trivial static Go: no cc here"
		compile = exec.Command("go", "build", "-o", path, source)
		compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", "", err
	}
	if out, err := compile.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("compile the baseline: %w\n%s", err, out)
	}
	return path, of, nil
}

// measureSize tells how large the binary is.
func measureSize(w *world, t *table) error {
	st, err := os.Stat(w.binary)
	if err != nil {
		return err
	}
	t.value("stripped binary", "MB", float64(st.Size())/1e6, 14)
	return nil
}
