package settle

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/experiment"
	"github.com/redline-go/redline/scenario/mistake"
)

// verbsOnly refuses an argument that is not a verb below cmd, and names the one that was probably meant.
func verbsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	hint := "it has " + strings.Join(names, ", ")
	if near := mistake.Nearest(args[0], names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("%s has no %q (hint: %s)", cmd.CommandPath(), args[0], hint)
}

// noArgument refuses arguments, and says why there are none.
func noArgument(why string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s takes no argument, and got %q (hint: %s)", cmd.CommandPath(), args[0], why)
	}
}

// meant returns the ID that was probably meant: the nearest, else the first that begins
// with id.
func meant(id string) string {
	known := labIDs()
	for _, c := range experiment.Claims() {
		known = append(known, c.ID)
	}
	if near := mistake.Nearest(id, known); near != "" {
		return near
	}
	for _, k := range known {
		if id != "" && strings.HasPrefix(strings.ToLower(k), strings.ToLower(id)) {
			return k
		}
	}
	return ""
}
