package settings

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// ConfigFile returns the path of the user's settings file.
//
// It is drawbridge/settings.json below $XDG_CONFIG_HOME if that is absolute, else below ~/.config, on macOS as on Linux:
// editors that live in a terminal keep theirs there too. On Windows it is below %AppData%.
func ConfigFile() (string, error) {
	dir, err := here().configDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "settings.json"), nil
}

// StateDir returns the directory for what drawbridge remembers by itself: the log, the audit file, the store.
//
// It is drawbridge below $XDG_STATE_HOME if that is absolute, else below ~/.local/state; on Windows %LocalAppData%\drawbridge.
// It need not exist.
func StateDir() (string, error) { return here().stateDir() }

// LogFile returns where the log is written unless log.file says otherwise.
func LogFile() (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "drawbridge.log"), nil
}

// machine is what the paths depend on.
type machine struct {
	goos string
	env  func(string) string
	home func() (string, error)
}

func here() machine { return machine{runtime.GOOS, os.Getenv, os.UserHomeDir} }

func (m machine) configDir() (string, error) {
	return m.dir("XDG_CONFIG_HOME", "AppData", ".config")
}

func (m machine) stateDir() (string, error) {
	return m.dir("XDG_STATE_HOME", "LocalAppData", ".local", "state")
}

// dir follows the XDG Base Directory Specification, which says to ignore a relative path in its variables.
func (m machine) dir(xdg, windows string, belowHome ...string) (string, error) {
	variable := xdg
	if m.goos == "windows" {
		variable = windows
	}
	if base := m.env(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "drawbridge"), nil
	}
	if m.goos == "windows" {
		return "", errors.New("%" + windows + "% is not set to an absolute path")
	}
	home, err := m.home()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("neither " + xdg + " nor HOME is set to an absolute path")
	}
	return filepath.Join(append(append([]string{home}, belowHome...), "drawbridge")...), nil
}
