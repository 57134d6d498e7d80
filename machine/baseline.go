package machine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify/baseline"
)

// Schema names the JSON of a machine baseline.
const Schema = "redline.machine-baseline/1"

// Baseline is what a machine did in one session.
type Baseline struct {
	Schema  string        `json:"schema"`
	Begun   time.Time     `json:"begun"`
	Took    time.Duration `json:"took_ns"`
	Host    record.Host   `json:"host"`
	Go      string        `json:"go_version"` // that measured, of redline's own binary
	Figures []Figure      `json:"figures"`
	Disturbance
}

// Figure is one thing that was measured, with a value per round. Median, Low and High are
// of the rounds; the interval is at 95 %.
type Figure struct {
	Name      string    `json:"name"`
	Dimension string    `json:"dimension"`
	Unit      string    `json:"unit"`
	Higher    bool      `json:"higher_is_better"`
	Median    float64   `json:"median"`
	Low       float64   `json:"low"`
	High      float64   `json:"high"`
	Rounds    []float64 `json:"rounds"`
	// Error is why it could not be measured in some round; empty if it could in all.
	Error string `json:"error,omitempty"`
}

func described() *Baseline {
	return &Baseline{Schema: Schema, Begun: time.Now().UTC(), Host: record.HostInfo(), Go: runtime.Version()}
}

// collect makes figures of rounds.
func (b *Baseline) collect(rounds []Round) {
	for _, f := range figures {
		out := Figure{Name: f.name, Dimension: f.dimension, Unit: f.unit, Higher: f.higher}
		for _, r := range rounds {
			if v, ok := r.Values[f.name]; ok {
				out.Rounds = append(out.Rounds, v)
			}
			out.Error = cmp.Or(out.Error, r.Errors[f.name])
		}
		if len(out.Rounds) == 0 && out.Error == "" {
			continue // not asked for
		}
		if len(out.Rounds) > 0 {
			out.Median = stat.Median(out.Rounds)
			out.Low, out.High = out.Median, out.Median
			if _, low, high, ok := stat.SignedRankInterval(out.Rounds, 0.95); ok {
				out.Low, out.High = min(low, out.Median), max(high, out.Median)
			}
		}
		b.Figures = append(b.Figures, out)
	}
}

// Differences are the fields in which two baselines' machines and toolchains differ; a
// quota is none of them, because it is what a baseline is to show.
func (b *Baseline) Differences(other *Baseline) []baseline.Difference {
	out := baseline.MachineDifferences(b.Host, other.Host)
	if b.Go != other.Go {
		out = append(out, baseline.Difference{Field: "Go version", A: b.Go, B: other.Go})
	}
	return out
}

// Bounds of a baseline that is read, which may come from elsewhere.
const (
	mostBytes   = 8 << 20
	mostFigures = 200
	mostRounds  = 1000
)

// Save writes a baseline into a directory, which it makes, and returns the file's path.
func (b *Baseline) Save(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "machine-"+b.Begun.Format("20060102-150405")+".json")
	return path, disk.WriteOutput(path, func(w io.Writer) error { return disk.EncodeJSON(w, b) })
}

// Read reads a machine baseline. Memory is bounded whatever the file holds; an unsound
// baseline is an error.
func Read(path string) (*Baseline, error) {
	data, err := disk.Read(filepath.Dir(path), filepath.Base(path), mostBytes)
	if err != nil {
		return nil, fmt.Errorf("machine baseline %s: %w", path, disk.WithoutPath(err))
	}
	var b Baseline
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("machine baseline %s: %w", path, err)
	}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("machine baseline %s: %w", path, err)
	}
	return &b, nil
}

func (b *Baseline) check() error {
	if b.Schema != Schema {
		return fmt.Errorf("its schema is %.40q, and this redline reads %q", b.Schema, Schema)
	}
	if len(b.Figures) > mostFigures {
		return errors.New("too many figures")
	}
	for _, f := range b.Figures {
		if len(f.Rounds) > mostRounds {
			return fmt.Errorf("%.40q has too many rounds", f.Name)
		}
		for _, v := range f.Rounds {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%.40q has a value of %v", f.Name, v)
			}
		}
	}
	return nil
}

// Newest returns the newest baseline in a directory of a machine and toolchain like those of
// now, and its path; nil if there is none. Files that are no baselines are passed over.
func Newest(dir string) (*Baseline, string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ""
	}
	// Names hold the time: the newest come last.
	slices.Reverse(entries)
	here := described()
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "machine-") || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if b, err := Read(path); err == nil && len(b.Differences(here)) == 0 {
			return b, path
		}
	}
	return nil, ""
}
