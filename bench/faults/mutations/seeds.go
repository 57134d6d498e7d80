package mutations

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// seeds are whole bundles that trials damage copies of.
type seeds []string

// services are the cases whose bundles together hold every kind of file.
var services = []string{"wallet-debit", "booking-trail", "credit-scorer", "partner-feed", "journal-sync"}

// newSeeds unpacks recorded bundles of the corpus below scratch, and adds the files that
// they are packed without: execution traces, spans, a report, and the journal of a run
// that was killed. root is the repository.
func newSeeds(root, scratch string) (seeds, error) {
	traces, err := filepath.Glob(filepath.Join(root, "anatomy", "testdata", "*.trace"))
	if err != nil || len(traces) == 0 {
		return nil, fmt.Errorf("no traces in %s: %v", root, err)
	}
	var all seeds
	for i, name := range services {
		dir := filepath.Join(scratch, name)
		if err := os.MkdirAll(filepath.Join(dir, "traces"), 0o755); err != nil {
			return nil, err
		}
		if err := corpus.Unpack(filepath.Join(root, "corpus", "fixtures", name+corpus.PackExt), dir); err != nil {
			return nil, err
		}
		for j := range 2 {
			data, err := os.ReadFile(traces[(i*2+j)%len(traces)])
			if err != nil {
				return nil, err
			}
			file := fmt.Sprintf("trace-w%d-w%d_%d-%d.trace", 30+10*j, 39+10*j, 3_000_000_000+1_000_000_000*j, 3_999_000_000+1_000_000_000*j)
			if err := os.WriteFile(filepath.Join(dir, "traces", file), data, 0o644); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "spans.jsonl"), spanLines(), 0o644); err != nil {
			return nil, err
		}
		all = append(all, dir)
	}
	killed := filepath.Join(scratch, "killed")
	if err := killedRun(all[0], killed); err != nil {
		return nil, err
	}
	return append(all, killed), nil
}

func spanLines() (lines []byte) {
	for i := range 50 {
		line, _ := json.Marshal(record.TraceSpan{Trace: fmt.Sprintf("%032x", i/5+1),
			ID: fmt.Sprintf("%016x", i+1), Name: "GET /orders", Service: "shop"})
		lines = append(append(lines, line...), '\n')
	}
	return lines
}

// killedRun writes to dir the files that a kill would have left of the run in from.
func killedRun(from, dir string) error {
	rec, err := record.Open(from)
	if err != nil {
		return err
	}
	work := dir + ".open"
	w, err := record.Create(work, rec.Run)
	if err != nil {
		return err
	}
	first, end := rec.Windows()
	all := timebase.Span{From: time.Duration(first) * rec.Run.Window, To: time.Duration(end) * rec.Run.Window}
	for _, s := range rec.Names() {
		for i, v := range rec.Series(s.Name, s.Labels, all).Values {
			if v == v {
				if err := w.Add(series.Point{Window: first + int64(i), Series: s, Value: v}); err != nil {
					return err
				}
			}
		}
	}
	// The writer flushes within a second; polled, because nothing announces it.
	for tried := 0; ; tried++ {
		open, err := record.Open(work)
		if err != nil {
			return err
		}
		if _, to := open.Windows(); to == end {
			break
		}
		if tried == 600 {
			return fmt.Errorf("the journal of %s was never whole", work)
		}
		time.Sleep(50 * time.Millisecond)
	}
	err = os.CopyFS(dir, os.DirFS(work))
	w.Close(record.Aborted, "the seed was taken")
	return err
}

// copy copies one of the seeds to dir and returns its name.
func (s seeds) copy(r *rand.Rand, dir string) (string, error) {
	from := s[r.IntN(len(s))]
	return filepath.Base(from), os.CopyFS(dir, os.DirFS(from))
}

// repository is the folder that holds the corpus, at or above the current one.
func repository() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "corpus", "fixtures")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", fmt.Errorf("no repository around the current directory: %v", err)
}
