package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/scenario/mistake"
)

// hintFlag adds to the error of an unknown flag the one that was probably meant.
func hintFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	hint := c.CommandPath() + " --help lists its flags"
	if unknown.GetSpecifiedShortnames() == "" {
		if near := mistake.Nearest(unknown.GetSpecifiedName(), flagNames(c)); near != "" {
			hint = "did you mean --" + near + "?"
		}
	}
	return fmt.Errorf("%w (hint: %s)", err, hint)
}

// flagNames returns the long flags of a verb, its parents' among them.
func flagNames(c *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return names
}

// unknownVerb returns the error of a command line whose verb does not exist, with
// the verb that was probably meant; nil if it exists. root must have been executed, so
// that cobra's own verbs are there.
func unknownVerb(root *cobra.Command, args []string) error {
	if _, _, err := root.Find(args); err == nil {
		return nil
	}
	at := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if at < 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			names = append(names, c.Name())
		}
	}
	hint := "redline --help lists the verbs"
	if near := mistake.Nearest(args[at], names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("unknown verb %q (hint: %s)", args[at], hint)
}
