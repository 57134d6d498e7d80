//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
)

const (
	// longest is how long one run may take: building, a load of 10 s, the assessment.
	longest = 3 * time.Minute
	// farewell is how long an interrupted redline may take to end its service.
	farewell = 20 * time.Second
)

// measure runs the cases. A need that this machine cannot meet is reported as the
// case's failure.
func (b *bench) measure(ctx context.Context, cases []corpus.Case) error {
	if _, err := os.Stat(b.redline); err != nil {
		return fmt.Errorf("%w (hint: go build -o bin/redline ./cmd/redline)", err)
	}
	keep := b.keep
	if keep == "" {
		temporary, err := os.MkdirTemp("", "bench-diagnose-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		keep = temporary
	}
	n, err := b.outfit(ctx, cases)
	if err != nil {
		return err
	}
	defer n.close()
	for _, c := range cases {
		if err := b.build(ctx, c); err != nil {
			if ctx.Err() == nil {
				b.note(measured{Result: corpus.Broken(c, err), Run: 1})
			}
			continue
		}
		for run := 1; run <= b.times(c) && ctx.Err() == nil; run++ {
			dir := filepath.Join(keep, c.Name)
			if run > 1 {
				dir = fmt.Sprintf("%s.%d", dir, run)
			}
			m := b.valid(ctx, n, c, dir)
			if ctx.Err() != nil {
				return nil // cut short, so the case has no result
			}
			m.Run = run
			b.note(m)
			if run == 1 {
				b.packed(c, dir)
			}
		}
	}
	return nil
}

func (b *bench) times(c corpus.Case) int {
	if c.Kind == corpus.Healthy {
		return b.healthyRuns
	}
	return b.runs
}

// build compiles a case, so that its run finds everything but the probe in the
// build cache.
func (b *bench) build(ctx context.Context, c corpus.Case) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", os.DevNull, "./"+filepath.ToSlash(filepath.Join(string(c.Kind), c.Name)))
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, tail(out))
	}
	return nil
}

// once runs a case and scores it.
func (b *bench) once(ctx context.Context, n *needs, c corpus.Case, dir string) measured {
	env, release, err := n.provide(ctx, c)
	if err != nil {
		return measured{Result: corpus.Broken(c, err)}
	}
	defer release()
	if err := os.RemoveAll(dir); err != nil {
		return measured{Result: corpus.Broken(c, err)}
	}
	began := time.Now()
	invalid, err := b.redlineRun(ctx, c, dir, env)
	took := time.Since(began)
	if err != nil {
		return measured{Result: corpus.Broken(c, err), Took: took}
	}
	found, err := storedFindings(dir)
	if err != nil {
		return measured{Result: corpus.Broken(c, err), Took: took}
	}
	return measured{Result: corpus.Score(c, found), Took: took, invalid: invalid}
}

// mostRepeats is how often a case is run again because redline called its run
// invalid: the generator did not get the CPU that it needed, as on a machine with
// other work to do. Such a run makes no claim about the service that could be right
// or wrong. The page says how many runs were repeated.
const mostRepeats = 2

// valid runs a case until its run is valid, or was repeated often enough. A case
// whose sickness is the generator is right when it is invalid.
func (b *bench) valid(ctx context.Context, n *needs, c corpus.Case, dir string) measured {
	repeats := 0
	for {
		m := b.once(ctx, n, c, dir)
		if m.Repeats = repeats; !m.invalid || m.OK() || repeats == mostRepeats || ctx.Err() != nil {
			return m
		}
		repeats++
	}
}

// redlineRun is `redline run` as a user types it. A failed threshold or an
// invalid measurement (exit code 3) is a result, not an error.
func (b *bench) redlineRun(ctx context.Context, c corpus.Case, dir string, env []string) (invalid bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	scenario := filepath.Join(string(c.Kind), c.Name, corpus.ScenarioFile)
	words := slices.Concat(b.under, []string{b.redline, "run", scenario, "--json", "--plain", "-o", dir})
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = b.root, env
	// redline ends its service when it is interrupted; killed, it could not.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = farewell
	var stderr tailBuffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 3) {
		return exit.ExitCode() == 3, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w\n%s", err, stderr.data)
	}
	return false, nil
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct{ data []byte }

func (t *tailBuffer) Write(p []byte) (int, error) {
	const most = 4000
	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-most):]
	return len(p), nil
}
