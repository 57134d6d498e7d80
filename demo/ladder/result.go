package ladder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
)

// Schema of a Result.
const Schema = "redline.lab.ladder/1"

// Result is a ladder as far as it was climbed: ladder-order.json, ladder-stack.json.
type Result struct {
	Schema string      `json:"schema"`
	Ladder string      `json:"ladder"` // "order" or "stack"
	Quick  bool        `json:"quick"`
	Begun  time.Time   `json:"begun"`
	Host   record.Host `json:"host"`
	Go     string      `json:"go"`
	Rungs  []Rung      `json:"rungs"`
	// Next is the rung that comes now; nil where the ladder is climbed to its end.
	Next *Step `json:"next,omitempty"`
	// Whole is the first rung against the last, measured in turns like any two.
	Whole *Comparison `json:"whole,omitempty"`
	// Paced is the last rung at a rate below its most.
	Paced *Paced `json:"paced,omitempty"`
	// Pgbench is the rate of `pgbench -S -M prepared` against the same server, in 1/s; 0
	// where it was not measured.
	Pgbench float64 `json:"pgbench,omitempty"`
}

// Rung is one measured state of the service: the rungs below, and a step more.
type Rung struct {
	Step
	// Rate to P99 are of the run that was diagnosed, with all that observes it.
	Rate float64 `json:"rate"`
	P50  int64   `json:"p50_ns"`
	P95  int64   `json:"p95_ns"`
	P99  int64   `json:"p99_ns"`
	// Answers is how many replies were checked against those of the first rung.
	Answers int `json:"answers"`
	// Against is the comparison with the rung below; nil for the first.
	Against *Comparison `json:"against,omitempty"`
}

// Paced is a run at a fixed rate.
type Paced struct {
	Offered float64 `json:"offered"` // 1/s
	Rate    float64 `json:"rate"`    // successes per second
	P95     int64   `json:"p95_ns"`
	P99     int64   `json:"p99_ns"`
	Errors  int64   `json:"errors"`
	Why     string  `json:"why,omitempty"` // why the figures do not count
}

// File is where the results of a ladder lie in the lab's folder.
func File(name string) string { return "ladder-" + name + ".json" }

// maxResult bounds a file of results, in bytes.
const maxResult = 4 << 20

// Read returns the result of a ladder that a folder holds; ok is false where it holds none.
func Read(dir, name string) (r Result, ok bool, err error) {
	path := filepath.Join(dir, File(name))
	text, err := disk.Read(dir, File(name), maxResult)
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, false, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != Schema || r.Ladder != name {
		return r, false, fmt.Errorf("%s: schema %q of ladder %q, want %q of %q", path, r.Schema, r.Ladder, Schema, name)
	}
	r.clean()
	return r, true, nil
}

// clean takes from the texts of a file what a terminal or a page would act on.
func (r *Result) clean() {
	clean := func(texts ...*string) {
		for _, text := range texts {
			*text = notation.Clean(*text)
		}
	}
	clean(&r.Go, &r.Host.OS, &r.Host.Arch, &r.Host.Kernel, &r.Host.CPUModel)
	for i := range r.Rungs {
		one := &r.Rungs[i]
		clean(&one.Name, &one.Title, &one.Finding)
		if one.Against != nil {
			clean(&one.Against.A, &one.Against.B, &one.Against.Invalid)
		}
	}
}

// Keep writes a result into the lab's folder: a reader sees the one before or this one.
func (r *Result) Keep(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return disk.WriteJSON(dir, File(r.Ladder), r)
}
