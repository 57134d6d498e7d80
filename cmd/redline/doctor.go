package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/run"
)

func doctorCommand() *cobra.Command {
	var p run.Patient
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "doctor [URL]",
		Short: "What can be seen here, and what would enable the rest",
		Long: `doctor opens every source for a moment, on this machine alone or on a target, and
tells what each sees here, what it does not, and what would enable it. It also
looks at what load and figures depend on: open files, CPUs, clock, timers, local
ports, the limits of redline's own container, the Go toolchain, PostgreSQL.

It puts no load on anything. Without a target, redline's own process stands for
it. It exits 0, or 3 when no source sees anything.`,
		Example: "  redline doctor\n  redline doctor http://127.0.0.1:8080 --postgres postgres://127.0.0.1/shop",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				p.URL = args[0]
			}
			checkup, err := run.Doctor(cmd.Context(), p)
			if err != nil {
				return err
			}
			if err := printCheckup(cmd.OutOrStdout(), checkup, asJSON, all); err != nil {
				return err
			}
			if !checkup.Works() {
				return &exitError{code: exitUndecided, err: fmt.Errorf("no source sees anything here")}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&p.PID, "pid", 0, "the target's process")
	flags.StringVar(&p.Pprof, "pprof", "", "base `URL` of the target's net/http/pprof")
	flags.StringVar(&p.Postgres, "postgres", "", "`DSN` of the target's PostgreSQL")
	flags.BoolVar(&asJSON, "json", false, "print the checkup as JSON")
	flags.BoolVar(&all, "all", false, "print the series that each source delivered")
	return cmd
}

func printCheckup(w io.Writer, c *run.Checkup, asJSON, all bool) error {
	if asJSON {
		return inert.JSON(w, c)
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	inert.Fprintf(out, "sources, on %s\n", c.Target)
	for _, s := range c.Sources {
		told := fmt.Sprintf("%d series", len(s.Series))
		switch {
		case s.State == run.Blind || s.State == run.NotAsked:
			told = s.Why
		case len(s.Series) == 0:
			told = "can be opened; it delivers in a run"
		}
		inert.Fprintf(out, "  %s\t%s\t%s\n", s.State, s.Name, told)
		if s.State == run.Partly {
			for note := range strings.SplitSeq(s.Why, "; ") {
				inert.Fprintf(out, "  \t\t- %s\n", note)
			}
		}
		if s.State == run.Blind {
			fmt.Fprintf(out, "  \t\tnot seen: %s\n", s.Doc)
		}
		if s.Enable != "" {
			inert.Fprintf(out, "  \t\tto enable: %s\n", s.Enable)
		}
		if all && len(s.Series) > 0 {
			inert.Fprintf(out, "  \t\t%s\n", strings.Join(s.Series, " "))
		}
	}
	inert.Fprintf(out, "\nmachine\n")
	for _, check := range c.Machine {
		state := "ok"
		if !check.OK {
			state = "look"
		}
		inert.Fprintf(out, "  %s\t%s\t%s\n", state, check.Name, check.Value)
		if check.Advice != "" {
			inert.Fprintf(out, "  \t\t%s\n", check.Advice)
		}
	}
	return out.Flush()
}
