package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

const (
	// DefaultMaxTime bounds a tune if nothing else does.
	DefaultMaxTime = 30 * time.Minute
	// At least perKnob trials per knob are allowed, or a quarter of the settings if that is more: a search
	// ends by itself once it expects its choice to lose less than 0.5 %.
	perKnob = 40
	quarter = 4
	// confirming is the share of the time that is set aside for the confirmation.
	confirming = 0.35
	// confirmingPairs is the least number of pairs that a confirmation needs: 6 of the
	// present setting with itself, and the fewest on which a test can decide.
	confirmingPairs = 6 + verify.LeastPairs
)

// Tuner searches a space of settings by trials.
type Tuner struct {
	Present   session.Side   // the service as it is
	Profiled  string         // a binary built with a profile, for the knob pgo; empty without that knob
	Inlining  *tune.Inlining // what that profile inlined; nil if unknown
	Space     tune.Space
	Objective tune.Objective
	Measurer  session.Measurer
	Header    Header // Service, Plan, Objective, Knobs and Host are needed
	// Dir keeps the trials; it must exist.
	Dir string
	// MaxTime bounds the tune, its confirmation included; zero means 30 minutes. Trials bounds the
	// search; zero means 40 per knob, or a quarter of all settings.
	MaxTime time.Duration
	Trials  int
	// Sweep tries every setting in turn instead of searching.
	Sweep      bool
	OneAtATime bool
	Seed       uint64
	// Running is set if the target is already running and all knobs are live: it is not launched, and its
	// knobs are restored at the end.
	Running bool
	// LiveHosts are hosts, in addition to loopback, to which settings may be sent.
	LiveHosts []string
	// Resume continues the tune in Dir.
	Resume bool
	// OnProgress, if set, receives each event as a line. It must not block.
	OnProgress func(line string)

	admin   *admin
	search  *tune.Search
	trials  session.Trials
	log     *log
	begun   time.Time
	each    time.Duration // a trial takes
	present []verify.Block
	done    []logged
	remarks []string
}

// Run searches, confirms and returns the result; if the context ends, the result so far with
// the context's error.
func (t *Tuner) Run(ctx context.Context) (r tune.Result, err error) {
	t.begun, t.remarks = time.Now(), make([]string, len(t.Space.Knobs))
	t.admin = newAdmin(t.LiveHosts)
	t.Present.Prepare = t.prepared(t.Space.Present)
	t.Header.Seed, t.Header.Sweep = t.Seed, t.Sweep
	if t.log, err = openLog(t.Dir, &t.Header, t.Resume); err != nil {
		return tune.Result{}, err
	}
	defer t.log.close()
	defer func() { err = errors.Join(err, t.restore(ctx)) }()
	t.Seed = t.Header.Seed
	t.trials = session.Trials{A: t.Present, Measurer: t.Measurer, OneAtATime: t.OneAtATime, Seed: t.Seed}
	t.step("measuring the service as it is")
	first, err := t.trials.Settle(ctx)
	if err != nil {
		return tune.Result{}, err
	}
	t.each, t.present = t.trials.Took(), append(t.present, first.A, first.B)
	if err := t.budget(); err != nil {
		return tune.Result{}, err
	}
	t.search = tune.NewSearch(t.Space, tune.Options{Trials: t.Header.Trials, Seed: t.Seed, Sweep: t.Sweep})
	searchErr := t.explore(ctx)
	best, ok := t.search.Chosen()
	if !ok {
		best = nil
	}
	r = t.search.Result(best, t.remarks)
	r.Running = t.Running
	r.Objective, r.Service, r.Seed, r.PGO = t.Objective.String(), t.Header.Service, t.Seed, t.Inlining
	for _, g := range t.Objective.Guards {
		r.Guards = append(r.Guards, g.Text)
	}
	if _, why := t.trials.Turn(); why != "" {
		r.Warnings = append(r.Warnings, "one side up at a time, with more noise: "+why)
	}
	if t.Running {
		r.Warnings = append(r.Warnings, "the target was already running: all trials are of one process, "+
			"and its luck with memory and scheduling affects all of them")
	}
	if searchErr == nil {
		searchErr = t.conclude(ctx, &r, best)
	}
	if searchErr != nil && ctx.Err() != nil {
		r.Verdict, r.Why = tune.Interrupted, "interrupted: nothing was confirmed, so nothing is recommended"
	} else if searchErr != nil {
		r.Verdict, r.Why = tune.Invalid, firstLine(searchErr.Error())
	}
	return r, errors.Join(searchErr, disk.WriteJSON(t.Dir, ResultFile, r))
}

// Tried returns the trials so far, those of a resumed tune first; nil before Run.
func (t *Tuner) Tried() []tune.Trial {
	if t.search == nil {
		return nil
	}
	return t.search.Trials()
}

func (t *Tuner) step(format string, args ...any) {
	if t.OnProgress != nil {
		t.OnProgress(fmt.Sprintf(format, args...))
	}
}

func (t *Tuner) maxTime() time.Duration {
	if t.MaxTime > 0 {
		return t.MaxTime
	}
	return DefaultMaxTime
}

// reserve is the time that the confirmation gets.
func (t *Tuner) reserve() time.Duration {
	least := time.Duration(1.15 * float64(confirmingPairs+1) * float64(t.each))
	return max(least, time.Duration(confirming*float64(t.maxTime())))
}

