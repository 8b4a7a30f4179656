package rpc

import (
	"bytes"
	"os"
	"strconv"
)

// lookUp reads /proc/PID/stat, see proc_pid_stat(5). A zombie counts as gone.
func lookUp(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The second field is the name in parentheses, which may itself hold spaces and parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, ppid, starttime = 0, 1, 19 // the manual's fields 3, 4 and 22
	if len(fields) <= starttime || string(fields[state]) == "Z" || string(fields[state]) == "X" {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[ppid]))
	if err != nil {
		return process{}, false
	}
	start, err := strconv.ParseUint(string(fields[starttime]), 10, 64)
	return process{parent: parent, start: start}, err == nil
}
