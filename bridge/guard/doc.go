// Package guard runs the claude CLI under a guard: a small process of this same binary that stands between the
// bridge and the CLI and sees to it that nothing outlives the bridge.
//
//	bridge ── stdin, stdout, stderr ───────────────┐ straight pipes, nothing is copied
//	   │                                           │
//	   ├── descriptor 3, the lifeline ──► guard ── CLI ── tools, MCP servers, hooks (each in a session of its own)
//	   ◄── descriptor 4, the report ──────┘
//
// The CLI gives every Bash tool a session of its own, so a process group does not reach them, and before 2.1.329 they
// survive even the TERM of the CLI. The guard is their subreaper instead: what loses its parent becomes the guard's child.
//
// # What happens when
//
//	the CLI ends               the guard reports the status at once, ends everything the CLI left below it, exits with the
//	                           status (128+n for signal n). Wait returns then.
//	Terminate                  one byte on the lifeline: the guard sends TERM to the CLI, and to nothing else.
//	Kill, or the bridge dies   the lifeline ends: the guard stops everything below it, kills it, reaps until wait says that
//	                           no child is left, and exits.
//	the guard is killed        the kernel kills the CLI (Pdeathsig); the rest becomes the bridge's, which is a subreaper too
//	                           and ends it. Wait returns ErrGuardKilled.
//	bridge and guard killed    the one hole: tools live on. They carry DRAWBRIDGE_OWNER, and the next Sweep ends them.
//	at once                    What has lost its parent and cleared its environment is not found.
//
// Stopping before killing is what makes the end certain: a stopped process cannot fork away between two looks at the
// process table. What another user owns (a tool ran sudo) cannot be killed and is left.
//
// # Platforms
//
// Linux is the platform this is tested on. It needs /proc.
//
// macOS has no subreaper and no Pdeathsig: the guard reads the process table every 250 ms and remembers its descendants by
// pid and start time. A process that loses its parent within the interval it was born in is not seen: that is a hole of one
// interval. Compiled, but not run.
//
// Windows: guard and CLI are in a Job Object that the kernel ends with the guard's last handle to it, so there is no hole.
// Terminate is a CTRL_BREAK. Compiled, but not run.
package guard
