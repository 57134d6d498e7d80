package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// headingKey is the annotation of a flag that holds its heading in --help.
const headingKey = "redline_heading"

// Under adds the flags that define defines, under a heading of --help and in the order of their
// definition. A verb that has headings puts all of its flags under one.
func Under(flags *pflag.FlagSet, heading string, define func(*pflag.FlagSet)) {
	own := pflag.NewFlagSet(heading, pflag.ContinueOnError)
	own.SortFlags, flags.SortFlags = false, false
	define(own)
	own.VisitAll(func(f *pflag.Flag) {
		_ = own.SetAnnotation(f.Name, headingKey, []string{heading}) // it fails only for a flag that is not there
		flags.AddFlag(f)
	})
}

// Heading returns the heading of a flag; empty if it has none.
func Heading(f *pflag.Flag) string { return strings.Join(f.Annotations[headingKey], ", ") }

// Usage prints how a verb is called, as cobra does, with its flags under their headings.
func Usage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() || below.Name() == "help" {
				fmt.Fprintf(&b, "  %-*s %s\n", below.NamePadding(), below.Name(), below.Short)
			}
		}
	}
	for _, s := range sections(c.LocalFlags()) {
		fmt.Fprintf(&b, "\n%s:\n%s", s.heading, s.flags.FlagUsages())
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprintf(&b, "\nGlobal Flags:\n%s", c.InheritedFlags().FlagUsages())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

// section is a heading with its flags.
type section struct {
	heading string
	flags   *pflag.FlagSet
}

// sections divides flags by their headings, in the order in which these appear. Flags without one
// (cobra's own --help) come last.
func sections(flags *pflag.FlagSet) (all []section) {
	at := map[string]int{}
	add := func(heading string, f *pflag.Flag) {
		i, known := at[heading]
		if !known {
			i = len(all)
			at[heading] = i
			all = append(all, section{heading, pflag.NewFlagSet(heading, pflag.ContinueOnError)})
			all[i].flags.SortFlags = flags.SortFlags
		}
		all[i].flags.AddFlag(shown(f))
	}
	var rest []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) {
		switch heading := Heading(f); {
		case f.Hidden:
		case heading == "":
			rest = append(rest, f)
		default:
			add(heading, f)
		}
	})
	last := "Flags"
	if len(all) > 0 {
		last = all[len(all)-1].heading
	}
	for _, f := range rest {
		add(last, f)
	}
	return all
}

// shown returns a flag as --help shows it: a value that may be left out is in brackets.
func shown(f *pflag.Flag) *pflag.Flag {
	placeholder, text := pflag.UnquoteUsage(f)
	if f.NoOptDefVal == "" || placeholder == "" { // without a placeholder it is a switch
		return f
	}
	copied := *f
	copied.NoOptDefVal = ""
	if !strings.HasPrefix(placeholder, "[") {
		copied.Name, copied.Usage = f.Name+"[="+placeholder+"]", "``"+text
	}
	return &copied
}

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
