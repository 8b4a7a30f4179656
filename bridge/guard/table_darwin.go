package guard

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// States of kp_proc.p_stat, from <sys/proc.h>.
const (
	sStop = 4
	sZomb = 5
)

func processTable() ([]proc, error) {
	ks, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	table := make([]proc, 0, len(ks))
	for i := range ks {
		table = append(table, fromKinfo(&ks[i]))
	}
	return table, nil
}

func fromKinfo(k *unix.KinfoProc) proc {
	t := k.Proc.P_starttime
	return proc{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid),
		start:   uint64(t.Sec)*1e6 + uint64(t.Usec),
		dead:    k.Proc.P_stat == sZomb,
		stopped: k.Proc.P_stat == sStop,
	}
}

func processByPid(pid int) (proc, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return proc{}, false
	}
	return fromKinfo(k), true
}

func ownStart() uint64 {
	p, _ := processByPid(os.Getpid())
	return p.start
}

// send signals p unless another process has its pid by now. Between the look and the signal there is nothing to hold on to here.
func send(p proc, sig syscall.Signal) error {
	if now, ok := processByPid(p.pid); !ok || now.start != p.start {
		return syscall.ESRCH
	}
	return syscall.Kill(p.pid, sig)
}

// readMark reads what Sweep wants to know of a process. The kernel shows the environment of our own user's programs, except
// those that system integrity protection covers.
func readMark(pid int) (m mark, ok bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Eproc.Ucred.Uid) != os.Geteuid() {
		return mark{}, false
	}
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return mark{}, false
	}
	argv, env := parseProcargs(raw)
	m = newMark(argv, env)
	return m, m.owner != ""
}
