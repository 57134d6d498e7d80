package verify

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// BaselineSchema names the JSON of a stored baseline.
const BaselineSchema = "redline.baseline/1"

// Bounds of a baseline that is read, which may come from elsewhere.
const (
	maxBaseline     = 32 << 20 // bytes
	mostStored      = 1000
	mostValues      = 64   // of a block
	lastBucket      = 8760 // of latencies: 2^63 ns
	mostCounted     = 1 << 40
	leastBaseline   = 8 // blocks on either side
	mostDescription = 4 << 10
)

// Baseline is one side's blocks of a session, stored to be compared with later.
type Baseline struct {
	Schema  string    `json:"schema"`
	Saved   time.Time `json:"saved"`
	Redline string    `json:"redline"` // version
	Side    string    `json:"side"`    // what was measured, in words, without secrets
	Commit  Commit    `json:"commit"`
	Circumstances
	Blocks []Block `json:"blocks"`
}

// Circumstances are what must be alike for two sessions' blocks to be compared.
type Circumstances struct {
	Host record.Host `json:"host"`
	// GOMAXPROCS is what the target is given or, by default, finds.
	GOMAXPROCS int    `json:"gomaxprocs"`
	Go         string `json:"go_version"` // that the target was built with; empty unless it is a Go binary
	Scenario   string `json:"scenario"`
	Hash       string `json:"scenario_hash"`
	// Duration and Warmup of each launch.
	Duration time.Duration `json:"block_ns"`
	Warmup   time.Duration `json:"warmup_ns"`
}

// Surroundings tells the circumstances in which a side is measured by a
// launcher. It is to be called before any load runs, which takes threads of its
// own.
func Surroundings(plan *scenario.Plan, s Side, l *Launcher) (Circumstances, error) {
	c := Circumstances{
		Host: record.HostInfo(), GOMAXPROCS: runtime.GOMAXPROCS(0), Go: goVersion(s), Scenario: plan.Name,
		Duration: cmp.Or(max(0, l.Duration), blockDuration), Warmup: cmp.Or(max(0, l.Warmup), blockWarmup),
	}
	if n, err := strconv.Atoi(s.Plan.Target.Env["GOMAXPROCS"]); err == nil && n > 0 {
		c.GOMAXPROCS = n
	}
	var err error
	c.Hash, err = ScenarioHash(plan.Redacted(), c.Duration)
	return c, err
}

// goVersion returns the version of Go that a side's binary was built with.
func goVersion(s Side) string {
	path := s.Binary
	if path == "" && len(s.Plan.Target.Exec) > 0 {
		path, _ = exec.LookPath(s.Plan.Target.Exec[0])
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	return info.GoVersion
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

// Save writes a baseline, whole or not at all. One that nothing could be decided
// against is an error.
func (b Baseline) Save(path string) error {
	b.Schema = BaselineSchema
	if err := b.validate(); err != nil {
		return fmt.Errorf("baseline %s: %w", path, err)
	}
	if filepath.Ext(path) != ".json" {
		return fmt.Errorf("baseline %s: its name must end in .json", path)
	}
	return record.WriteOutput(path, func(w io.Writer) error { return record.EncodeJSON(w, b) })
}

// ReadBaseline reads a stored baseline. Memory is bounded whatever the file
// holds; what is no sound baseline is an error.
func ReadBaseline(path string) (Baseline, error) {
	f, err := os.Open(path)
	if err != nil {
		return Baseline{}, fmt.Errorf("baseline: %w (hint: --save-baseline writes one)", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Baseline{}, fmt.Errorf("baseline %s is no file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err != nil {
		return Baseline{}, fmt.Errorf("baseline: %w", err)
	}
	b, err := parseBaseline(data)
	if err != nil {
		return Baseline{}, fmt.Errorf("baseline %s: %w", path, err)
	}
	return b, nil
}

func parseBaseline(data []byte) (b Baseline, err error) {
	if len(data) > maxBaseline {
		return b, fmt.Errorf("it is larger than %s", octets(maxBaseline))
	}
	// Of another schema nothing else is looked at.
	var kind struct{ Schema string }
	if err := json.Unmarshal(data, &kind); err != nil {
		return b, fmt.Errorf("it is no JSON of a baseline: %w", err)
	}
	if kind.Schema != BaselineSchema {
		return b, fmt.Errorf("its schema is %.40q, and this redline reads %q (hint: save it anew)", kind.Schema, BaselineSchema)
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

// validate refuses what would be compared with and means nothing.
func (b Baseline) validate() error {
	if len(b.Blocks) < leastBaseline {
		return fmt.Errorf("%d blocks are too few to compare with: it takes %d (hint: --pairs)", len(b.Blocks), leastBaseline)
	}
	if len(b.Blocks) > mostStored {
		return fmt.Errorf("more than %d blocks", mostStored)
	}
	if len(b.Side) > mostDescription || len(b.Commit.Subject) > mostDescription {
		return errors.New("a description that is too long")
	}
	for i, block := range b.Blocks {
		if err := block.validate(); err != nil {
			return fmt.Errorf("block %d: %w", i+1, err)
		}
	}
	return nil
}

func (b Block) validate() error {
	if b.Void != "" {
		return errors.New("it does not count: " + b.Void)
	}
	if !(b.Errors >= 0 && b.Errors <= 1) {
		return fmt.Errorf("a share of failures of %v", b.Errors)
	}
	if len(b.Values) > mostValues {
		return fmt.Errorf("more than %d values", mostValues)
	}
	for name, v := range b.Values {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%.40q is %v, which is no measured value", name, v)
		}
	}
	if b.Values[yardstick] == 0 {
		return errors.New("the machine was not measured beside it")
	}
	total := int64(0)
	for bucket, n := range b.Latency {
		if bucket < 0 || bucket > lastBucket || n < 0 || n > mostCounted {
			return fmt.Errorf("%d latencies in bucket %d", n, bucket)
		}
		if total += n; total > mostCounted {
			return errors.New("more latencies than a block can hold")
		}
	}
	return nil
}
