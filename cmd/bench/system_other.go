//go:build !linux

package main

import (
	"errors"
	"os"
)

// Nothing here is called: main says that the bench needs Linux.

var errNoLinux = errors.New("needs Linux")

func monotonic() int64                         { return 0 }
func sleepUntil(int64)                         {}
func cpuTime(int) (float64, error)             { return 0, errNoLinux }
func pss(int) (float64, error)                 { return 0, errNoLinux }
func children(int) []int                       { return nil }
func blockingPipe() (r, w *os.File, err error) { return nil, nil, errNoLinux }
func machine() string                          { return "" }
