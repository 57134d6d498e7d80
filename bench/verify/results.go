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
	"slices"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
)

const schema = "redline.verify-bench/5"

// results holds all measurements, possibly of several machines.
type results struct {
	Schema    string       `json:"schema"`
	MaxTime   string       `json:"max_time"`
	Machines  []machine    `json:"places"`
	Sessions  []trial      `json:"sessions"`
	Noise     []noise      `json:"noise,omitempty"`
	Fixed     []fixedRun   `json:"fixed,omitempty"`
	Simulated []simulation `json:"simulated"`
	Windows   *windowed    `json:"windows,omitempty"`

	here int // index of this machine
}

// machine is where sessions were run. The work that makes 5 % belongs to it: another
// processor needs more or fewer rounds.
type machine struct {
	Date    time.Time   `json:"date"` // of the last session
	Host    record.Host `json:"host"`
	Go      string      `json:"go"`
	Redline string      `json:"redline"` // revision
	// Work is by service.
	Work map[string]work `json:"work"`
}

// openResults returns what the file holds, if the bench continues it. Sessions are added
// to those of the machine with the same host, Go and revision of redline, or to a new one.
func openResults(o options) (*results, error) {
	r := &results{Schema: schema, MaxTime: o.maxTime.String(), Sessions: []trial{}}
	if o.add {
		if err := r.load(o.out); err != nil {
			return nil, err
		}
	}
	now := machine{
		Date: time.Now().UTC().Truncate(time.Second), Host: record.HostInfo(), Go: runtime.Version(),
		Redline: benchmark.Revision("."),
	}
	// Another revision of redline counts as another machine: its verdicts may differ.
	r.here = slices.IndexFunc(r.Machines, func(m machine) bool { return m.Host == now.Host && m.Go == now.Go && m.Redline == now.Redline })
	if r.here < 0 {
		r.here, r.Machines = len(r.Machines), append(r.Machines, now)
	}
	return r, nil
}

// load reads the file; a missing file holds nothing.
func (r *results) load(file string) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old results
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil {
		return fmt.Errorf("earlier results: %w (hint: -o another file)", err)
	}
	if old.Schema != r.Schema || old.MaxTime != r.MaxTime {
		return fmt.Errorf("%s holds another measurement, of another -max-time or form (hint: without -add, or -o another file)", file)
	}
	for _, n := range old.Noise {
		if len(n.Rows) != len(n.Launches) {
			return fmt.Errorf("earlier results: a recording in %s has %d pairs and the turns of %d (hint: -o another file)",
				file, len(n.Rows), len(n.Launches))
		}
	}
	for _, t := range old.Sessions {
		if t.Machine < 0 || t.Machine >= len(old.Machines) {
			return fmt.Errorf("earlier results: %s names machine %d of %d (hint: -o another file)", file, t.Machine, len(old.Machines))
		}
	}
	*r = old
	return nil
}

// work is this machine's, for a service.
func (r *results) work(service string) work { return r.Machines[r.here].Work[service] }

func (r *results) setWork(service string, w work) {
	m := &r.Machines[r.here]
	if m.Work == nil {
		m.Work = map[string]work{}
	}
	m.Work[service] = w
}

func (r *results) empty() bool {
	return len(r.Sessions) == 0 && len(r.Noise)+len(r.Fixed) == 0 && len(r.Simulated) == 0 && r.Windows == nil
}

// of returns the sessions of a kind with a service; of all if service is empty.
func (r *results) of(service, kind string) (out []trial) {
	for _, t := range r.Sessions {
		if t.Kind == kind && (service == "" || t.Service == service) {
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
