//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

func troubleOfSystem(err *os.PathError) trouble {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return full
	}
	return unusable
}
