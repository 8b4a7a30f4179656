//go:build unix

package settings

import "golang.org/x/sys/unix"

// openNonblock keeps open(2) of a pipe from waiting for a writer; it does nothing to a regular file.
const openNonblock = unix.O_NONBLOCK
