package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// monotonic is the time in nanoseconds on a clock that all processes of the machine share.
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail
	return ts.Nano()
}

// sleepUntil is exact to the kernel's timer slack (50 µs); time.Sleep goes through epoll, which counts milliseconds.
func sleepUntil(ns int64) {
	ts := unix.NsecToTimespec(ns)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) == unix.EINTR {
	}
}

// cpuTime is the CPU time a process has used so far, in seconds: of all its threads, ended ones included, and of no child. It is
// the clock that clock_getcpuclockid(3) names, and exact where /proc/PID/stat counts ticks of 10 ms.
func cpuTime(pid int) (float64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|2, &ts); err != nil {
		return 0, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return float64(ts.Nano()) / 1e9, nil
}

// pss is the memory of a process in MB, shared pages divided among those who share them.
func pss(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(data, []byte("\nPss:"))
	kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
	return kb / 1000, err
}

// children are the processes whose parent is pid.
func children(pid int) (list []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		// The name in brackets may hold anything; state and parent come behind the last one.
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			list = append(list, child)
		}
	}
	return list
}

// blockingPipe is a pipe whose ends block in the system, so that no poller of this program's runtime is part of what is measured.
func blockingPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "|r"), os.NewFile(uintptr(fds[1]), "|w"), nil
}

// machine names what the figures were measured on.
func machine() string {
	model := "unknown CPU"
	info, _ := os.ReadFile("/proc/cpuinfo")
	if _, rest, ok := strings.Cut(string(info), "model name"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		model = strings.Trim(line, "\t :")
	}
	var uts unix.Utsname
	_ = unix.Uname(&uts)
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%d × %s, Linux %s, %s, load %s at the start", runtime.NumCPU(), model, unix.ByteSliceToString(uts.Release[:]),
		runtime.Version(), strings.Join(strings.Fields(string(load))[:1], ""))
}
