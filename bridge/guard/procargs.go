//go:build linux || darwin

package guard

import (
	"bytes"
	"encoding/binary"
)

// parseProcargs reads what macOS answers to sysctl kern.procargs2: the argument count, the path of the program, padding, the
// arguments and then the environment, each ended by a NUL. It stands apart from its one use so that the tests on Linux reach it.
func parseProcargs(b []byte) (argv, env []string) {
	if len(b) < 4 {
		return nil, nil
	}
	argc := int(binary.LittleEndian.Uint32(b)) // both machines that run macOS are little-endian
	_, b, _ = bytes.Cut(b[4:], []byte{0})
	b = bytes.TrimLeft(b, "\x00")
	for len(b) > 0 {
		var s []byte
		s, b, _ = bytes.Cut(b, []byte{0})
		switch {
		case len(argv) < argc:
			argv = append(argv, string(s))
		case len(s) == 0:
			return argv, env
		default:
			env = append(env, string(s))
		}
	}
	return argv, env
}
