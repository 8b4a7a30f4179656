package guard

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// OwnerVariable names the bridge that a CLI and everything below it belongs to. Sweep goes by it.
const OwnerVariable = "DRAWBRIDGE_OWNER"

// Owner is "<pid>-<start time>" of this process, which no other process of this machine has had since it booted. The
// unit of the start time is the platform's own: clock ticks since boot on Linux, µs since 1970 on macOS, 100 ns since
// 1601 on Windows. It is "<pid>-0", which Sweep takes for nobody's, where the start time cannot be read.
var Owner = sync.OnceValue(func() string { return formatOwner(os.Getpid(), ownStart()) })

func formatOwner(pid int, start uint64) string {
	return strconv.Itoa(pid) + "-" + strconv.FormatUint(start, 10)
}

// ownedEnv is env with this process as the owner. A bridge that was itself started below a CLI has inherited another
// bridge's variable, which must not stand: with two of a name it depends on the reader which one counts.
func ownedEnv(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	owned := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, OwnerVariable+"=") {
			owned = append(owned, v)
		}
	}
	return append(owned, OwnerVariable+"="+Owner())
}
