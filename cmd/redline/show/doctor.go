package show

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/run"
)

// DoctorCommand returns the verb doctor.
func DoctorCommand() *cobra.Command {
	var p run.Patient
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "doctor [URL]",
		Short: "List the sources that work here, and how to enable the rest",
		Long: `doctor checks, before a run, which data redline can collect here. It opens every
source for a moment and lists what it delivers, what is missing, and how to enable
that. It also checks the limits that load and figures depend on: open files, CPUs,
clock, timers, local ports, redline's own container, the Go toolchain, PostgreSQL.

doctor puts no load on anything. Without a URL or --pid it observes its own process
instead of a target.

Exit code 0: at least one source delivers. 3: none does.`,
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
				return cli.Exit(cli.ExitUndecided, fmt.Errorf("no source delivers anything here"))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&p.PID, "pid", 0, "process ID of the target")
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
		reported := fmt.Sprintf("%d series", len(s.Series))
		switch {
		case s.State == run.Blind || s.State == run.NotAsked:
			reported = s.Why
		case len(s.Series) == 0:
			reported = "can be opened; it delivers in a run"
		}
		inert.Fprintf(out, "  %s\t%s\t%s\n", s.State, s.Name, reported)
		if s.State == run.Partly {
			for note := range strings.SplitSeq(s.Why, "; ") {
				inert.Fprintf(out, "  \t\t- %s\n", note)
			}
		}
		if s.State == run.Blind {
			fmt.Fprintf(out, "  \t\tmissing: %s\n", s.Doc)
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
