package show

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify/baseline"
)

// historyFlags select and draw a history.
type historyFlags struct {
	where    string
	scenario string
	branch   string
	machine  string
	since    string
	dirty    bool
	maxP     float64
	json     bool
	csv      bool
	plain    bool
	within   int
}

// regressionWithin is how many commits back --fail-on-regression looks by default: a
// change is detectable from the second commit after it, and a branch takes a few
// commits to be merged.
const regressionWithin = 10

// HistoryCommand returns the verb history.
func HistoryCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history [METRIC...]",
		Short: "Plot results by commit, and mark lasting changes",
		Long: `history plots the results that --history of run, ab, gate, bench, tune and knee kept:
one series per metric, scenario and machine. It marks the commits at which the level
changed for good, with the size of the change and how certain it is (E-divisive with
Student's t test). A change is detectable from the second commit after it; use redline
gate to judge a single commit.

Results of different machines are never compared: by default history plots only this
machine's; --machine all plots each machine separately. Results of dirty trees are left
out. redline history trials shows what redline tune and knee tried.

Exit code 0: plotted. With --fail-on-regression also 1: the newest change of a series is
for the worse and within the last 10 commits; 3: no series has enough commits.`,
		Example: `  redline run scenario.yaml --history history.db
  redline history cpu_per_request p99 --history history.db
  REDLINE_HISTORY=postgres://ci@db/redline redline history --fail-on-regression`,
		RunE: func(cmd *cobra.Command, metrics []string) error { return f.draw(cmd, metrics) },
	}
	flags := cmd.Flags()
	cmd.PersistentFlags().StringVar(&f.where, "history", "",
		"the history is in `FILE|DSN`, a SQLite file or a PostgreSQL ($"+history.Variable+")")
	flags.StringVar(&f.scenario, "scenario", "", "only scenario `NAME`, or the one whose hash begins with NAME")
	flags.StringVar(&f.branch, "branch", "", "only branch `NAME`")
	flags.StringVar(&f.machine, "machine", "this", "plot `MACHINES`: this, or all (separately)")
	flags.StringVar(&f.since, "since", "", "only results since `TIME` (2026-01-31, or an age: 90d)")
	flags.BoolVar(&f.dirty, "dirty", false, "include results of dirty trees")
	flags.Float64Var(&f.maxP, "max-p", history.DefaultMaxP, "report changes with a p-value of at most `P`")
	flags.BoolVar(&f.json, "json", false, "print the series as JSON ("+history.Schema+")")
	flags.BoolVar(&f.csv, "csv", false, "print the points as CSV")
	flags.BoolVar(&f.plain, "plain", false, "plot in ASCII")
	flags.IntVar(&f.within, "fail-on-regression", 0, "exit 1 if the newest change is for the worse and within the last `N` commits")
	flags.Lookup("fail-on-regression").NoOptDefVal = strconv.Itoa(regressionWithin)
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	cmd.AddCommand(historyAddCommand(&f), historyTrialsCommand(&f))
	return cmd
}

func historyAddCommand(f *historyFlags) *cobra.Command {
	var measured string
	cmd := &cobra.Command{
		Use:   "add RUN...",
		Short: "Keep recorded runs and comparisons in the history",
		Long: `add stores the results of bundles (redline run) and of sessions (side b of redline ab
and gate; side b, or the only side, of redline bench). It does not change a result that
is already in the history. The commit is the recorded one, or --commit.`,
		Example: "  redline history add runs/* --history history.db\n" +
			"  redline history add runs/20260102-150405-gateway --commit v1.2 --history history.db",
		Args: cli.Takes(1, math.MaxInt, "no run given: name its directory, runs/..."),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			store, err := cli.OpenHistory(cmd.Context(), f.where)
			if err != nil {
				return err
			}
			if store == nil {
				return errNoHistory
			}
			defer store.Close()
			var commit revision.Commit
			if measured != "" {
				if commit = revision.Describe(cmd.Context(), measured); commit.Time.IsZero() {
					return fmt.Errorf("git knows no revision %q here (hint: in the service's repository)", measured)
				}
			}
			var failed []error
			for _, dir := range dirs {
				r, err := history.FromRecorded(cmd.Context(), dir, commit)
				added := false
				if err == nil {
					added, err = store.Add(cmd.Context(), r)
				}
				switch {
				case err != nil:
					failed = append(failed, fmt.Errorf("%s: %w", dir, err))
				case added:
					inert.Fprintf(cmd.OutOrStdout(), "%s: kept%s\n", dir, cli.OfCommit(r.Commit))
				default:
					inert.Fprintf(cmd.OutOrStdout(), "%s: already kept\n", dir)
				}
			}
			return errors.Join(failed...)
		},
	}
	cmd.Flags().StringVar(&measured, "commit", "", "the measured commit is git revision `REF`, if the record has none")
	return cmd
}

