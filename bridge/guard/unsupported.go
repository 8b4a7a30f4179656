//go:build !linux && !darwin && !windows

package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
)

var errUnsupported = fmt.Errorf("drawbridge has no guard for %s: %w", runtime.GOOS, errors.ErrUnsupported)

// Main refuses: there is no guard for this platform, and without one nothing is started.
func Main([]string) int {
	os.Stderr.WriteString(errUnsupported.Error() + "\n")
	return 2
}

func startGuard(string, []string, *os.ProcAttr) (*os.Process, error) { return nil, errUnsupported }

func handDown(*os.ProcAttr, *os.File, *os.File) []string { return nil }

type cliID struct{ pid int }

func executable() (string, error) { return os.Executable() }
func identify(pid int) cliID      { return cliID{pid} }
func becomeReaper()               {}
func forgetGuard(int)             {}
func endOrphans(cliID)            {}
func wake(*os.Process)            {}
func ownStart() uint64            { return 0 }

// Sweep finds nothing where nothing is started.
func Sweep(context.Context) (ended []int, err error) { return nil, nil }
