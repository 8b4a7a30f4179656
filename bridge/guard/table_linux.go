package guard

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// processTable reads /proc. There is a quicker way to a process's children (/proc/PID/task/TID/children), which not every kernel is built with.
func processTable() ([]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	table := make([]proc, 0, len(names))
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		if p, ok := readStat(name); ok {
			table = append(table, p)
		}
	}
	return table, nil
}

// readStat reads /proc/NAME/stat; not ok means that the process is gone. It uses plain system calls because a table has hundreds of them.
func readStat(name string) (proc, bool) {
	fd, err := syscall.Open("/proc/"+name+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return proc{}, false
	}
	var buf [1024]byte // the longest line, with every number at its longest, is some 900 bytes
	n, err := syscall.Read(fd, buf[:])
	syscall.Close(fd)
	if err != nil || n <= 0 {
		return proc{}, false
	}
	return parseStat(buf[:n])
}

// pfExiting is PF_EXITING of the kernel's <linux/sched.h>, which /proc shows as field 9.
const pfExiting = 0x4

// parseStat reads a line of proc(5) stat: "pid (name) state ppid pgrp session …". The name may itself hold spaces and
// parentheses, so the fields are counted from the last one.
func parseStat(line []byte) (proc, bool) {
	open, closed := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || closed < open {
		return proc{}, false
	}
	f := bytes.Fields(line[closed+1:])
	if len(f) < 20 {
		return proc{}, false
	}
	field := func(n int) int { // n as proc(5) counts; field 3 is the first after the name
		v, _ := strconv.Atoi(string(f[n-3]))
		return v
	}
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	start, err := strconv.ParseUint(string(f[22-3]), 10, 64)
	state, threads, flags := f[0][0], field(20), field(9)
	dead := state == 'X' || state == 'Z' && threads <= 1
	return proc{
		pid: pid, ppid: field(4), start: start,
		// A process whose first thread has ended shows as a zombie while its other threads run on.
		dead:    dead,
		exiting: !dead && threads <= 1 && flags&pfExiting != 0,
		stopped: state == 'T' || state == 't',
	}, err == nil
}

func processByPid(pid int) (proc, bool) { return readStat(strconv.Itoa(pid)) }

func ownStart() uint64 {
	p, _ := processByPid(os.Getpid())
	return p.start
}

// send signals p, and never a process that got its pid since the table was read: the pidfd holds on to one process
// while we look whether it is the one.
func send(p proc, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == unix.ENOSYS || err == unix.EPERM { // before Linux 5.3, or a sandbox that refuses it
		return syscall.Kill(p.pid, sig)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, ok := processByPid(p.pid); !ok || now.start != p.start {
		return syscall.ESRCH
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// readMark reads what Sweep wants to know of a process. Not ok means that it is none of our business: another user's, in
// a container (whose pids are not ours, so that the owner in its environment says nothing here), or gone.
func readMark(pid int) (m mark, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	var stat syscall.Stat_t
	if syscall.Stat(dir, &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return mark{}, false
	}
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil || !bytes.Contains(environ, []byte(OwnerVariable+"=")) {
		return mark{}, false
	}
	ours, err1 := os.Readlink("/proc/self/ns/pid")
	theirs, err2 := os.Readlink(dir + "/ns/pid")
	if err1 != nil || err2 != nil || ours != theirs {
		return mark{}, false
	}
	cmdline, _ := os.ReadFile(dir + "/cmdline")
	return newMark(splitNul(cmdline), splitNul(environ)), true
}

func splitNul(b []byte) []string {
	var s []string
	for part := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		s = append(s, string(part))
	}
	return s
}
