package main

import (
	"drawbridge/bridge/settings"

	"github.com/spf13/cobra"
)

// userSettings is the settings file and the flags that override it.
type userSettings struct {
	path  string // of the file, if the user names one
	flags map[string]*string
	set   func(name string) bool
}

// addSettings gives cmd and its subcommands the flags that stand for settings.
func addSettings(cmd *cobra.Command) *userSettings {
	u := &userSettings{flags: map[string]*string{}}
	fs := cmd.PersistentFlags()
	fs.StringVar(&u.path, "settings", "", "the settings file `FILE` (default: drawbridge/settings.json in the user's configuration directory)")
	for _, f := range settings.Flags() {
		u.flags[f.Name] = new(string)
		fs.StringVar(u.flags[f.Name], f.Name, "", f.Usage)
		if f.Boolean {
			fs.Lookup(f.Name).NoOptDefVal = "true"
		}
	}
	u.set = func(name string) bool { return fs.Changed(name) }
	return u
}

// resolve reads the file and puts the flags over it. What is wrong with the file is among the problems of both results; a flag
// that is wrong is an error.
func (u *userSettings) resolve() (settings.File, *settings.Settings, error) {
	path := u.path
	if path == "" {
		var err error
		if path, err = settings.ConfigFile(); err != nil {
			return settings.File{}, nil, err
		}
	}
	file := settings.Load(path)
	var values []settings.Value
	for name, text := range u.flags {
		if !u.set(name) {
			continue
		}
		v, err := settings.Flag(name, *text)
		if err != nil {
			return file, nil, err
		}
		values = append(values, v)
	}
	return file, settings.Resolve(file, values), nil
}
