// Package kills ends redline at random moments, gracefully or not, and looks for
// leftovers and lies: processes, temporary folders, shared memory, worktrees, bundles
// that do not open, exit codes that do not say what happened.
package kills

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
)

// Part is the part of the bench.
var Part = part.Part{
	Name: "kills",
	Doc: "KILL, HUP, TERM, INT and a double INT end redline at random moments of a run or a comparison, with targets that " +
		"refuse to exit. Every bundle that was begun must open, the exit code must be right, and no process may be left " +
		"after 3 s and no file after the next start.",
	Asked: 100,
	Run: func(ctx context.Context, o part.Options) (part.Result, error) {
		return run(ctx, o, 3*time.Second)
	},
}

// ending is a way to end redline.
type ending struct {
	name   string
	signal syscall.Signal
	again  bool // it is sent twice
}

var endings = []ending{
	{"KILL", syscall.SIGKILL, false}, {"HUP", syscall.SIGHUP, false}, {"TERM", syscall.SIGTERM, false},
	{"INT", syscall.SIGINT, false}, {"double INT", syscall.SIGINT, true},
}

// plan is one trial.
type plan struct {
	number int
	shape  shape
	ending ending
	at     float64       // the moment, as a share of an undisturbed run
	again  time.Duration // from the first signal to the second
}

func (p plan) String() string {
	return fmt.Sprintf("trial %d: %s, %s at %.3f of its time", p.number, p.shape.name, p.ending.name, p.at)
}

// plans makes the trials of a seed: every pair of a shape and an ending in turn.
func plans(trials int, seed uint64) []plan {
	random := rand.New(rand.NewPCG(seed, 12))
	var pairs []plan
	for _, s := range shapes {
		for _, e := range endings {
			pairs = append(pairs, plan{shape: s, ending: e})
		}
	}
	random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	var all []plan
	for i := range trials {
		p := pairs[i%len(pairs)]
		p.number, p.at = i+1, random.Float64()
		p.again = time.Duration(random.Int64N(int64(300 * time.Millisecond)))
		all = append(all, p)
	}
	return all
}

// counts are the part's figures.
type counts struct {
	begun, opened  int // bundles
	late           int // runs that had ended before the signal
	slowest        time.Duration
	processes      int // left
	files          int // trials after which files were left
	swept          int // trials after which the next start had to sweep
	codes, endings int
}

// run makes the trials. Processes must be gone after limit.
func run(ctx context.Context, o part.Options, limit time.Duration) (part.Result, error) {
	result := part.Result{Failures: []string{}}
	planned := plans(o.Trials, o.Seed)
	b, err := prepare(ctx, o, planned)
	if err != nil {
		return result, err
	}
	var c counts
	for _, p := range planned {
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		wrong, err := b.try(ctx, p, limit, &c)
		if err != nil {
			return result, fmt.Errorf("%v: %w", p, err)
		}
		result.Tried++
		for _, w := range wrong {
			result.Failures = append(result.Failures, fmt.Sprintf("%v: %s", p, w))
		}
		fmt.Fprintf(o.Log, "%v%s\n", p, verdict(wrong))
	}
	result.Figures = []part.Figure{
		{Name: "bundles that opened, of those begun", Value: fmt.Sprintf("%d of %d", c.opened, c.begun)},
		{Name: "right exit codes, of runs that the signal reached", Value: fmt.Sprintf("%d of %d", c.codes, c.endings)},
		{Name: "processes left", Value: fmt.Sprint(c.processes)},
		{Name: "slowest to be gone after redline", Value: c.slowest.Round(10 * time.Millisecond).String()},
		{Name: "trials that left files to the next start's sweep", Value: fmt.Sprint(c.swept)},
		{Name: "trials that left files beyond it", Value: fmt.Sprint(c.files)},
		{Name: "runs that were over before the signal", Value: fmt.Sprint(c.late)},
	}
	return result, nil
}

func verdict(wrong []string) string {
	if len(wrong) == 0 {
		return ""
	}
	return ": FAILED " + strings.Join(wrong, "; ")
}

// try makes one trial and returns what was wrong.
func (b *bench) try(ctx context.Context, p plan, limit time.Duration, c *counts) (wrong []string, err error) {
	// Under nohup SIGHUP is ignored, and redline would inherit that: a handler here
	// becomes the default there.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	t, err := b.trial(fmt.Sprintf("%03d", p.number), p.shape)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, pid := range t.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	memory := sharedMemory()
	moment := max(minimum, time.Duration(p.at*float64(b.takes[p.shape.name])))
	ended, err := t.endAt(ctx, p.ending, moment, p.again)
	if err != nil {
		return nil, err
	}
	if ended.late {
		c.late++
	} else {
		c.endings++
		if why := ended.wrong(p.ending, t.output() != ""); why != "" {
			wrong = append(wrong, why+"\n"+t.output())
		} else {
			c.codes++
		}
	}
	left, took := t.awaitGone(limit)
	if c.processes += len(left); len(left) > 0 {
		wrong = append(wrong, fmt.Sprintf("%d processes are left after %v: %s", len(left), limit, strings.Join(left, ", ")))
	}
	c.slowest = max(c.slowest, took)
	if t.bundleBegun() {
		c.begun++
		if why := t.open(ctx); why != "" {
			wrong = append(wrong, why)
		} else {
			c.opened++
		}
	}
	if len(t.files()) > 0 {
		c.swept++
	}
	if err := t.next(ctx); err != nil {
		return nil, err
	}
	files := slices.Concat(t.files(), newIn(memory), b.worktrees(ctx, p.shape))
	if len(files) > 0 {
		c.files++
		slices.Sort(files)
		wrong = append(wrong, "left after the next start: "+strings.Join(files, ", "))
	}
	return wrong, nil
}

// minimum is how long a signal waits: earlier, the process may not have installed its
// handlers.
const minimum = 50 * time.Millisecond

// bench is what all trials share.
type bench struct {
	redline, scratch string
	service          string // a binary
	module           string // its source, a git repository with tag v1
	takes            map[string]time.Duration
	log              io.Writer
}

// prepare builds the service and measures how long each shape of the plans takes undisturbed.
func prepare(ctx context.Context, o part.Options, planned []plan) (*bench, error) {
	b := &bench{
		redline: o.Redline, scratch: o.Scratch, log: o.Log, takes: map[string]time.Duration{},
		service: filepath.Join(o.Scratch, "svc"), module: filepath.Join(o.Scratch, "module"),
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	for _, p := range planned {
		if _, known := b.takes[p.shape.name]; known {
			continue
		}
		if p.shape.builds { // the first time fills the go command's cache
			if _, err := b.undisturbed(ctx, "first-", p.shape); err != nil {
				return nil, err
			}
		}
		took, err := b.undisturbed(ctx, "calm-", p.shape)
		if err != nil {
			return nil, err
		}
		b.takes[p.shape.name] = took
		fmt.Fprintf(o.Log, "%s takes %v undisturbed\n", p.shape.name, took.Round(10*time.Millisecond))
	}
	return b, nil
}

// undisturbed returns how long redline takes with a shape to its end. The prefix is that of the trial's folder.
func (b *bench) undisturbed(ctx context.Context, prefix string, s shape) (time.Duration, error) {
	t, err := b.trial(prefix+s.name, s)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	code, err := t.calm(ctx)
	if err != nil {
		return 0, fmt.Errorf("%s, undisturbed: %w", s.name, err)
	}
	if code != 0 && code != 3 {
		return 0, fmt.Errorf("%s, undisturbed: exit %d\n%s", s.name, code, t.output())
	}
	return time.Since(begun), nil
}
