package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/forecast"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/knee/session"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/scenario/scalar"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify/baseline"
)

// forecastFlags say where a history comes from and what is asked of it.
type forecastFlags struct {
	prometheus, query, history, metric, scenario, column, since string
	limit, unit, by, zeros                                      string
	step, horizon                                               time.Duration
	holidays                                                    []string
	json, markdown, plain                                       bool
}

// ForecastCommand returns the verb forecast.
func ForecastCommand() *cobra.Command {
	var f forecastFlags
	cmd := &cobra.Command{
		Use:   "forecast [FILE.csv]",
		Short: "Predict when growth reaches a limit, such as the knee",
		Long: `forecast extrapolates a history of load and predicts the day on which it first reaches
a limit, with an 80 % interval. The history is a CSV file of time and value (- for
standard input), a Prometheus query, or a metric that --history has kept.

Exponential smoothing, ARIMA and Theta fit daily and weekly seasons, trend and holidays;
a backtest on the history itself gives the most weight to those that do best, compared
with the seasonal naive forecast. Several points within a step become their maximum,
because peaks reach limits first. Days are in UTC.

Without --limit, the limit of a rate is the newest knee in runs/. Exit code 0: forecast. 2: the
history cannot be read. 3: it is too short for a forecast.`,
		Example: `  redline forecast qps.csv --limit 6200/s
  redline forecast --prometheus http://127.0.0.1:9090 --query 'sum(rate(http_requests_total[5m]))' --since 90d --limit 6200/s
  redline forecast --history history.db --metric throughput --horizon 720h`,
		Args: cli.Takes(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error { return f.answer(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.column, "column", "", "values are in column `NAME` of the CSV file")
	flags.StringVar(&f.prometheus, "prometheus", "", "query the Prometheus at base `URL`")
	flags.StringVar(&f.query, "query", "", "query `PROMQL`, which must return one series")
	flags.StringVar(&f.history, "history", "",
		"read the history that --history of run has kept in `FILE|DSN`, a SQLite file or a PostgreSQL")
	flags.StringVar(&f.metric, "metric", "throughput", "forecast `METRIC` of the history")
	flags.StringVar(&f.scenario, "scenario", "",
		"only scenario `NAME` of the history, or the one whose hash begins with NAME")
	flags.StringVar(&f.since, "since", "90d", "query Prometheus for values since `TIME` (2026-01-31, or an age)")
	flags.StringVar(&f.limit, "limit", "",
		"the limit is `VALUE`, such as 6200/s, 20ms or 512MiB (default for rates: the newest knee in runs/)")
	flags.StringVar(&f.unit, "unit", "", "print values in `UNIT` (default: /s, or that of the metric)")
	flags.DurationVar(&f.step, "step", 0, "make steps `TIME` long (default: the distance between points; 1h for Prometheus)")
	flags.DurationVar(&f.horizon, "horizon", 0, "look `TIME` ahead (default: the length of the history, at most a year)")
	flags.StringVar(&f.by, "by", forecast.ByMax, "combine several points of one step by `METHOD`: max or mean")
	flags.StringVar(&f.zeros, "zeros", "values", "take zeros as `MEANING`: values, or gaps")
	flags.StringSliceVar(&f.holidays, "holidays", nil, "treat `DAYS` as holidays: dates (2026-12-25), or files with one per line")
	flags.BoolVar(&f.json, "json", false, "print the forecast as JSON ("+forecast.Schema+")")
	flags.BoolVar(&f.markdown, "markdown", false, "print it as Markdown")
	flags.BoolVar(&f.plain, "plain", false, "plot in ASCII")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	cmd.MarkFlagsMutuallyExclusive("prometheus", "history")
	return cmd
}

func (f *forecastFlags) answer(cmd *cobra.Command, args []string) error {
	if f.by != forecast.ByMax && f.by != forecast.ByMean {
		return fmt.Errorf("--by %q must be max or mean", f.by)
	}
	if f.zeros != "values" && f.zeros != "gaps" {
		return fmt.Errorf("--zeros %q must be values or gaps", f.zeros)
	}
	if f.step < 0 || f.horizon < 0 {
		return errors.New("--step and --horizon must not be negative")
	}
	q := forecast.Question{Unit: cmp.Or(f.unit, perSecond), Horizon: f.horizon, Seed: 1}
	var err error
	if q.Holidays, err = f.days(); err != nil {
		return err
	}
	points, err := f.points(cmd, args, &q)
	if err == nil {
		var limitErr error
		if q.Limit, q.LimitOf, limitErr = f.limitOf(q.Unit); limitErr != nil {
			return limitErr
		}
		q.Grid, err = forecast.Regular(points, forecast.GridOptions{Step: f.step, By: f.by, ZeroIsGap: f.zeros == "gaps"})
	}
	var a *forecast.Answer
	if err == nil {
		a, err = forecast.Ask(q)
	}
	switch {
	case forecast.Short(err):
		return cli.Exit(cli.ExitUndecided, fmt.Errorf("%s: %w", q.Source, err))
	case err != nil && q.Source != "":
		return fmt.Errorf("%s: %w", q.Source, err)
	case err != nil:
		return err
	}
	w := cmd.OutOrStdout()
	switch {
	case f.json:
		return forecast.JSON(w, a)
	case f.markdown:
		return forecast.Markdown(w, a)
	}
	return forecast.Text(w, a, forecast.TextOptions{Width: cli.Width(w), Plain: f.plain || !utf8Terminal()})
}

// points reads the history from where the flags say, and names the source.
func (f *forecastFlags) points(cmd *cobra.Command, args []string, q *forecast.Question) ([]forecast.Point, error) {
	switch {
	case len(args) == 1 && f.prometheus == "" && f.history == "":
		return f.file(cmd.InOrStdin(), args[0], q)
	case len(args) == 0 && f.prometheus != "":
		return f.queried(cmd.Context(), q)
	case len(args) == 0 && cmp.Or(f.history, os.Getenv(history.Variable)) != "":
		return f.kept(cmd.Context(), q)
	case len(args) == 0:
		return nil, errors.New("no history given (hint: a CSV file, --prometheus URL, or --history FILE)")
	}
	return nil, errors.New("a file, --prometheus and --history exclude each other")
}

func (f *forecastFlags) file(stdin io.Reader, path string, q *forecast.Question) ([]forecast.Point, error) {
	if path == "-" {
		q.Source = "standard input"
		return forecast.ReadCSV(stdin, f.column)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	q.Source = filepath.Base(path)
	return forecast.ReadCSV(file, f.column)
}

func (f *forecastFlags) queried(ctx context.Context, q *forecast.Question) ([]forecast.Point, error) {
	if f.query == "" {
		return nil, errors.New("--prometheus needs --query")
	}
	now := time.Now().UTC()
	since, err := sinceTime(f.since, now)
	if err != nil {
		return nil, err
	}
	step := cmp.Or(f.step, time.Hour)
	f.step = step
	to := now.Truncate(step)
	// The last step is not over yet.
	points, err := forecast.Query(ctx, forecast.Range{URL: f.prometheus, Query: f.query, From: since.UTC().Truncate(step),
		To: to.Add(-step), Step: step})
	if u, parseErr := url.Parse(f.prometheus); err == nil && parseErr == nil { // its errors name the host
		q.Source = "Prometheus at " + u.Host
	}
	return points, err
}

// kept reads one metric's results on this machine.
func (f *forecastFlags) kept(ctx context.Context, q *forecast.Question) ([]forecast.Point, error) {
	store, err := history.Read(ctx, cmp.Or(f.history, os.Getenv(history.Variable)))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	q.Source = fmt.Sprintf("%s in %s", f.metric, store.Name())
	results, err := store.Results(ctx, history.Filter{Metrics: []string{f.metric}, Scenario: f.scenario})
	if err != nil {
		return nil, err
	}
	here, others := record.HostInfo(), 0
	var points []forecast.Point
	var scenarios, units []string
	for _, r := range results {
		if len(baseline.MachineDifferences(here, r.Machine)) > 0 {
			others++
			continue
		}
		if !slices.Contains(scenarios, r.Hash) {
			scenarios = append(scenarios, r.Hash)
		}
		if unit := r.Figures[0].Unit; !slices.Contains(units, unit) {
			units = append(units, unit)
		}
		points = append(points, forecast.Point{Time: r.Time, Value: r.Figures[0].Value})
	}
	if len(scenarios) > 1 {
		return nil, fmt.Errorf("results of %d scenarios cannot be compared (hint: --scenario)", len(scenarios))
	}
	if len(points) == 0 && others > 0 {
		return nil, fmt.Errorf("its %d results come from other machines", others)
	}
	if f.unit == "" && len(units) == 1 {
		q.Unit = printed(units[0])
	}
	return points, nil
}

// perSecond is the unit of a load.
const perSecond = "/s"

// printed is how a figure's unit follows its number.
func printed(unit string) string {
	switch unit {
	case "1/s":
		return perSecond
	case "ns", "bytes", "1": // forecast writes them as other pages do
		return unit
	}
	return " " + unit
}

// limitOf returns the limit of --limit in a unit, or for a rate that of the newest knee; 0 without either.
func (f *forecastFlags) limitOf(unit string) (v float64, of string, err error) {
	if f.limit != "" {
		v, err = limitIn(unit, f.limit)
		return v, "the limit", err
	}
	if unit != perSecond {
		return 0, "", nil
	}
	v, when := newestKnee("runs")
	return v, "the knee of " + when.UTC().Format("2 January 2006"), nil
}

// limitIn reads a limit of values in a unit. Without a unit that it knows, a limit is a number, which may be one per second.
func limitIn(unit, text string) (float64, error) {
	switch unit {
	case "ns":
		d, err := scalar.ParsePositive(text)
		return float64(d), err
	case "bytes":
		if v, ok := tune.Amount(text); ok && v > 0 {
			return v, nil
		}
		return 0, fmt.Errorf("--limit %.40q is not a size (hint: 512MiB)", text)
	}
	return scalar.ParseRate(text)
}

// mostKnee bounds a knee.json that is read.
const mostKnee = 16 << 20

// newestKnee returns the rate of the newest knee found below a directory, 1/s, and when its
// session began; 0 without one.
func newestKnee(runs string) (rate float64, begun time.Time) {
	files, _ := filepath.Glob(filepath.Join(runs, "*", session.AnswerFile))
	for _, path := range files {
		data, err := disk.Read(filepath.Dir(path), session.AnswerFile, mostKnee)
		var a knee.Answer
		if err != nil || disk.Unmarshal(data, &a) != nil || a.Schema != knee.Schema || a.State != knee.Found || a.Knee == nil {
			continue
		}
		if a.Knee.Rate > 0 && !math.IsInf(a.Knee.Rate, 0) && a.Header.Begun.After(begun) {
			rate, begun = a.Knee.Rate, a.Header.Begun
		}
	}
	return rate, begun
}

// days reads holidays given as days or as files.
func (f *forecastFlags) days() (out []time.Time, err error) {
	for _, given := range f.holidays {
		if day, err := time.Parse(time.DateOnly, strings.TrimSpace(given)); err == nil {
			out = append(out, day)
			continue
		}
		file, err := os.Open(given)
		if err != nil {
			return nil, fmt.Errorf("--holidays: %w (hint: 2026-12-25, or a file with one a line)", err)
		}
		days, err := forecast.ReadHolidays(io.LimitReader(file, 1<<20))
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("--holidays %s: %w", given, err)
		}
		out = append(out, days...)
	}
	return out, nil
}
