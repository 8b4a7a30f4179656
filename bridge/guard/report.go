package guard

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// The guard's report is a few lines on its own pipe, so that exit code 127 and "no such file" are never confused:
//
//	started <pid>            the CLI runs
//	chdir <errno>            or it does not: the directory
//	exec <errno>             or the program is at fault
//	exit <code>              it ended
//	signal <number>          it was ended
const (
	opStarted = "started"
	opChdir   = "chdir"
	opExec    = "exec"
	opExit    = "exit"
	opSignal  = "signal"
)

func appendReport(op string, n int) []byte {
	return append(strconv.AppendInt([]byte(op+" "), int64(n), 10), '\n')
}

// readReport reads one line. An end before the line is complete is an error: the guard was killed.
func readReport(r *bufio.Reader) (op string, n int, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	op, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	if n, err = strconv.Atoi(number); err != nil {
		return "", 0, fmt.Errorf("report of the guard: %q", line)
	}
	return op, n, nil
}

// readStarted returns the pid of the CLI, or why there is none.
func readStarted(r *bufio.Reader, c Command) (pid int, err error) {
	op, n, err := readReport(r)
	switch {
	case err != nil:
		return 0, fmt.Errorf("start %s: %w (%w)", c.Argv[0], ErrGuardKilled, err)
	case op == opStarted:
		return n, nil
	case op == opChdir:
		return 0, &StartError{op, c.Dir, syscall.Errno(n)}
	default:
		return 0, &StartError{opExec, c.Argv[0], syscall.Errno(n)}
	}
}

func readExit(r *bufio.Reader) (Exit, error) {
	switch op, n, err := readReport(r); {
	case err != nil:
		return Exit{}, ErrGuardKilled
	case op == opSignal:
		return Exit{Code: 128 + n, Signal: syscall.Signal(n)}, nil
	default:
		return Exit{Code: n}, nil
	}
}
