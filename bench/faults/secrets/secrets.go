// Package secrets plants a secret in every place where a user could have one, runs
// redline's verbs on a real service and a real PostgreSQL, and looks for the
// secrets in everything that was written and printed.
package secrets

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
	"github.com/redline-go/redline/service/postgres"
)

// Part is the part of the bench. A trial is one secret; all are planted by the
// same runs, so that fewer trials look for fewer secrets and take as long.
var Part = part.Part{
	Name: "secrets",
	Doc: "Secrets are planted wherever a user could have one, and searched for in everything that redline writes and prints, " +
		"including packed, encoded or truncated copies.",
	Asked: len(carriers),
	Run:   Run,
}

//go:embed testdata/service.go.txt
var service string

// trial is one planting.
type trial struct {
	part.Options
	in, out   string // what redline reads and writes
	all       plants
	printed   map[string]string // by command
	codes     []string
	db        *postgres.Server
	address   string
	quick     bool // only the runs that a sample makes
	otlp      string
	inherited []string
}

// Run plants, runs and searches.
func Run(ctx context.Context, o part.Options) (part.Result, error) { return run(ctx, o, false) }

func run(ctx context.Context, o part.Options, quick bool) (part.Result, error) {
	t := &trial{Options: o, in: filepath.Join(o.Scratch, "in"), out: filepath.Join(o.Scratch, "out"),
		all: sow(o.Seed), printed: map[string]string{}, quick: quick}
	db, err := postgres.Start(ctx, postgres.Options{Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "log_statement": "none", "fsync": "off"}})
	if err != nil {
		return part.Result{}, fmt.Errorf("a database must show secrets too: %w", err)
	}
	t.db = db
	defer func() { _ = db.Stop(context.WithoutCancel(ctx)) }()
	if err := t.write(ctx); err != nil {
		return part.Result{}, err
	}
	if err := t.verbs(ctx); err != nil {
		return part.Result{}, err
	}
	wanted := plants{}
	for _, carrier := range carriers[:min(o.Trials, len(carriers))] {
		wanted[carrier] = t.all[carrier]
	}
	found, files, err := search(t.out, t.printed, wanted)
	if err != nil {
		return part.Result{}, err
	}
	result := part.Result{Tried: len(wanted)}
	for _, f := range found {
		result.Failures = append(result.Failures, fmt.Sprintf("%s in %s", f.carrier, f.where))
	}
	slices.Sort(result.Failures)
	size := 0
	for _, text := range t.printed {
		size += len(text)
	}
	result.Figures = []part.Figure{
		{Name: "commands run", Value: strings.Join(t.codes, ", ")},
		{Name: "files searched", Value: fmt.Sprint(files)}, {Name: "bytes printed", Value: fmt.Sprint(size)},
		{Name: "secrets found", Value: fmt.Sprintf("%d of %d", len(found), len(wanted))},
	}
	if len(t.codes) == 0 || files < 10 {
		return result, errors.New("redline wrote next to nothing: there was nothing to search")
	}
	return result, nil
}

// redline runs a verb and keeps what it prints. Whether it succeeds does not matter,
// as long as its exit code is one that the caller expects.
func (t *trial) redline(ctx context.Context, name string, exits []int, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.Redline, args...)
	cmd.Dir = t.in
	cmd.Env = append(os.Environ(), t.inherited...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	err := cmd.Run()
	fmt.Fprintf(t.Log, "secrets: %s took %v\n", name, time.Since(begun).Round(100*time.Millisecond))
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	code := cmd.ProcessState.ExitCode()
	t.printed[name+" (stdout)"], t.printed[name+" (stderr)"] = stdout.String(), stderr.String()
	t.codes = append(t.codes, fmt.Sprintf("%s %d", name, code))
	if !slices.Contains(exits, code) {
		return fmt.Errorf("%s: exit %d\n%s", name, code, stderr.String())
	}
	return nil
}
