//go:build linux

package guard

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// BenchmarkSpawn compares what it takes to run a program that does nothing, from start to its end, with and without a guard.
// GUARD_BENCH_SELF names another binary that dispatches Subcommand: the guard's cost is that of the binary it is part of.
func BenchmarkSpawn(b *testing.B) {
	const program = "/bin/true"
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(program).Run(); err != nil {
				b.Fatal(err)
			}
		}
		perSpawn(b)
	})
	b.Run("guarded", func(b *testing.B) {
		for b.Loop() {
			p := spawn(b, program)
			if _, err := p.Wait(); err != nil {
				b.Fatal(err)
			}
			closePipes(p)
		}
		perSpawn(b)
	})
	b.Run("started", func(b *testing.B) { // until Start returns, as a session sees it
		for b.Loop() {
			p := spawn(b, "/bin/cat")
			b.StopTimer()
			closePipes(p)
			p.Wait()
			b.StartTimer()
		}
		perSpawn(b)
	})
}

// BenchmarkMemory shows what a guard that waits costs, as the kernel counts it.
func BenchmarkMemory(b *testing.B) {
	p := spawn(b, "/bin/cat")
	for b.Loop() {
	}
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.Pid()))
	if err != nil {
		b.Skip(err)
	}
	for line := range bytes.Lines(rollup) {
		var name string
		var kB float64
		if n, _ := fmt.Sscan(string(line), &name, &kB); n == 2 && (name == "Pss:" || name == "Private_Dirty:" || name == "Rss:") {
			b.ReportMetric(kB, name[:len(name)-1]+"-kB")
		}
	}
	closePipes(p)
	p.Wait()
}

func perSpawn(b *testing.B) {
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/spawn")
}

func spawn(b *testing.B, program string) *Process {
	b.Helper()
	p, err := Start(Command{Argv: []string{program}, Self: os.Getenv("GUARD_BENCH_SELF")})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func closePipes(p *Process) {
	p.Stdin.Close()
	p.Stdout.Close()
	p.Stderr.Close()
}
