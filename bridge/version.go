package bridge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// A program's version is asked once and remembered by path, size and time of change, because asking takes up to a second
// (0.5 to 0.9 s before 2.1.329) and initialize wants to name it at once.
type versionEntry struct {
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mod_time"`
	Version string    `json:"version"`
}

const versionsFile = "claude-versions.json"

// remembered is the version of the command, if it is known. A command of several words is another machine's or container's program,
// which may change under an unchanged ssh: that is remembered for the life of the bridge only.
func (l *Local) remembered(argv []string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(argv) > 1 {
		if l.found != nil {
			return l.found.Version, true
		}
		return "", false
	}
	e, ok := l.versions()[argv[0]]
	if !ok {
		return "", false
	}
	st, err := os.Stat(argv[0])
	if err != nil || st.Size() != e.Size || !st.ModTime().Equal(e.ModTime) {
		return "", false
	}
	return e.Version, true
}

func (l *Local) remember(argv []string, version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(argv) > 1 {
		l.found = &Found{ClaudeCode: ClaudeCode{Version: version}, Argv: argv}
		return
	}
	st, err := os.Stat(argv[0])
	if err != nil {
		return
	}
	all := l.versions()
	all[argv[0]] = versionEntry{Size: st.Size(), ModTime: st.ModTime(), Version: version}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return
	}
	// Losing a cache costs a second; a half-written one must not be read.
	temp, err := os.CreateTemp(l.StateDir, versionsFile+".*")
	if err != nil {
		return
	}
	_, werr := temp.Write(data)
	cerr := temp.Close()
	if werr != nil || cerr != nil || os.Rename(temp.Name(), filepath.Join(l.StateDir, versionsFile)) != nil {
		_ = os.Remove(temp.Name())
	}
}

func (l *Local) versions() map[string]versionEntry {
	all := map[string]versionEntry{}
	if data, err := os.ReadFile(filepath.Join(l.StateDir, versionsFile)); err == nil && json.Unmarshal(data, &all) != nil {
		return map[string]versionEntry{}
	}
	return all
}