// budget settles the number of trials, once it is known how long one takes. A resumed
// tune keeps its original number, because otherwise the search would take another
// course.
func (t *Tuner) budget() error {
	if t.Header.Trials > 0 {
		return nil
	}
	most := t.Trials
	if most <= 0 {
		most = max(perKnob*len(t.Space.Knobs), min(t.Space.Size()/quarter, maxTrials/2))
	}
	if t.Sweep && t.Trials <= 0 {
		most = max(most, 4*t.Space.Size())
	}
	left := t.maxTime() - time.Since(t.begun) - t.reserve()
	most = min(most, int(left/max(t.each, time.Millisecond)))
	least := 2*len(t.Space.Knobs) + 2
	if t.Sweep {
		least = t.Space.Size() - 1
	}
	if most < least {
		needed := time.Duration(1.1 * float64(least+confirmingPairs+2) * float64(t.each))
		if t.Trials > 0 && t.Trials < least {
			return fmt.Errorf("--trials %d is too few for these knobs: at least %d are needed", t.Trials, least)
		}
		return fmt.Errorf("too little time: a trial takes %s, and at least %d trials and %d pairs of a confirmation are needed "+
			"(hint: --max-time %s, a shorter --block, or fewer knobs)",
			notation.Time(t.each.Round(100*time.Millisecond)), least, confirmingPairs,
			needed.Round(time.Minute)+time.Minute)
	}
	t.Header.Trials = most
	return disk.WriteJSON(t.Dir, HeaderFile, t.Header)
}

// explore runs the search's trials until the search or the time ends.
func (t *Tuner) explore(ctx context.Context) error {
	for n := 0; ; n++ {
		trial, ok := t.search.Next()
		if !ok || t.Header.Searched > 0 && n >= t.Header.Searched {
			return nil
		}
		var done logged
		if n < len(t.log.replay) {
			done = t.log.replay[n]
			if !slices.Equal(done.Setting, trial.Setting) {
				return fmt.Errorf("resume %s: trial %d has another setting than this version proposes (hint: start over)", t.Dir, n+1)
			}
		} else {
			if t.maxTime()-time.Since(t.begun)-t.each < t.reserve() {
				return nil
			}
			var err error
			if done, err = t.trial(ctx, trial, n); err != nil {
				return err
			}
			if err := t.log.add(done); err != nil {
				return err
			}
		}
		t.take(n, done)
	}
}

// trial measures one setting.
func (t *Tuner) trial(ctx context.Context, trial tune.Trial, n int) (logged, error) {
	out := logged{Trial: trial, Values: t.Space.Values(trial.Setting)}
	pair, err := t.trials.Pair(ctx, t.side(trial.Setting), n)
	var failed *session.FailedError
	switch {
	case errors.As(err, &failed):
		if ignored := t.admin.take(); len(ignored) > 0 {
			out.Ignored = ignored
		}
		out.Failed, out.Spoilt = failed.Error(), failed.Spoilt
		return out, nil
	case err != nil:
		return out, err
	}
	t.each = (7*t.each + t.trials.Took()) / 8
	out.Pair, out.Outcome = &pair, t.Objective.Outcome(pair)
	out.Ignored = t.disobeyed(trial.Setting, pair.B)
	return out, nil
}

// take passes a trial to the search, and reports it.
func (t *Tuner) take(n int, done logged) {
	if done.Pair != nil {
		t.present = append(t.present, done.Pair.A)
	}
	for i, had := range done.Ignored {
		if t.remarks[i] == "" {
			t.remarks[i] = fmt.Sprintf("ignored by the target: it ran with %s", had)
			t.search.Ignore(i)
		}
	}
	if len(done.Ignored) > 0 {
		// The measured setting is not the intended one.
		done.Failed, done.Spoilt = "the target ignores a knob", true
	}
	t.search.Observe(done.Trial)
	t.done = append(t.done, done)
	line := fmt.Sprintf("trial %d of %d, %s: %s: ", n+1, t.Header.Trials, done.Phase, t.Space.String(done.Setting))
	switch {
	case done.Failed != "":
		line += firstLine(done.Failed)
	case done.Broken != "":
		line += "breaks " + done.Broken
	default:
		line += notation.Change(math.Expm1(done.Gain))
	}
	left := time.Duration(t.Header.Trials-n-1)*t.each + t.reserve()
	t.step("%s; about %s left", line, notation.Time(min(left, max(0,
		t.maxTime()-time.Since(t.begun))).Round(time.Second)))
}

// readBack names the values of a block that show the runtime's actual settings.
var readBack = map[string]struct {
	value string
	read  func(string) (float64, bool)
}{
	"GOGC":       {session.SetGOGC, plainNumber},
	"GOMAXPROCS": {session.SetGOMAXPROCS, plainNumber},
	"GOMEMLIMIT": {session.SetGOMEMLIMIT, tune.Amount},
}

func plainNumber(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// disobeyed returns, by knob, the values that the runtime had instead of the setting's: some
// services set them themselves.
func (t *Tuner) disobeyed(x tune.Setting, b verify.Block) map[int]string {
	out := map[int]string{}
	for i, level := range x {
		k := t.Space.Knobs[i]
		of, known := readBack[k.Key]
		if level == t.Space.Present[i] || !known || k.Kind == tune.Flag {
			continue
		}
		want, ok := of.read(k.Levels[level].Text)
		had, measured := b.Values[of.value]
		if ok && measured && math.Abs(had-want) > 0.005*want {
			unit := map[string]string{"GOMEMLIMIT": "bytes"}[k.Key]
			out[i] = fmt.Sprintf("%s %s although %s was set", k.Key, notation.Quantity(had, cmp.Or(unit, "1")),
				k.Levels[level].Text)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// confirmDir is where the confirming session lies.
func (t *Tuner) confirmDir() string { return filepath.Join(t.Dir, ConfirmDir) }
