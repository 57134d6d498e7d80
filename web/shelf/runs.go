package shelf

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
)

// States of a run on the shelf, besides those of record.State.
const (
	damaged    = "damaged"      // its files do not parse
	older      = "unreadable"   // its schema is not one of this version
	unfinished = "not finished" // it still runs, or was killed
	unjudged   = "not judged"   // complete, without findings
)

// Run is one line of the list.
type Run struct {
	ID    string `json:"id"` // the directory's name
	State string `json:"state"`
	Why   string `json:"why"` // what is wrong with it; empty when nothing is
	// Begun is when, in ms since 1970; 0 if unknown.
	Begun    int64   `json:"begun_ms"`
	Name     string  `json:"name"` // of the scenario, or the target's URL
	Revision string  `json:"revision"`
	Requests int64   `json:"requests"`
	Rate     float64 `json:"rate"`
	P50      int64   `json:"p50_ns"`
	P99      int64   `json:"p99_ns"`
	Errors   float64 `json:"errors"` // share of requests
	Invalid  bool    `json:"invalid"`
	Failed   bool    `json:"failed"` // a threshold was not met
	Finding  string  `json:"finding"`
	Findings int     `json:"findings"`
}

// mostRuns bounds the list; the newest are kept.
const mostRuns = 20_000

// runs lists the bundles below a directory, and remembers those that did not change.
type runs struct {
	dir string

	mu    sync.Mutex
	known map[string]kept
}

// kept is a line with the times of the files that it was read from.
type kept struct {
	stamp string
	run   Run
}

// list returns the runs of the directory, the newest first.
func (r *runs) list() ([]Run, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	slices.Reverse(entries) // names begin with their time
	r.mu.Lock()
	defer r.mu.Unlock()
	all, still := []Run{}, map[string]kept{}
	for _, e := range entries {
		// A link may lead anywhere, so only directories count.
		if !e.IsDir() || len(all) == mostRuns {
			continue
		}
		stamp := stampOf(filepath.Join(r.dir, e.Name()))
		if stamp == "" {
			continue // not a bundle
		}
		line, ok := r.known[e.Name()]
		if !ok || line.stamp != stamp {
			line = kept{stamp, read(r.dir, e.Name())}
		}
		still[e.Name()] = line
		all = append(all, line.run)
	}
	r.known = still
	slices.SortStableFunc(all, func(a, b Run) int { return cmp.Compare(b.Begun, a.Begun) })
	return all, nil
}

// stampOf changes with the files that a line is read from; "" is no bundle.
func stampOf(dir string) string {
	stamp := ""
	for _, file := range []string{disk.RunFile, record.SummaryFile, findings.File} {
		info, err := os.Lstat(filepath.Join(dir, file))
		if err != nil || !info.Mode().IsRegular() {
			if file == disk.RunFile {
				return ""
			}
			continue
		}
		stamp += fmt.Sprintf("%d %d;", info.ModTime().UnixNano(), info.Size())
	}
	return stamp
}

// head is as much of run.json as the list shows.
type head struct {
	Schema string       `json:"schema"`
	State  record.State `json:"state"`
	Why    string       `json:"why"`
	Clock  struct {
		EpochWall time.Time `json:"epoch_wall"`
	} `json:"clock"`
	Target   record.Target `json:"target"`
	Scenario struct {
		Name string `json:"name"`
	} `json:"scenario"`
}

func headOf(dir string) (h head, err error) {
	data, err := disk.Read(dir, disk.RunFile, record.MaxRunJSON)
	if err == nil {
		err = disk.Unmarshal(data, &h)
	}
	return h, err
}

// read reads a line. What is wrong is in it: the list shows every bundle.
func read(dir, id string) Run {
	run := Run{ID: notation.Clean(id)}
	at := filepath.Join(dir, id)
	h, err := headOf(at)
	if err != nil {
		run.State, run.Why = damaged, notation.Clean(disk.WithoutPath(err).Error())
		return run
	}
	run.State, run.Why = string(h.State), notation.Clean(h.Why)
	run.Name = notation.Clean(cmp.Or(h.Scenario.Name, h.Target.URL))
	run.Revision = notation.Clean(h.Target.Revision)
	if !h.Clock.EpochWall.IsZero() {
		run.Begun = h.Clock.EpochWall.UnixMilli()
	}
	switch {
	case h.Schema != record.RunSchema:
		run.State, run.Why = older, fmt.Sprintf(
			"its schema is %q, and this version reads %q",
			notation.Clean(h.Schema),
			record.RunSchema,
		)
		return run
	case h.State == record.Running:
		run.State, run.Why = unfinished, "it still runs, or redline was killed"
	}
	if err = run.measured(at); err == nil {
		err = run.found(at)
	}
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		run.State, run.Why = damaged, notation.Clean(disk.WithoutPath(err).Error())
	case h.State == record.Complete:
		run.State, run.Why = unjudged, "redline diagnose judges it"
	}
	return run
}

// measured reads the figures from the first part of summary.json: what follows them may be
// larger by far.
func (r *Run) measured(dir string) error {
	f, size, err := disk.Open(dir, record.SummaryFile, record.MaxJSON)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, size))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "load":
			var l record.LoadSummary
			if err := d.Decode(&l); err != nil {
				return err
			}
			r.Requests, r.Rate, r.P50, r.P99 = l.Requests, l.Rate, l.Latency.P50, l.Latency.P99
			if l.Requests > 0 {
				r.Errors = float64(l.Errors) / float64(l.Requests)
			}
		case "generator":
			var g record.Generator
			if err := d.Decode(&g); err != nil {
				return err
			}
			r.Invalid = g.Verdict() == record.ValidityInvalid
		case "thresholds":
			var all []record.ThresholdResult
			if err := d.Decode(&all); err != nil {
				return err
			}
			for _, t := range all {
				r.Failed = r.Failed || !t.OK
			}
		default:
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return err
			}
		}
	}
	return nil
}

// found reads what stops the service; the error is fs.ErrNotExist where nobody judged the run.
func (r *Run) found(dir string) error {
	data, err := disk.Read(dir, findings.File, record.MaxJSON)
	if err != nil {
		return err
	}
	var f findings.Findings
	if err := disk.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("%s: %w", findings.File, err)
	}
	if len(f.Findings) > 0 {
		r.Finding, r.Findings = notation.Clean(f.Findings[0].Title), len(f.Findings)
	}
	return nil
}

// path returns where a listed run lies; "" if it is none of the list.
func (r *runs) path(id string) string {
	if id == "" || filepath.Base(id) != id || strings.HasPrefix(id, ".") {
		return ""
	}
	dir := filepath.Join(r.dir, id)
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || stampOf(dir) == "" {
		return ""
	}
	return dir
}
