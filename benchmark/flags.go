package benchmark

import (
	"flag"
	"fmt"
)

// Parse reads a bench's flags. A bench takes nothing else: what is left over is an error, so that a mistyped flag does not
// pass for hours of the wrong measurement.
func Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}
