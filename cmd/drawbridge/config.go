package main

import (
	"drawbridge/bridge/settings"

	"github.com/spf13/cobra"
)

func configCommand(user *userSettings) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings in force, and where each comes from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, set, err := user.resolve()
			if err != nil {
				return err
			}
			report := settings.NewReport(file, set, nil)
			if asJSON {
				return report.WriteJSON(cmd.OutOrStdout())
			}
			return report.WriteText(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
