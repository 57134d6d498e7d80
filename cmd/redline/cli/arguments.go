package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Takes refuses fewer than least arguments by what is missing, and more than most by their number: cobra's
// own "accepts 1 arg(s)" says neither what the argument is nor where to look.
func Takes(least, most int, missing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s (hint: %s --help)", missing, cmd.CommandPath())
		case len(args) > most:
			return fmt.Errorf("%d arguments given, at most %d expected (hint: %s --help)", len(args), most, cmd.CommandPath())
		}
		return nil
	}
}
