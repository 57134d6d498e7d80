// Package mutations damages bundles and holds redline to its promises about them:
// whatever bytes a bundle has, opening, assessing, reporting, comparing and linting
// end within 30 s and 1 GB, without a panic, and print nothing that a terminal, a CI
// system or a browser would obey.
//
// Each trial takes a recorded bundle of the corpus, damages one file of it (bytes,
// JSON, names, figures, file kinds, sizes), and runs the built redline on it as a
// process of its own.
package mutations

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
)

// Part is the part for the bench of promises.
var Part = part.Part{
	Name: "mutations",
	Doc: "Bundles with one damaged file are reported, diagnosed, compared and linted, each in a separate process. A failure " +
		"is a panic, a process that takes more than 30 s of CPU time (or longer than 5 min) or 1 GB, an escape sequence or " +
		"workflow command in text, a script in a page, or anything read or written outside the bundle.",
	Asked: 5000, Numbered: true,
	Run: run,
}

// Bounds that redline promises. Time is CPU time, which other work on the machine
// does not increase; mostWait ends a process that hangs.
const (
	mostTime   = 30 * time.Second
	mostWait   = 5 * time.Minute
	mostMemory = 1 << 30
)

func run(ctx context.Context, o part.Options) (part.Result, error) {
	bench, err := newBench(o.Redline, o.Scratch)
	if err != nil {
		return part.Result{}, err
	}
	return bench.run(ctx, o)
}

func (b *bench) run(ctx context.Context, o part.Options) (part.Result, error) {
	trials := make(chan int)
	var all tally
	var working sync.WaitGroup
	for range runtime.NumCPU() {
		working.Go(func() {
			for n := range trials {
				all.add(b.trial(ctx, n, o.Seed))
			}
		})
	}
	for n := range o.Trials {
		if ctx.Err() != nil {
			break
		}
		trials <- o.First + n
		if n%500 == 499 {
			fmt.Fprintf(o.Log, "mutations: %d of %d\n", n+1, o.Trials)
		}
	}
	close(trials)
	working.Wait()
	if err := ctx.Err(); err != nil {
		return part.Result{}, err
	}
	return all.result(), nil
}

// tally adds up the outcomes of trials.
type tally struct {
	mu       sync.Mutex
	trials   int
	runs     int
	refused  int // processes that reported what is wrong with the bundle
	failures []string
	longest  time.Duration
	largest  int64
	worst    [2]string // the trials of the longest and the largest
}

func (t *tally) add(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trials++
	t.failures = append(t.failures, o.failures...)
	for _, p := range o.processes {
		t.runs++
		if p.refused {
			t.refused++
		}
		if p.took > t.longest {
			t.longest, t.worst[0] = p.took, o.name+", "+p.verb
		}
		if p.memory > t.largest {
			t.largest, t.worst[1] = p.memory, o.name+", "+p.verb
		}
	}
}

func (t *tally) result() part.Result {
	return part.Result{Tried: t.trials, Failures: t.failures, Figures: []part.Figure{
		{Name: "processes run on damaged bundles", Value: fmt.Sprint(t.runs)},
		{Name: "of these refused with a reason", Value: fmt.Sprint(t.refused)},
		{Name: "most CPU time", Value: fmt.Sprintf("%.1f s (%s)", t.longest.Seconds(), t.worst[0])},
		{Name: "largest", Value: fmt.Sprintf("%d MB (%s)", t.largest>>20, t.worst[1])},
	}}
}

// trial damages a bundle and runs redline on it.
func (b *bench) trial(ctx context.Context, n int, seed uint64) outcome {
	out := outcome{name: fmt.Sprintf("seed %d trial %d", seed, n)}
	dir, err := os.MkdirTemp(b.scratch, "bundle-")
	if err == nil {
		defer os.RemoveAll(dir)
		bundle := filepath.Join(dir, "run")
		var what string
		what, err = spec{Seed: seed, Trial: n, Light: b.light, Seeds: b.seeds, Bundle: bundle, Outside: b.canary}.child(ctx)
		if err == nil {
			out.name += ": " + what
			b.exercise(ctx, rand.New(rand.NewPCG(seed, ^uint64(n))), bundle, &out)
		}
	}
	if err != nil {
		out.fail("trial %d could not be made: %v", n, err)
	}
	return out
}
