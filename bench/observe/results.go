//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
)

const schema = "redline.observe-bench/2"

// results are all trials of one measurement.
type results struct {
	Schema  string            `json:"schema"`
	Date    time.Time         `json:"date"` // of the last round
	Machine benchmark.Machine `json:"machine"`
	Redline string            `json:"redline"` // revision
	Block   time.Duration     `json:"block_ns"`
	Without []string          `json:"without,omitempty"` // remedies of the gateway not taken
	Starts  int               `json:"starts"`            // of the gateway
	Trials  []trial           `json:"trials"`

	file string
}

// openResults returns the file's results, if new ones are to be added.
func openResults(o options) (*results, error) {
	now := &results{
		Schema: schema, Date: time.Now().UTC().Truncate(time.Second), Machine: benchmark.ThisMachine(), Redline: benchmark.Revision("."),
		Block: o.length, Without: o.without, Starts: 1, file: o.out,
	}
	if !o.add {
		return now, nil
	}
	data, err := os.ReadFile(o.out)
	if errors.Is(err, fs.ErrNotExist) {
		return now, nil
	}
	var old results
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil {
		return nil, fmt.Errorf("earlier results: %w (hint: -o another file)", err)
	}
	if old.Schema != schema || old.Machine != now.Machine || old.Block != now.Block || !slices.Equal(old.Without, now.Without) {
		return nil, fmt.Errorf("%s holds another measurement, of another machine, length of block or gateway "+
			"(hint: without -add, or -o another file)", o.out)
	}
	now.Trials, now.Starts = old.Trials, old.Starts+1
	return now, nil
}

// of returns the trials of a condition that were made on a steady machine, and how many there are in all.
func (r *results) of(condition string) (steady []trial, made int) {
	for _, t := range r.Trials {
		if t.Condition == condition {
			made++
			if t.steady() {
				steady = append(steady, t)
			}
		}
	}
	return steady, made
}

// keep adds the trials of a round and stores the results and their table, so that an
// error or an interrupt loses one round at most.
func (r *results) keep(round []trial) error {
	r.Trials = append(r.Trials, round...)
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// A line per trial, so that more rounds are more lines of a diff.
	data = []byte(strings.ReplaceAll(string(data), `{"condition"`, "\n"+`{"condition"`))
	return benchmark.Write(r.file, data, r.markdown(filepath.Base(r.file)))
}
