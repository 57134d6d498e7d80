//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
)

const schema = "redline.verify-bench/1"

// results are all that was measured.
type results struct {
	Schema    string       `json:"schema"`
	Date      time.Time    `json:"date"` // of the last session
	Host      record.Host  `json:"host"`
	Go        string       `json:"go"`
	Redline   string       `json:"redline"` // revision
	MaxTime   string       `json:"max_time"`
	Work      work         `json:"work"`
	Sessions  []trial      `json:"sessions"`
	Simulated []simulation `json:"simulated"`
	Windows   *windowed    `json:"windows,omitempty"`
}

// openResults returns what the file holds, if it is to be gone on with.
func openResults(o options) (*results, error) {
	now := &results{
		Schema: schema, Date: time.Now().UTC().Truncate(time.Second), Host: record.HostInfo(), Go: runtime.Version(),
		Redline: benchmark.Revision("."), MaxTime: o.maxTime.String(), Sessions: []trial{},
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
	if old.Schema != schema || old.Host != now.Host || old.Go != now.Go || old.MaxTime != now.MaxTime {
		return nil, fmt.Errorf("%s holds another measurement, of another machine, Go or -max-time (hint: without -add, or -o another file)", o.out)
	}
	now.Work, now.Sessions, now.Simulated, now.Windows = old.Work, old.Sessions, old.Simulated, old.Windows
	return now, nil
}

func (r *results) empty() bool {
	return len(r.Sessions) == 0 && len(r.Simulated) == 0 && r.Windows == nil
}

// of returns the sessions of a kind.
func (r *results) of(kind string) (out []trial) {
	for _, t := range r.Sessions {
		if t.Kind == kind {
			out = append(out, t)
		}
	}
	return out
}

// write stores the results and their tables.
func (r *results) write(file string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// A line per session, so that more sessions are more lines of a diff.
	data = bytes.ReplaceAll(data, []byte(`{"kind"`), []byte("\n"+`{"kind"`))
	return benchmark.Write(file, data, r.markdown(filepath.Base(file)))
}
