package main

import (
	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the Go that built it",
		Example: "  redline version --json | jq -r .revision",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			b := cli.ThisBuild()
			if asJSON {
				return inert.JSON(cmd.OutOrStdout(), b)
			}
			inert.Fprintf(cmd.OutOrStdout(), "redline %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print version, commit, commit time and Go version as JSON")
	return cmd
}
