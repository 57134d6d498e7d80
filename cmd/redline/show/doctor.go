package show

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/run/ceiling"
)

// DoctorCommand returns the verb doctor.
func DoctorCommand() *cobra.Command {
	var p run.Patient
	var asJSON, all, withCeilings, reconnect bool
	cmd := &cobra.Command{
		Use:   "doctor [URL | scenario.yaml | runs/...-knee]",
		Short: "List the sources that work here, and how to enable the rest",
		Long: `doctor checks, before a run, which data redline can collect here. It opens every source
for a moment and lists what it delivers, what is missing, and how to enable that. It
also checks the limits on which load and figures depend: open files, CPUs, clock,
timers, local ports, redline's own container, the Go toolchain, PostgreSQL.

doctor puts no load on anything unless you use --ceilings. Without a URL or --pid it
observes its own process instead of a service.

--ceilings measures this machine for 3 seconds (loopback round trips, system calls, new
connections, TLS, JSON, fsync, statements of --postgres) and reads the kernel's limits.
It shows the most that each layer allows, which one is the first limit, how to raise it,
and what that costs. With a scenario it also shows what the scenario demands of each
layer; with the directory of a redline knee, what the knee demands.

Exit code 0: at least one source delivers data. 3: none does.`,
		Example: "  redline doctor\n  redline doctor http://127.0.0.1:8080 --postgres postgres://127.0.0.1/shop\n" +
			"  redline doctor --ceilings scenario.yaml",
		Args: cli.Takes(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			about := strings.Join(args, "")
			switch {
			case strings.Contains(about, "://"):
				p.URL = about
			case about != "" && !withCeilings:
				return fmt.Errorf("%.100q is not a URL (hint: --ceilings compares a scenario or a knee with this machine)", about)
			}
			c, err := examine(cmd.Context(), p, about, withCeilings, reconnect)
			if err != nil {
				return err
			}
			if err := c.print(cmd.OutOrStdout(), asJSON, all); err != nil {
				return err
			}
			checkup := c.Checkup
			if !checkup.Works() {
				return cli.Exit(cli.ExitUndecided, fmt.Errorf("no source delivers any data here"))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&p.PID, "pid", 0, "examine the service that runs as process `PID`")
	flags.StringVar(&p.Pprof, "pprof", "", "base `URL` of the service's net/http/pprof")
	flags.StringVar(&p.Postgres, "postgres", "", "`DSN` of the service's PostgreSQL")
	flags.BoolVar(&asJSON, "json", false, "print the checkup as JSON")
	flags.BoolVar(&all, "all", false, "print the series that each source delivered")
	flags.BoolVar(&withCeilings, "ceilings", false, "measure for 3 seconds the most that this machine allows, and which layer "+
		"is the first limit")
	flags.BoolVar(&reconnect, "reconnect", false, "with --ceilings: every request opens its own connection")
	return cmd
}

// checkup is all that doctor found.
type checkup struct {
	*run.Checkup
	Ceilings *ceiling.Report `json:"ceilings,omitempty"`
}

func examine(ctx context.Context, p run.Patient, about string, withCeilings, reconnect bool) (c checkup, err error) {
	if withCeilings { // before the sources: what the argument names may be wrong
		if c.Ceilings, err = ceilings(ctx, about, p.Postgres, reconnect); err != nil {
			return c, err
		}
	}
	c.Checkup, err = run.Doctor(ctx, p)
	return c, err
}

func (c checkup) print(w io.Writer, asJSON, all bool) error {
	if asJSON {
		return inert.JSON(w, c)
	}
	if err := printCheckup(w, c.Checkup, all); err != nil || c.Ceilings == nil {
		return err
	}
	return printCeilings(w, c.Ceilings)
}

func printCheckup(w io.Writer, c *run.Checkup, all bool) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	inert.Fprintf(out, "sources, on %s\n", c.Target)
	for _, s := range c.Sources {
		reported := fmt.Sprintf("%d series", len(s.Series))
		switch {
		case s.State == run.Blind || s.State == run.NotAsked:
			reported = s.Why
		case len(s.Series) == 0:
			reported = "can be opened; delivers during a run"
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
