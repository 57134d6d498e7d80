// Package measure holds `redline run`, `redline knee` and `redline baseline`, and the
// load flags that other verbs share.
package measure

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/lint"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/document"
)

// Flags are the flags of `redline run`.
type Flags struct {
	scenario.Flags
	warmup   time.Duration
	Out      string
	JSON     bool
	plain    bool
	all      bool
	verbose  bool
	overhead bool
	pairs    int
	blind    bool
	Yes      bool
	History  string
	web      string // address of the live page; empty without one
}

// RunCommand returns the verb run.
func RunCommand() *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "run URL | scenario.yaml [-- ARGS]",
		Short: "Put load on a service and find its bottleneck",
		Long: `run puts load on a service, observes it, breaks down slow requests, and names the
bottleneck with evidence and a remedy.

Most runs need only these flags:
  --build PKG      build the service from its main package and start it
  -c N             closed loop: each of N connections waits for the response before it
                   sends its next request
  --rate N/s       open loop: N requests per second, however fast the service responds
  -d TIME          how long to measure
  --postgres DSN   the service's database
  -- ARGS          arguments of the service

The more redline can observe, the more it can prove:
  --build PKG      everything: it builds the service with a probe injected
  --exec CMD       starts a command; runtime and traces if it imports the probe
  --pid PID        a running process; add --pprof for profiles and traces
  URL alone        load, and the listening process if it is on this host

Without further flags: 64 connections in a closed loop, 5s of warm-up, 30s measured. A
scenario file has no warm-up unless it sets one. The URL's scheme selects the protocol:
http and https (--http2 for HTTP/2), grpc and grpcs, ws and wss, tcp. redline loads
other hosts only after you confirm, or with --yes.

The measurements are kept in a bundle (runs/<time>-<scenario>/), which redline report
and redline diagnose can read again.

On a terminal redline draws the run live: p pauses the view, s stops the load early and
keeps what was measured, q leaves the view, ? explains the figures; --plain prints lines
instead. --web shows the run live in a browser, and its report at the end. On loopback
only your own user and root have access; at an address that other machines can reach,
viewers need the token in the URL: a new one each time, or the one in
$REDLINE_WEB_TOKEN. The run does not wait for a browser.

Exit code 0: measured, thresholds met. 1: a threshold failed. 2: usage or input
error. 3: the measurement is invalid or incomplete. 130: interrupted; the bundle is kept.`,
		Example: `  redline run http://127.0.0.1:8080/ -c 64 -d 30s --build ./cmd/svc
  redline run http://127.0.0.1:8080/api --rate 2000/s --poisson --pprof http://127.0.0.1:6060/debug/pprof
  redline run http://127.0.0.1:8080/ -c 100 --think mean=500ms -n 10000
  redline run https://127.0.0.1:8443/ --http2 --streams 10 --cacert ca.pem
  redline run grpc://127.0.0.1:50051/shop.v1.Orders/Get --data '{"id": 7}'
  redline run http://127.0.0.1:8080 --replay access.log --speed 2
  redline run scenario.yaml --web
  redline run scenario.yaml --postgres "$DATABASE_URL" --json > summary.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	return cmd
}

// register adds the flags of run, those that most people need first.
func (f *Flags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.TargetFlags(flags)
	f.LoadFlags(flags)
	f.RequestFlags(flags)
	f.ObserveFlags(flags)
	cli.Under(flags, "Observe", f.overheadFlags)
	cli.Under(flags, "Output", f.outputFlags)
	cmd.MarkFlagsMutuallyExclusive("exec", "build", "pid")
	cmd.MarkFlagsMutuallyExclusive("no-observe", "measure-overhead")
	cmd.MarkFlagsMutuallyExclusive("body", "data")
	completions(cmd)
}

func (f *Flags) run(cmd *cobra.Command, args []string) (failed error) {
	plan, err := f.Plan(cmd, args)
	if err != nil {
		return err
	}
	reservation, err := cli.Reserve(f.Out, plan.Name)
	if err != nil {
		return err
	}
	defer reservation.Release()
	store, err := cli.OpenHistory(cmd.Context(), f.History)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, stop := context.WithCancelCause(cmd.Context())
	defer stop(nil)
	title := plan.Redactor(os.Environ()).Text(string(plan.Requests[0].URL))
	view := cli.NewView(cmd.ErrOrStderr(), title, f.plain, func() { stop(run.ErrStopped) })
	defer view.Close()
	page, err := f.watch(cmd, view, plan, stop)
	if err != nil {
		return err
	}
	defer page.Close()
	defer func() { page.finish(nil, nil, failed) }() // unless it finished well
	o := run.Options{Plan: plan, Dir: reservation.Dir(), Reservation: reservation, Version: cli.Version(), Blind: f.blind}
	o.OnEvent = func(e run.Event) {
		view.Event(e)
		page.Event(e)
	}
	if page != nil || view.Follows() {
		o.Follow = followers{page, view}
	}
	if f.verbose {
		o.Output = cmd.ErrOrStderr()
	}
	rec, summary, runErr := f.measure(ctx, cmd, o, page)
	if summary == nil {
		return runErr
	}
	view.Close()
	if err := cli.PrintSummary(cmd.OutOrStdout(), rec, summary, f.JSON, f.all); err != nil {
		return err
	}
	if known := lastBaseline(); known != "" && !f.JSON {
		inert.Fprintf(cmd.OutOrStdout(), "\n%s\n", known)
	}
	if runErr == nil {
		cli.KeepRun(cmd.Context(), store, rec, func(format string, args ...any) { inert.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) })
	}
	return cli.Outcome(summary, runErr)
}

// measure runs the plan and assesses the bundle. The summary is nil where there is nothing to show; otherwise the
// error says what is missing in it.
func (f *Flags) measure(ctx context.Context, cmd *cobra.Command, o run.Options, page *watched) (*record.Record, *record.Summary, error) {
	runErr := run.Run(ctx, o)
	page.recorded()
	if runErr != nil && !cli.BundleIn(o.Dir) {
		return nil, nil, cli.UsageOrInterrupt(ctx, runErr)
	}
	o.Follow = nil // the runs of --measure-overhead are not shown
	var overhead *record.Overhead
	if f.overhead && runErr == nil {
		overhead, runErr = run.Overhead(ctx, o, f.pairs)
	}
	if o.Plan.Target.Build != "" && runErr == nil {
		o.OnEvent(run.Event{Phase: "reading the compiler's remarks"})
		remarks(cmd, o.Dir, o.Plan.Target.Build, o.Plan.Target.BuildFlags)
	}
	o.OnEvent(run.Event{Phase: "breaking requests down"})
	rec, summary, err := assess.Bundle(o.Dir)
	runErr = errors.Join(runErr, err)
	if summary == nil {
		return nil, nil, runErr
	}
	if overhead != nil {
		summary.Overhead = overhead
		runErr = errors.Join(runErr, disk.WriteJSON(o.Dir, record.SummaryFile, summary))
	}
	runErr = errors.Join(runErr, cli.WriteHTML(rec, summary))
	page.finish(rec, summary, runErr)
	return rec, summary, runErr
}

// remarks adds the compiler's remarks to the bundle. They explain findings and are no part of the
// measurement: if there are none, a note says why.
func remarks(cmd *cobra.Command, dir, pkg string, flags []string) {
	if err := lint.Bundle(cmd.Context(), dir, pkg, flags); err != nil {
		inert.Fprintf(cmd.ErrOrStderr(), "redline: no remarks from the compiler: %v\n", err)
	}
}

// Plan puts the scenario together from the file or URL and the flags. The arguments
// after -- are the target's.
func (f *Flags) Plan(cmd *cobra.Command, args []string) (*scenario.Plan, error) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, f.Args = args[:at], args[at:]
	}
	args = f.addressOfWeb(args)
	if len(args) != 1 {
		return nil, errors.New("no target: give one URL or one scenario file (hint: redline run http://127.0.0.1:8080/)")
	}
	if cmd.Flags().Changed("warmup") {
		f.Warmup = &f.warmup
	}
	plan, err := f.read(args[0])
	if err != nil {
		return nil, err
	}
	if f.overhead { // not after the run that it follows
		if err := run.CheckOverhead(plan, f.pairs); err != nil {
			return nil, err
		}
	}
	return plan, f.confirm(cmd, plan)
}

// read makes the plan from a URL or a scenario file; the flags override it.
func (f *Flags) read(name string) (*scenario.Plan, error) {
	if strings.Contains(name, "://") {
		return scenario.FromURL(name, f.Flags)
	}
	plan, err := document.Read(name)
	if err != nil {
		return nil, err
	}
	return plan, plan.Apply(f.Flags)
}
