package rpc

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// stillActive is the exit code of a process that runs (STILL_ACTIVE).
const stillActive = 259

// lookUp finds the parent in a snapshot of the process table and the start among the process's times.
func lookUp(pid int) (process, bool) {
	parent, ok := parentOf(uint32(pid))
	if !ok {
		return process{}, false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return process{}, false
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var code uint32
	if windows.GetExitCodeProcess(h, &code) != nil || code != stillActive {
		return process{}, false
	}
	var start, exit, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &start, &exit, &kernel, &user) != nil {
		return process{}, false
	}
	return process{parent: parent, start: uint64(start.Nanoseconds())}, true
}

func parentOf(pid uint32) (int, bool) {
	table, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0, false
	}
	defer func() { _ = windows.CloseHandle(table) }()
	var entry windows.ProcessEntry32
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(table, &entry); err == nil; err = windows.Process32Next(table, &entry) {
		if entry.ProcessID == pid {
			return int(entry.ParentProcessID), true
		}
	}
	return 0, false
}
