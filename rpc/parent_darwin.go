package rpc

import "golang.org/x/sys/unix"

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// lookUp asks sysctl kern.proc.pid. A zombie counts as gone.
func lookUp(pid int) (process, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return process{}, false
	}
	start := uint64(info.Proc.P_starttime.Sec)*1e6 + uint64(info.Proc.P_starttime.Usec)
	return process{parent: int(info.Eproc.Ppid), start: start}, true
}