var errNoHistory = errors.New("no history given (hint: --history history.db, or " + history.Variable + ")")

func (f *historyFlags) draw(cmd *cobra.Command, metrics []string) error {
	where := cmp.Or(f.where, os.Getenv(history.Variable))
	if where == "" {
		return errNoHistory
	}
	if f.machine != "this" && f.machine != "all" {
		return fmt.Errorf("--machine %q must be this or all", f.machine)
	}
	if !(f.maxP > 0 && f.maxP < 1) {
		return fmt.Errorf("--max-p %v must be between 0 and 1", f.maxP)
	}
	since, err := sinceTime(f.since, time.Now())
	if err != nil {
		return err
	}
	store, err := history.Read(cmd.Context(), where)
	if errors.Is(err, history.ErrNone) {
		inert.Fprintf(cmd.ErrOrStderr(), "%v (hint: redline run, ab, gate and bench keep their results with --history)\n", err)
		return f.show(cmd, nil, nil)
	}
	if err != nil {
		return err
	}
	defer store.Close()
	results, err := store.Results(cmd.Context(), history.Filter{Metrics: metrics, Scenario: f.scenario, Branch: f.branch, Since: since})
	if err != nil {
		return err
	}
	all := history.Arrange(results, history.Options{Dirty: f.dirty, MaxP: f.maxP})
	if len(all) == 0 {
		inert.Fprintf(cmd.ErrOrStderr(), "no result in %s matches%s\n", store.Name(), onlyDirty(results, f.dirty))
	}
	here, others := history.Here(all, record.HostInfo())
	if f.machine == "all" {
		here, others = append(here, others...), nil
	}
	return f.show(cmd, here, others)
}

func onlyDirty(results []history.Result, asked bool) string {
	if len(results) == 0 || asked {
		return ""
	}
	return fmt.Sprintf(", except %d from dirty trees (hint: --dirty)", len(results))
}

// show prints series in the requested format, and returns the exit code for whether
// one has regressed. Others are series of other machines, which are only counted.
func (f *historyFlags) show(cmd *cobra.Command, series, others []history.Series) error {
	w, this := cmd.OutOrStdout(), record.HostInfo()
	var err error
	switch {
	case f.json:
		err = history.JSON(w, series, this)
	case f.csv:
		err = history.CSV(w, series)
	default:
		err = history.Text(w, series, history.TextOptions{Width: cli.Width(w), Plain: f.plain || !utf8Terminal(),
			Color: cli.Colour(w), Machine: this})
	}
	if err != nil {
		return err
	}
	if len(others) > 0 {
		inert.Fprintf(cmd.ErrOrStderr(), "not drawn: %d series of other machines; %s (hint: --machine all draws them separately)\n",
			len(others), baseline.Differing(baseline.MachineDifferences(this, others[0].Machine)))
	}
	if f.within <= 0 {
		return nil
	}
	return regression(series, f.within)
}

// regression is the exit of --fail-on-regression.
func regression(series []history.Series, within int) error {
	var worse []string
	judged := 0
	for _, s := range series {
		if len(s.Points) < history.LeastPoints {
			continue
		}
		judged++
		if c, yes := s.Regressed(within); yes {
			commit := s.Points[c.At].Commit.Hash
			worse = append(worse, fmt.Sprintf("%s of %s since %s (%s)", s.Metric, s.Scenario,
				commit[:min(8, len(commit))], notation.Change(c.Relative())))
		}
	}
	switch {
	case len(worse) > 0:
		return cli.Exit(cli.ExitFailed, errors.New("worse: "+strings.Join(worse, "; ")))
	case judged == 0:
		return cli.Exit(cli.ExitUndecided, fmt.Errorf("no series has the %d commits needed to detect a "+
			"change", history.LeastPoints))
	}
	return nil
}

// sinceTime reads a date, an instant or an age; the zero time for "".
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	return time.Time{}, fmt.Errorf("--since %q is not a time (hint: 2026-01-31, 90d or 12h)", text)
}

// utf8Terminal reports whether the locale's encoding is UTF-8. As POSIX requires,
// the first of these variables that is set counts.
func utf8Terminal() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	locale = strings.ReplaceAll(strings.ToLower(locale), "-", "")
	return strings.Contains(locale, "utf8")
}
