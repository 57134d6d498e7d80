package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/shlex" // --exec 'CMD' split as a shell would
	"github.com/spf13/cobra"

	"github.com/redline-go/redline/judge"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
)

// runFlags are the flags of `redline run`.
type runFlags struct {
	load     loadFlags
	exec     string
	build    string
	pid      int
	ready    string
	pprof    string
	postgres string
	out      string
	json     bool
	plain    bool
	all      bool
	verbose  bool
	overhead bool
	pairs    int
}

func runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [URL | scenario.yaml]",
		Short: "Load a service, watch it, and say what stops it",
		Long: `run puts load on a service, watches it, takes slow requests apart and says what
stops it. What it measured stays in a bundle (runs/<time>-<scenario>/) that
redline diagnose and redline report read again.

The more redline may see, the more it can say:
  --build PKG    builds your main package with a probe injected: everything
  --exec CMD     starts a command; runtime and traces if it imports the probe
  --pid N        watches a running process; add --pprof for profiles and traces
  URL alone      load, and the listening process if it is on this host`,
		Example: `  redline run http://127.0.0.1:8080/ -c 64 -d 30s --build ./cmd/svc
  redline run http://127.0.0.1:8080/api --rate 2000/s --pprof http://127.0.0.1:6060/debug/pprof
  redline run scenario.yaml --postgres "$DATABASE_URL" --json > summary.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	f.load.register(flags)
	flags.StringVar(&f.exec, "exec", "", "start the target with this `command`")
	flags.StringVar(&f.build, "build", "", "build this main `package` with the probe injected, and start it")
	flags.IntVar(&f.pid, "pid", 0, "the target's process, when it runs already")
	flags.StringVar(&f.ready, "ready", "", "`URL` that answers below 500 once the target is ready")
	flags.StringVar(&f.pprof, "pprof", "", "base `URL` of the target's net/http/pprof (http://host:port/debug/pprof)")
	flags.StringVar(&f.postgres, "postgres", "", "`DSN` of the target's PostgreSQL, to watch statements and sessions")
	flags.StringVarP(&f.out, "out", "o", "", "bundle `directory` (default runs/<time>-<scenario>)")
	flags.BoolVar(&f.json, "json", false, "print summary.json alone on stdout")
	flags.BoolVar(&f.plain, "plain", false, "plain progress lines even on a terminal")
	flags.BoolVar(&f.all, "all", false, "print every finding, not the first three")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show the target's output on stderr")
	flags.BoolVar(&f.overhead, "measure-overhead", false, "also measure what observation costs the target, by runs with and without it in turn")
	flags.IntVar(&f.pairs, "overhead-pairs", 10, "pairs of runs for --measure-overhead")
	cmd.MarkFlagsMutuallyExclusive("exec", "build", "pid")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	plan, err := f.plan(args)
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = filepath.Join("runs", time.Now().Format("20060102-150405")+"-"+plan.Name)
	}
	view := newView(cmd.ErrOrStderr(), string(plan.Requests[0].URL), f.plain)
	defer view.Close()
	o := run.Options{Plan: plan, Dir: dir, Version: version(), OnEvent: view.event}
	if f.verbose {
		o.Output = cmd.ErrOrStderr()
	}
	runErr := run.Run(cmd.Context(), o)
	if runErr != nil && !bundleIn(dir) {
		return usageOrInterrupt(runErr)
	}
	var overhead *record.Overhead
	if f.overhead && runErr == nil {
		overhead, runErr = run.Overhead(cmd.Context(), o, f.pairs)
	}
	view.event(run.Event{Phase: "taking requests apart"})
	rec, summary, err := judge.Bundle(dir)
	if err != nil {
		return errors.Join(runErr, err)
	}
	if overhead != nil {
		summary.Overhead = overhead
		if err := record.WriteJSON(dir, record.SummaryFile, summary); err != nil {
			return err
		}
	}
	if err := writeHTML(rec); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "redline: report.html: %v\n", err)
	}
	view.Close()
	if err := printSummary(cmd.OutOrStdout(), summary, f.json, f.all); err != nil {
		return err
	}
	return outcome(summary, runErr)
}

// plan puts the scenario together from the file or URL and the flags.
func (f *runFlags) plan(args []string) (*scenario.Plan, error) {
	if len(args) == 0 {
		return nil, errors.New("what to load? give a URL or a scenario file (hint: redline run http://127.0.0.1:8080/)")
	}
	plan, err := f.load.plan(args[0])
	if err != nil {
		return nil, err
	}
	if f.exec != "" {
		command, err := splitCommand(f.exec)
		if err != nil {
			return nil, fmt.Errorf("--exec: %w", err)
		}
		plan.Target.Exec, plan.Target.Build, plan.Target.PID = command, "", 0
	}
	if f.build != "" {
		plan.Target.Build, plan.Target.Exec, plan.Target.PID = f.build, nil, 0
	}
	if f.pid != 0 {
		plan.Target.PID, plan.Target.Exec, plan.Target.Build = f.pid, nil, ""
	}
	if f.ready != "" {
		plan.Target.Ready = f.ready
	}
	if f.pprof != "" {
		plan.Observe.Pprof = f.pprof
	}
	if f.postgres != "" {
		plan.Observe.Postgres = f.postgres
	}
	return plan, plan.Validate()
}

// splitCommand splits a command as a shell would; what only a shell can do
// (pipes, variables, redirection) is given to one.
func splitCommand(command string) ([]string, error) {
	words, err := shlex.Split(command)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("the command is empty")
	}
	if strings.ContainsAny(command, "|&;<>()$`*?~\n") || strings.Contains(words[0], "=") {
		return []string{"/bin/sh", "-c", command}, nil
	}
	return words, nil
}

// outcome turns a judged run into the exit code.
func outcome(s *record.Summary, runErr error) error {
	switch {
	case errors.Is(runErr, context.Canceled):
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; what was measured is kept in %s", s.Run)}
	case runErr != nil:
		return &exitError{exitUndecided, runErr}
	case s.Load.Requests > 0 && s.Load.Errors == s.Load.Requests:
		return &exitError{exitUndecided, errors.New("every request failed: nothing was measured of a working service (see the error kinds above)")}
	case !s.Generator.Valid:
		return &exitError{exitUndecided, errors.New("the measurement is invalid: " + strings.Join(s.Generator.WhyInvalid, "; "))}
	}
	for _, t := range s.Thresholds {
		if !t.OK {
			return &exitError{exitFailed, fmt.Errorf("threshold failed: %s", t.Expr)}
		}
	}
	return nil
}

func usageOrInterrupt(err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted before anything was measured")}
	}
	return &exitError{exitUsage, err}
}

func bundleIn(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "run.json"))
	return err == nil
}
