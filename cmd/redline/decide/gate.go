package decide

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/service/scratch"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// Values of gate --on-inconclusive.
const (
	undecidedFails  = "fail"
	undecidedPasses = "pass-with-warning"
)

// gate is the verb with its own flags.
type gate struct {
	compareFlags
	base, also, build string
	changedOnly       bool
}

// GateCommand returns the verb gate.
func GateCommand() *cobra.Command {
	g := gate{compareFlags: compareFlags{undecided: undecidedFails}}
	cmd := &cobra.Command{
		Use:   "gate (--base REF | --baseline FILE | --save-baseline FILE) URL | scenario.yaml",
		Short: "Fail a build that makes a service slower",
		Long: `gate fails a CI job if the work tree makes the service slower. It builds the work tree
and a git revision (--base) and compares them as redline ab does. A metric passes only
if the session could have detected a change as large as its margin: on a runner that is
too noisy to decide, the exit code is 3, not 0. --on-inconclusive pass-with-warning
makes that 0, with a warning.

The service is the scenario's target.build, or --build. Margins are set in the scenario
(verify:); the default is 5 % for CPU per request.

--also-against REF also compares with a second revision, in its own session, because
small regressions that each pass add up. --changed-only skips the measurement if the
service and its dependencies compile to the same code.

Instead of --base, --baseline FILE compares with launches that --save-baseline FILE
stored earlier. That halves the measuring time but is less sensitive: the comparison
also picks up everything else that has changed since, so intervals are wider. With
another machine, kernel, Go version or scenario it decides nothing (exit code 3).
--save-baseline alone measures and stores.

With CI=true every metric that did not pass is also printed as a workflow command,
which CI systems show next to the change. --markdown, --junit and --sarif write reports.

Exit code 0: nothing is worse by its margin. 1: regression. 2: usage or input error.
3: inconclusive, or the session is invalid. 130: interrupted.`,
		Example: `  redline gate --base origin/main scenario.yaml
  redline gate --base origin/main --also-against v1.4.0 --changed-only scenario.yaml
  redline gate --save-baseline base.json scenario.yaml
  redline gate --baseline base.json scenario.yaml
  redline gate --base HEAD~1 scenario.yaml --markdown gate.md --junit gate.xml --sarif gate.sarif`,
		Args: cli.Takes(1, 1, "no target: give one URL or one scenario file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := g.check(cmd, args)
			if err != nil {
				return err
			}
			return g.run(cmd, plan, args[0])
		},
	}
	g.register(cmd, g.gateFlags)
	cmd.MarkFlagsMutuallyExclusive("base", "baseline")
	return cmd
}

func (g *gate) gateFlags(flags *pflag.FlagSet) {
	flags.StringVar(&g.base, "base", "", "compare the work tree with git revision `REF`")
	flags.StringVar(&g.build, "build", "", "build main package `PKG`, relative to this directory (default the scenario's target.build)")
	flags.StringVar(&g.undecided, "on-inconclusive", undecidedFails, "`OUTCOME` of an inconclusive session: fail (exit 3) or "+
		"pass-with-warning (exit 0)")
	flags.BoolVar(&g.changedOnly, "changed-only", false, "measure nothing if the service and its base are built from the same code")
	flags.StringVar(&g.also, "also-against", "", "also compare with git revision `REF`, such as the last release, to find "+
		"small regressions that add up")
	flags.StringVar(&g.baseline, "baseline", "", "compare with `FILE` from --save-baseline: measures only the work tree, is "+
		"less sensitive")
}

// check reads the scenario and refuses flags that do not go together.
func (g *gate) check(cmd *cobra.Command, args []string) (*scenario.Plan, error) {
	switch {
	case g.undecided != undecidedFails && g.undecided != undecidedPasses:
		return nil, fmt.Errorf("--on-inconclusive %q is neither %s nor %s", g.undecided, undecidedFails, undecidedPasses)
	case g.base == "" && (g.also != "" || g.changedOnly):
		return nil, errors.New("--also-against and --changed-only need --base")
	case g.base == "" && g.baseline == "" && g.saveBaseline == "":
		return nil, errors.New("no revision to compare with (hint: --base origin/main)")
	}
	plan, err := g.Plan(cmd, args)
	if err != nil {
		return nil, err
	}
	if g.build == "" {
		g.build = plan.Target.Build
	}
	if g.build == "" {
		return nil, errors.New("no package to build: the scenario has no target.build (hint: --build ./cmd/svc)")
	}
	return plan, nil
}

// run compares with the base, and with the second revision if there is one.
func (g *gate) run(cmd *cobra.Command, plan *scenario.Plan, name string) error {
	if g.base == "" {
		return g.against(cmd, plan, name, side{build: g.build})
	}
	sides := func(ref string) [2]side { return [2]side{{build: g.build + "@" + ref}, {build: g.build}} }
	if g.changedOnly {
		same, err := g.unchanged(cmd.Context(), plan)
		if err != nil {
			return err
		}
		if same {
			return g.conclude(cmd, compared{Result: verify.Unchanged(g.base)}, name)
		}
	}
	of := whole
	if g.also != "" {
		of = first
	}
	result, err := g.decide(cmd, plan, name, sides(g.base), history.Gate, of)
	if err != nil {
		return err
	}
	if g.also != "" && result.Verdict != verify.Invalid {
		f := g.second()
		cumulative, err := f.decide(cmd, plan, name, sides(g.also), history.Gate, second)
		if err != nil {
			return err
		}
		result.Result = result.Also(g.also, cumulative.Result)
		result.Tolerated = g.tolerates(result.Result)
	}
	return g.conclude(cmd, result, name)
}

// second returns the flags of the session with the second revision. Its directory lies next to the
// first's, which already keeps the results of the work tree.
func (g *gate) second() compareFlags {
	f := g.compareFlags
	f.Out, f.saveBaseline, f.html = filepath.Clean(f.Out)+"-also", "", ""
	_, err := os.Stat(filepath.Join(f.Out, session.File))
	f.resume = f.resume && err == nil
	return f
}

// unchanged reports whether the work tree's target compiles to the same code as at the base and at
// the second revision.
func (g *gate) unchanged(ctx context.Context, plan *scenario.Plan) (bool, error) {
	folder, err := scratch.New("gate")
	if err != nil {
		return false, err
	}
	defer folder.Remove()
	own, err := revision.BuildID(ctx, revision.Sources{Package: g.build}, folder.Path, plan.Target.BuildFlags...)
	if err != nil {
		return false, err
	}
	for _, ref := range []string{g.base, g.also} {
		if ref == "" {
			continue
		}
		id, err := revision.BuildID(ctx, revision.Sources{Package: g.build, Revision: ref}, folder.Path, plan.Target.BuildFlags...)
		if err != nil || id != own {
			return false, err
		}
	}
	return true, nil
}
