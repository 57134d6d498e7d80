package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tuning "github.com/redline-go/redline/tune/measure"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/cmd/redline/measure"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/tune"
)

// tuneFlags are the flags of `redline tune`.
type tuneFlags struct {
	measure.Flags
	knobs     []string
	objective string
	guards    []string
	maxTime   time.Duration
	trials    int
	seed      uint64
	block     time.Duration
	pgo       bool
	sweep     bool
	apart     bool
	resume    bool
	markdown  string
	hosts     []string // on which live knobs are set, besides loopback
}

func (f *tuneFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	cli.Under(flags, "Search", f.searchFlags)
	f.TargetFlags(flags)
	f.LoadFlags(flags)
	f.RequestFlags(flags)
	f.ObserveFlags(flags)
	cli.Under(flags, "Output", f.resultFlags)
	f.RecordFlags(flags)
	for _, name := range []string{"duration", "requests", "warmup", "threshold"} { // check refuses all four
		_ = flags.MarkHidden(name) // it fails only for a flag that is not there
	}
	cmd.MarkFlagsMutuallyExclusive("exec", "build", "pid")
}

func (f *tuneFlags) searchFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.knobs, "knob", nil,
		"search `NAME=VALUES`: a range (50..400) or a list (a,b,c); may be repeated")
	flags.BoolVar(&f.pgo, "pgo", false, "same as --knob pgo")
	flags.StringVar(&f.objective, "objective", "", "improve `METRIC`: throughput, cpu, p50, p90, p99, memory")
	flags.StringArrayVar(&f.guards, "guard", nil,
		"recommend only settings that meet `LIMIT` (\"p99 < 20ms\", \"rss < 512MiB\", \"errors < 0.1%\"); may be repeated")
	flags.DurationVar(&f.maxTime, "max-time", tuning.DefaultMaxTime, "end after `TIME`, confirmation included")
	flags.IntVar(&f.trials, "trials", 0,
		"search with at most `N` trials (default 40 per knob or a quarter of all settings, as the time allows)")
	flags.BoolVar(&f.sweep, "sweep", false, "try every setting in turn instead of searching")
	flags.DurationVar(&f.block, "block", 0, "measure each launch for `TIME`, after a warm-up of half as long (default 2s)")
	flags.BoolVar(&f.apart, "one-at-a-time", false, "never run both sides at once")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "set http: knobs on `HOST` too, not only on loopback; may be repeated")
	flags.BoolVar(&f.resume, "resume", false, "continue the interrupted tune in the directory of -o")
	flags.Uint64Var(&f.seed, "seed", 0, "random seed `N` for the search (default random)")
}

func (f *tuneFlags) resultFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Out, "out", "o", "", "keep the trials in directory `DIR` (default runs/<time>-tune)")
	flags.BoolVar(&f.JSON, "json", false, "print only tune.json on stdout")
	flags.StringVar(&f.markdown, "markdown", "", "write the result as Markdown to `FILE`")
	cli.HistoryFlag(flags, &f.History)
}

// knobList returns the knobs of the flags, as they were written and parsed.
func (f *tuneFlags) knobList() (words []string, knobs []tune.Knob, err error) {
	words = f.knobs
	if f.pgo && !strings.Contains(" "+strings.Join(words, " ")+" ", " pgo ") {
		words = append(words, "pgo")
	}
	for _, text := range words {
		k, err := tune.ParseKnob(text)
		if err != nil {
			return nil, nil, err
		}
		knobs = append(knobs, k)
	}
	return words, knobs, nil
}

// running reports whether a plan's target is started by someone else.
func running(plan *scenario.Plan) bool {
	return plan.Target.PID != 0 || plan.Target.Build == "" && len(plan.Target.Exec) == 0
}

// check refuses what tune cannot do, before anything is built.
func (f *tuneFlags) check(cmd *cobra.Command, plan *scenario.Plan, space tune.Space) error {
	for _, flag := range []string{"duration", "requests", "warmup"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s does not apply to a tune: --block is the measured time of each launch, after a warm-up of "+
				"half as long, and --trials or --max-time ends it", flag)
		}
	}
	if cmd.Flags().Changed("threshold") {
		return errors.New("--threshold does not apply to a tune: --guard sets limits that a setting must meet")
	}
	if running(plan) && slices.ContainsFunc(space.Knobs, func(k tune.Knob) bool { return k.Kind != tune.Live }) {
		return errors.New(
			"tune launches the service with each setting, but the scenario names no target to launch (hint: --build " +
				"./cmd/svc or --exec CMD; only http: knobs work on a running service)",
		)
	}
	if err := tuning.CheckLive(plan, space.Knobs, f.hosts); err != nil {
		return err
	}
	if f.resume && f.Out == "" {
		return errors.New("no tune to resume (hint: -o runs/...)")
	}
	for _, k := range space.Knobs {
		if k.Kind == tune.PGO && plan.Target.Build == "" {
			return errors.New("knob pgo builds the target, but the scenario has no target.build (hint: --build ./cmd/svc)")
		}
	}
	return nil
}
