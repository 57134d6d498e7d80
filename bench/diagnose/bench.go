//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
)

// bench is one session.
type bench struct {
	options
	out     io.Writer
	results results
	misses  corpus.Misses
	before  time.Duration // time that earlier sessions took
}

// results is what a session writes.
type results struct {
	Schema  string        `json:"schema"`
	Command string        `json:"command"`
	When    time.Time     `json:"when"`
	Host    record.Host   `json:"host"`
	Took    time.Duration `json:"took_ns"`
	Runs    []measured    `json:"runs"`
	// Calibration is from the last session that calibrated.
	Calibration []calibrated `json:"calibration,omitempty"`
}

// measured is one run of one case.
type measured struct {
	corpus.Result
	Run  int           `json:"run"` // from 1
	Took time.Duration `json:"took_ns"`
	// Repeats counts runs before this one that redline called invalid.
	Repeats int  `json:"repeats,omitempty"`
	invalid bool // redline called this one invalid
}

func newBench(o options, args []string, stdout io.Writer) *bench {
	b := &bench{options: o, out: stdout}
	b.results = results{Schema: "redline.diagnosis/1", When: time.Now().UTC().Truncate(time.Second), Host: record.HostInfo()}
	b.results.Command = strings.Join(append([]string{"bench-diagnose"}, reported(args)...), " ")
	return b
}

// reported removes from the flags the paths on this machine and the DSN, which
// contains a password: the rest says what was measured.
func reported(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch name {
		case "redline", "postgres", "under", "keep", "o", "corpus", "fixtures":
			if !joined {
				i++
			}
			continue
		}
		kept = append(kept, args[i])
	}
	return kept
}

// describe prints the table and writes the files. A missed mark is an error.
func (b *bench) describe() error {
	if len(b.results.Runs) == 0 {
		return errors.New("nothing was measured")
	}
	var err error
	if b.misses, err = b.readMisses(); err != nil {
		return err
	}
	fmt.Fprint(b.out, "\n", b.page(false))
	if b.json != "" {
		data, err := json.MarshalIndent(b.results, "", " ")
		if err != nil {
			return err
		}
		if err := benchmark.Write(b.json, data, b.page(true)); err != nil {
			return err
		}
	}
	if !b.table().Met() {
		return errMissed
	}
	return nil
}

// readMisses reads the reasons of what recordings miss, and of what runs missed that are right in the recordings.
func (b *bench) readMisses() (corpus.Misses, error) {
	all, err := corpus.ReadMisses(b.root)
	if err != nil {
		return nil, err
	}
	recorded, err := corpus.ReadMisses(b.fixtures)
	if all == nil {
		return recorded, err
	}
	maps.Copy(all, recorded)
	return all, err
}

// writeFigures stores results without runs, from which no page can be made.
func (b *bench) writeFigures() error {
	if b.json == "" {
		return nil
	}
	data, err := json.MarshalIndent(b.results, "", " ")
	if err != nil {
		return err
	}
	return benchmark.Store(b.json, append(data, '\n'))
}

func (b *bench) table() corpus.Table {
	return b.tableOf(func(measured) bool { return true })
}

// tableOf counts the chosen runs.
func (b *bench) tableOf(chosen func(measured) bool) (t corpus.Table) {
	for _, m := range b.results.Runs {
		if chosen(m) {
			t.Count(m.Result)
		}
	}
	return t
}

// stored returns what the file of results holds; ok is false if there is no file.
func (b *bench) stored() (old results, ok bool, err error) {
	data, err := os.ReadFile(b.json)
	if errors.Is(err, os.ErrNotExist) {
		return old, false, nil
	}
	if err != nil {
		return old, false, err
	}
	if err := json.Unmarshal(data, &old); err != nil {
		return old, false, fmt.Errorf("%s: %w (hint: -o another file)", b.json, err)
	}
	if old.Schema != b.results.Schema || old.Host != b.results.Host {
		return old, false, fmt.Errorf("%s is of another machine or another version of this bench (hint: -o another file)", b.json)
	}
	return old, true, nil
}

// earlier adds the runs of a file written earlier, and returns the cases that it
// lacks. A missing file has no runs.
func (b *bench) earlier(cases []corpus.Case) ([]corpus.Case, error) {
	old, ok, err := b.stored()
	if err != nil || !ok {
		return cases, err
	}
	held := map[string]bool{}
	for _, c := range cases {
		held[c.Name] = c.Held
	}
	done := map[string]bool{}
	for i := range old.Runs {
		done[old.Runs[i].Name], old.Runs[i].Held = true, held[old.Runs[i].Name]
	}
	b.results.Runs, b.results.When, b.before = old.Runs, old.When, old.Took
	return slices.DeleteFunc(cases, func(c corpus.Case) bool { return done[c.Name] }), nil
}

// note keeps a result and prints its line.
func (b *bench) note(m measured) {
	b.results.Runs = append(b.results.Runs, m)
	verdict := "ok  "
	if !m.OK() {
		verdict = "MISS"
	}
	words := "nothing found"
	if len(m.Reported) > 0 {
		words = m.Reported[0]
	}
	fmt.Fprintf(b.out, "%s  %-28s %5.1f s  %s\n", verdict, m.Name, m.Took.Seconds(), words)
	for _, why := range m.Why {
		fmt.Fprintf(b.out, "      %s\n", why)
	}
	for i, s := range m.Reported {
		if i > 0 {
			fmt.Fprintf(b.out, "      %d. %s\n", i+1, s)
		}
	}
}

// packed writes the fixture of a case from its bundle, if -pack asks for it.
func (b *bench) packed(c corpus.Case, bundle string) {
	if _, err := os.Stat(bundle); !b.pack || err != nil {
		return
	}
	if err := corpus.Pack(bundle, filepath.Join(b.fixtures, c.Name+corpus.PackExt)); err != nil {
		fmt.Fprintln(b.out, "     ", err)
	}
}

// score assesses bundles again: folders by redline itself, fixtures in this process.
func (b *bench) score(ctx context.Context, cases []corpus.Case) error {
	for _, c := range cases {
		for _, folder := range b.options.score {
			if ctx.Err() != nil {
				return nil
			}
			began := time.Now()
			found, err := b.judged(ctx, filepath.Join(folder, c.Name))
			switch {
			case errors.Is(err, os.ErrNotExist):
				continue
			case err != nil:
				b.note(measured{Result: corpus.Broken(c, err), Run: 1, Took: time.Since(began)})
			default:
				b.note(measured{Result: corpus.Score(c, found), Run: 1, Took: time.Since(began)})
				b.packed(c, filepath.Join(folder, c.Name))
			}
		}
	}
	return nil
}
