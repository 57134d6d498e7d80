package gobench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/perf/benchfmt"

	"github.com/redline-go/redline/record/disk"
)

// Files of a session's folder.
const (
	OldFile    = "old.txt" // the rounds of side a, or of the only side new.txt
	NewFile    = "new.txt"
	ReportFile = "bench.json"
	profileDir = "profiles"
)

// files is the session's folder. Results are written as they come, so that an
// interrupted session keeps its rounds, in the format that benchstat reads.
type files struct {
	dir   string
	open  []*os.File // by side
	write []*benchfmt.Writer
	units benchfmt.UnitMetadataMap
}

// vacant returns an error if a folder has another session's results: they are not
// overwritten, and it is better to know before the minutes have passed.
func vacant(dir string) error {
	for _, name := range []string{OldFile, NewFile, ReportFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s holds %s of another session (hint: -o another folder)", dir, name)
		}
	}
	return nil
}

// create makes the folder and begins the files, for the user alone: results may
// carry a private repository's names.
func create(dir string, sides []*built) (*files, error) {
	f := &files{dir: dir, units: benchfmt.UnitMetadataMap{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the results: %w", err)
	}
	names := []string{NewFile}
	if len(sides) == 2 {
		names = []string{OldFile, NewFile}
	}
	for _, name := range names {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("begin the results: %w", err), f.close())
		}
		f.open, f.write = append(f.open, file), append(f.write, benchfmt.NewWriter(file))
	}
	return f, nil
}

// config gives a result the lines by which benchstat distinguishes results. Others,
// which the benchmark itself may have printed, are left out: they would split its
// rounds into groups.
func (f *files) config(r *benchfmt.Result, side *built) *benchfmt.Result {
	out := &benchfmt.Result{Name: r.Name, Iters: r.Iters, Values: r.Values}
	for _, key := range []string{"goos", "goarch", "pkg", "cpu"} {
		if value := r.GetConfig(key); value != "" {
			out.Config = append(out.Config, benchfmt.Config{Key: key, Value: []byte(value), File: true})
		}
	}
	if commit := side.tree.Commit; commit != "" {
		if side.tree.Dirty {
			commit += "-dirty"
		}
		out.Config = append(out.Config, benchfmt.Config{Key: "commit", Value: []byte(commit), File: true})
	}
	return out
}

// learn notes the properties that benchmarks declare for their own units, 100 at
// most.
func (f *files) learn(units benchfmt.UnitMetadataMap) error {
	const most = 100
	for key, u := range units {
		if _, known := f.units[key]; known || len(f.units) >= most {
			continue
		}
		f.units[key] = u
		for _, w := range f.write {
			if err := w.Write(u); err != nil {
				return fmt.Errorf("write results: %w", err)
			}
		}
	}
	return nil
}

func (f *files) add(side int, r *benchfmt.Result) error {
	if err := f.write[side].Write(r); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// finish writes bench.json.
func (f *files) finish(r *Report) error { return disk.WriteJSON(f.dir, ReportFile, r) }

func (f *files) close() (err error) {
	for _, file := range f.open {
		err = errors.Join(err, file.Close())
	}
	f.open = nil
	return err
}
