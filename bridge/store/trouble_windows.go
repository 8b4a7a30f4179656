package store

import (
	"errors"
	"os"
	"syscall"
)

const errorDiskFull = syscall.Errno(112) // ERROR_DISK_FULL

func troubleOfSystem(err *os.PathError) trouble {
	if errors.Is(err, errorDiskFull) {
		return full
	}
	return unusable
}
