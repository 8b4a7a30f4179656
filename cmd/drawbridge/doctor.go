package main

import (
	"cmp"
	"os"
	"path/filepath"

	"drawbridge/bridge"
	"drawbridge/bridge/guard"
	"drawbridge/bridge/settings"

	"github.com/spf13/cobra"
)

func doctorCommand(user *userSettings) *cobra.Command {
	var asJSON, noLogin bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything drawbridge depends on, and say what to do about it",
		Long: "doctor finds every claude on this machine, says which one is used, what is to be expected of it and who is logged in, checks the settings\n" +
			"files, and ends what killed bridges have left behind. It exits with 72 if there is no claude, with 78 if it is too old.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := examine(cmd, user, noLogin)
			if err != nil {
				return err
			}
			write := e.WriteText
			if asJSON {
				write = e.WriteJSON
			}
			if err := write(cmd.OutOrStdout()); err != nil {
				return &exitError{exitFailure, err}
			}
			switch {
			case e.Unusable == nil:
				return nil
			case e.Unusable.Kind == bridge.KindClaudeTooOld:
				return &exitError{code: exitTooOld} // the report has said it
			}
			return &exitError{code: exitNoClaude}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.Flags().BoolVar(&noLogin, "no-login", false, "do not start claude to find out who is logged in")
	return cmd
}

func examine(cmd *cobra.Command, user *userSettings, skipLogin bool) (*bridge.Examination, error) {
	file, set, err := user.resolve()
	if err != nil {
		return nil, err
	}
	state, err := settings.StateDir()
	if err != nil {
		return nil, &exitError{exitFailure, err}
	}
	_ = os.MkdirAll(state, 0o700) // the doctor finds it if it cannot be written to
	log, closeLog := openLog(set, state, cmd.ErrOrStderr())
	defer closeLog()
	cwd, err := os.Getwd()
	if err != nil {
		return nil, &exitError{exitFailure, err}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, &exitError{exitFailure, err}
	}
	d := bridge.Doctor{
		CLI:       &bridge.Local{Command: set.Claude.Command, Env: set.Claude.Env, StateDir: state, Log: log},
		Version:   version,
		CWD:       cwd,
		Home:      home,
		Settings:  file,
		LogFile:   cmp.Or(set.Log.File, filepath.Join(state, "drawbridge.log")),
		Sweep:     guard.Sweep,
		SkipLogin: skipLogin,
	}
	e := d.Examine(cmd.Context())
	return &e, nil
}
