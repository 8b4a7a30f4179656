package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/bridge/settings"
	"drawbridge/cmd/drawbridge/chat"

	"github.com/spf13/cobra"
)

func chatCommand(user *userSettings) *cobra.Command {
	var demo bool
	var answer, trace string
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk to Claude Code in this terminal, through a bridge as an editor does",
		Long: "chat launches `drawbridge serve` and speaks its protocol, like any editor. In a terminal, Enter sends, Ctrl-C stops a turn\n" +
			"and quits at an empty line, and what Claude asks is answered by the keys that are shown.\n\n" +
			"Without a terminal, each line of the input is a message, sent when the one before is answered. Nothing in the input answers a\n" +
			"question: tools that need permission are denied, or allowed once each with --answer=allow, and questions are declined.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if answer != "deny" && answer != "allow" {
				return fmt.Errorf("--answer can be deny or allow, not %q", answer)
			}
			o := chat.Options{Version: version, Demo: demo, AllowAll: answer == "allow", In: cmd.InOrStdin(), Out: cmd.OutOrStdout()}
			if err := prepareChat(&o, user, trace); err != nil {
				return &exitError{exitFailure, err}
			}
			code, err := chat.Run(cmd.Context(), o)
			if code == exitOK && err == nil {
				return nil
			}
			return &exitError{max(code, exitFailure), err}
		},
	}
	cmd.Flags().BoolVar(&demo, "demo", false, "take a tour with a scripted agent: no account, no network")
	cmd.Flags().StringVar(&answer, "answer", "deny", "without a terminal, `deny` or allow what needs permission")
	cmd.Flags().StringVar(&trace, "trace", "", "have the bridge write all messages to `FILE`, without secrets")
	return cmd
}

// prepareChat finds out where the chat takes place, whether that folder is trusted, and how the bridge is launched.
func prepareChat(o *chat.Options, user *userSettings, trace string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	if o.CWD, err = filepath.EvalSymlinks(wd); err != nil {
		return err
	}
	o.Bridge = append([]string{self, "serve"}, user.arguments()...)
	if trace != "" {
		o.Bridge = append(o.Bridge, "--trace="+trace)
	}
	if o.Demo {
		o.Bridge = append(o.Bridge, "--claude="+demoCommand(self), "--permission-mode=default")
		return nil
	}
	file, _, err := user.resolve()
	if err != nil {
		return err
	}
	switch known := file.Projects[o.CWD].Trusted; {
	case known != nil:
		o.Trusted = *known
	case file.Parsed: // a file that does not parse may hold the answer, and cannot take one
		o.AskTrust = func(trusted bool) error { return settings.SetTrusted(file.Path, o.CWD, trusted) }
	}
	return nil
}

// demoCommand is the command line of the scripted agent, as --claude takes it.
func demoCommand(self string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
	return fmt.Sprintf(`["%s","%s","demo"]`, quote(self), agentCommand)
}

// arguments are the flags that the user has given, to be passed on to a bridge.
func (u *userSettings) arguments() []string {
	var args []string
	if u.path != "" {
		args = append(args, "--settings="+u.path)
	}
	for name, value := range u.flags {
		if u.set(name) {
			args = append(args, "--"+name+"="+*value)
		}
	}
	slices.Sort(args)
	return args
}
