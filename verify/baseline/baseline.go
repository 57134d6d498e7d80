package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
)

// Schema names the JSON of a stored baseline.
const Schema = "redline.baseline/1"

// Bounds of a baseline that is read, which may come from elsewhere.
const (
	maxBaseline     = 32 << 20 // bytes
	mostStored      = 1000
	mostDescription = 4 << 10
)

// Baseline is one side's blocks of a session, stored to be compared with later.
type Baseline struct {
	Schema  string          `json:"schema"`
	Saved   time.Time       `json:"saved"`
	Redline string          `json:"redline"` // version
	Side    string          `json:"side"`    // the measured version, in words, without secrets
	Commit  revision.Commit `json:"commit"`
	Circumstances
	Blocks []verify.Block `json:"blocks"`
}

// Circumstances must be alike for two sessions' blocks to be compared.
type Circumstances struct {
	Host record.Host `json:"host"`
	// GOMAXPROCS is the target's setting or default.
	GOMAXPROCS int    `json:"gomaxprocs"`
	Go         string `json:"go_version"` // that the target was built with; empty unless it is a Go binary
	Scenario   string `json:"scenario"`
	Hash       string `json:"scenario_hash"`
	// Duration and Warmup of each launch.
	Duration time.Duration `json:"block_ns"`
	Warmup   time.Duration `json:"warmup_ns"`
}

// Differences returns the fields in which two circumstances differ.
func (c Circumstances) Differences(other Circumstances) []Difference {
	out := MachineDifferences(c.Host, other.Host)
	for _, f := range []struct{ field, a, b string }{
		{"GOMAXPROCS", strconv.Itoa(c.GOMAXPROCS), strconv.Itoa(other.GOMAXPROCS)},
		{"Go version", c.Go, other.Go},
		{"scenario", c.Hash, other.Hash},
		{"length of a launch", c.Duration.String(), other.Duration.String()},
		{"warm-up", c.Warmup.String(), other.Warmup.String()},
	} {
		if f.a != f.b {
			out = append(out, Difference{f.field, f.a, f.b})
		}
	}
	return out
}

// Save writes a baseline, whole or not at all. The error is also for one that
// nothing could be decided against (too few blocks), and for a path that does not
// end in .json.
func (b Baseline) Save(path string) error {
	b.Schema = Schema
	if err := b.validate(); err != nil {
		return fmt.Errorf("baseline %s: %w", path, err)
	}
	if filepath.Ext(path) != ".json" {
		return fmt.Errorf("baseline %s: its name must end in .json", path)
	}
	return disk.WriteOutput(path, func(w io.Writer) error { return disk.EncodeJSON(w, b) })
}

// Read reads a stored baseline. Memory is bounded whatever the file
// holds; an unsound baseline is an error.
func Read(path string) (Baseline, error) {
	f, err := os.Open(path)
	if err != nil {
		return Baseline{}, fmt.Errorf("baseline: %w (hint: --save-baseline writes one)", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Baseline{}, fmt.Errorf("baseline %s is not a file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err != nil {
		return Baseline{}, fmt.Errorf("baseline: %w", err)
	}
	b, err := parse(data)
	if err != nil {
		return Baseline{}, fmt.Errorf("baseline %s: %w", path, err)
	}
	return b, nil
}

// parse looks at the schema alone first: of a later version any field may mean
// something else.
func parse(data []byte) (b Baseline, err error) {
	if len(data) > maxBaseline {
		return b, fmt.Errorf("it is larger than %s", notation.Size(maxBaseline))
	}
	// Nothing else of another schema is read.
	var kind struct{ Schema string }
	if err := json.Unmarshal(data, &kind); err != nil {
		return b, fmt.Errorf("it is not the JSON of a baseline: %w", err)
	}
	if kind.Schema != Schema {
		return b, fmt.Errorf("its schema is %.40q, but this redline reads %q (hint: save a new one)", kind.Schema, Schema)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&b); err != nil {
		return Baseline{}, err
	}
	if err := b.validate(); err != nil {
		return Baseline{}, err
	}
	return b, nil
}

// validate refuses figures that would be compared and mean nothing.
func (b Baseline) validate() error {
	if len(b.Blocks) < verify.LeastBlocks {
		return fmt.Errorf("%d blocks are too few to compare with: at least %d are needed (hint: --pairs)",
			len(b.Blocks), verify.LeastBlocks)
	}
	if len(b.Blocks) > mostStored {
		return fmt.Errorf("more than %d blocks", mostStored)
	}
	if len(b.Side) > mostDescription || len(b.Commit.Subject) > mostDescription {
		return errors.New("a description that is too long")
	}
	for i, block := range b.Blocks {
		if err := block.Check(); err != nil {
			return fmt.Errorf("block %d: %w", i+1, err)
		}
	}
	return nil
}

// Usable returns why a baseline must not be compared with the present session,
// naming every field that differs with both values; nil if it may.
func (b Baseline) Usable(now Circumstances) error {
	if different := b.Differences(now); len(different) > 0 {
		return errors.New("the baseline was measured under other conditions: " + Differing(different) +
			" (hint: save a new one here, or use --base REF, which measures both sides together)")
	}
	return nil
}
