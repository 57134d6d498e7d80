package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/redact"
)

// Options say what a session measures; the zero value measures for DefaultTime.
type Options struct {
	Time     time.Duration // of the session; zero means DefaultTime
	Disk     string        // a directory on the disk to measure; empty measures none
	Postgres string        // DSN of a database to measure; empty measures none
	// Command starts a process that calls Round and writes its result as JSON; the
	// environment is the caller's without what sets the Go runtime. The DSN is in
	// $REDLINE_BASELINE_POSTGRES.
	Command []string
	// OnRound is called after each round; nil is nobody.
	OnRound func(done int, left time.Duration)
}

// Times of a session.
const (
	DefaultTime = 4 * time.Minute
	QuickTime   = 30 * time.Second
	// leastRounds are needed for an interval at the level that the comparison takes.
	leastRounds = 10
	// roundTime is what the figures of a round take together; starting and preparing
	// take about half as much again.
	roundTime = 1600 * time.Millisecond
	// roundBound ends a round that hangs.
	roundBound = 60 * time.Second
)

// PostgresVariable hands the DSN to a round, past the list of processes.
const PostgresVariable = "REDLINE_BASELINE_POSTGRES"

// Round is one measurement of all figures.
type Round struct {
	Values map[string]float64 `json:"values"`
	Errors map[string]string  `json:"errors,omitempty"` // of figures that could not be measured
}

// Measure measures every figure once, in random order.
func Measure(ctx context.Context, o Options) Round {
	in := &input{Options: o, rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	var asked []figure
	parts := 0.0
	for _, f := range figures {
		if f.needs == nil || f.needs(o) {
			asked = append(asked, f)
			parts += max(1, f.share)
		}
	}
	in.rng.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	r := Round{Values: map[string]float64{}, Errors: map[string]string{}}
	for _, f := range asked {
		if ctx.Err() != nil {
			break
		}
		v, err := f.measure(ctx, in, time.Duration(max(1, f.share)/parts*float64(roundTime)))
		switch {
		case err != nil:
			r.Errors[f.name] = redact.Text(err.Error())
		case v > 0 && !math.IsInf(v, 0):
			r.Values[f.name] = v
		}
	}
	return r
}

// settings of the Go runtime would change the figures, and belong to a service.
var settings = []string{"GOGC=", "GOMEMLIMIT=", "GOMAXPROCS=", "GODEBUG=", PostgresVariable + "="}

// launch measures a round in a process of its own.
func launch(ctx context.Context, o Options) (Round, error) {
	ctx, cancel := context.WithTimeout(ctx, roundBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...)
	for _, v := range os.Environ() {
		set := false
		for _, name := range settings {
			set = set || strings.HasPrefix(v, name)
		}
		if !set {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if o.Postgres != "" {
		cmd.Env = append(cmd.Env, PostgresVariable+"="+o.Postgres)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if cmd.Process != nil && o.Disk != "" {
			removeScratch(o.Disk, cmd.Process.Pid)
		}
		return Round{}, fmt.Errorf("a round did not end: %w: %.300s", err, strings.TrimSpace(redact.Text(errs.String())))
	}
	var r Round
	if err := json.NewDecoder(io.LimitReader(&out, 1<<20)).Decode(&r); err != nil {
		return Round{}, fmt.Errorf("a round: %w", err)
	}
	return r, nil
}

// ErrTooFew is the error of a session whose time was too short for intervals.
var ErrTooFew = errors.New("too few rounds")

// Session measures rounds, spread evenly over the time, and returns them as a baseline. The
// error is ErrTooFew, that of a round, or the context's.
func Session(ctx context.Context, o Options) (*Baseline, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("no command for rounds")
	}
	if o.Time <= 0 {
		o.Time = DefaultTime
	}
	b := described()
	watch := watching()
	var rounds []Round
	begun := time.Now()
	for {
		r, err := launch(ctx, o)
		if err != nil {
			watch()
			return nil, errors.Join(ctx.Err(), err)
		}
		rounds = append(rounds, r)
		left := o.Time - time.Since(begun)
		if o.OnRound != nil {
			o.OnRound(len(rounds), left)
		}
		if each := time.Since(begun) / time.Duration(len(rounds)); left < each {
			break
		}
	}
	b.Disturbance = watch()
	b.Took = time.Since(begun)
	b.collect(rounds)
	if len(rounds) < leastRounds {
		return nil, fmt.Errorf("%w: %d in %s, at least %d are needed (hint: --time)", ErrTooFew, len(rounds), notation.Time(o.Time),
			leastRounds)
	}
	return b, nil
}
