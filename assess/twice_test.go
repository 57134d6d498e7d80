package assess

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// cuts are the tenths of a run at which it may have been killed.
const cuts = 10

// TestKilledRunIsJudgedTheSameTwice cuts off every recorded run of the corpus at ten
// places and assesses the rest twice: the second assessment, which finds the first one's
// files, must be equal in everything that it says. Packed bundles hold no traces, so their
// anatomy stands for them. All of it takes two minutes of CPU; with -short
// it is every tenth recording.
func TestKilledRunIsJudgedTheSameTwice(t *testing.T) {
	files, err := filepath.Glob("../corpus/fixtures/*" + corpus.PackExt)
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for i, file := range files {
		if testing.Short() && i%10 != 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), corpus.PackExt), func(t *testing.T) {
			t.Parallel()
			whole := t.TempDir()
			if err := corpus.Unpack(file, whole); err != nil {
				t.Fatal(err)
			}
			var anatomy *breakdown.Anatomy
			if _, err := os.Stat(filepath.Join(whole, breakdown.File)); err == nil {
				anatomy = &breakdown.Anatomy{}
				read(t, filepath.Join(whole, breakdown.File), anatomy)
			}
			kill(t, whole, func(when, dir string) { twice(t, when, dir, anatomy) })
		})
	}
}

func twice(t *testing.T, when, dir string, anatomy *breakdown.Anatomy) {
	t.Helper()
	var texts [2][]byte
	for i := range texts {
		rec, summary, err := opened(dir)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		a, err := judged(rec, summary, anatomy)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		a.body = nil // it is the fixture's, and writing it would take a third of the time
		if err := a.write(dir); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		s := a.summary
		if s.Generator.Verdict() != record.ValidityUnknown || s.Generator.Valid {
			t.Errorf("%s, judgement %d: the generator is %q, valid %t", when, i+1, s.Generator.Verdict(), s.Generator.Valid)
		}
		var found findings.Findings // with the parts that the summary leaves out
		read(t, filepath.Join(dir, findings.File), &found)
		if texts[i], err = json.Marshal([]any{s, found}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("%s, judged first:\n%s\nand then:\n%s", when, texts[0], texts[1])
	}
}

func read(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kill replays a recorded run and calls judge at each tenth of it, with the files of a run that
// was killed there: the journal, latencies so far, profiles that had ended, and no
// assessment. The time that the writer takes to flush is that of a synctest bubble.
func kill(t *testing.T, whole string, judge func(when, dir string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rec, err := record.Open(whole)
		if err != nil {
			t.Fatal(err)
		}
		run := rec.Run
		run.Steady, run.State, run.Why = timebase.Span{}, record.Running, ""
		w, err := record.Create(filepath.Join(t.TempDir(), "killed"), run)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close(record.Complete, "")
		parts := map[histogram.Kind]*hdrhistogram.Histogram{}
		for _, kind := range []histogram.Kind{histogram.Latency, histogram.Service, histogram.Lag} {
			h, err := rec.Histogram("", kind, rec.Run.Steady)
			if err != nil {
				t.Fatal(err)
			}
			parts[kind] = tenthOf(h)
		}
		first, end := rec.Windows()
		from := first
		for tenth := int64(1); tenth <= cuts; tenth++ {
			to := first + max(1, (end-first)*tenth/cuts)
			span := timebase.Span{From: timebase.WindowSpan(from, run.Window).From, To: timebase.WindowSpan(to, run.Window).From}
			replay(t, rec, w, span)
			for kind, part := range parts {
				if err := w.Histogram("", kind, span, part); err != nil {
					t.Fatal(err)
				}
			}
			if tenth == cuts {
				late(t, whole, w.Dir())
			}
			time.Sleep(time.Second) // the journal is flushed each half second
			judge(fmt.Sprintf("killed after %d tenths", tenth), w.Dir())
			for _, file := range judgement { // the run continues as if it had not been assessed
				if err := os.Remove(filepath.Join(w.Dir(), file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			from = to
		}
	})
}

// judgement are the files that an assessment writes into the bundle.
var judgement = []string{breakdown.File, findings.File, record.SummaryFile}

// replay writes the windows of a span, and the profiles that end in it.
func replay(t *testing.T, rec *record.Record, w *record.Writer, span timebase.Span) {
	t.Helper()
	begin := timebase.Window(span.From, rec.Run.Window)
	for _, s := range rec.Names() {
		for i, v := range rec.Series(s.Name, s.Labels, span).Values {
			if v == v { // NaN is none
				if err := w.Add(series.Point{Window: begin + int64(i), Series: s, Value: v}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, listed := range rec.Profiles("") {
		if listed.Span.To <= span.From || listed.Span.To > span.To {
			continue
		}
		data, err := rec.ReadProfile(listed)
		if listed.Data = data; err == nil {
			err = w.Profile(listed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tenthOf returns a tenth of each count: a packed bundle has one histogram of its whole
// steady span.
func tenthOf(h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	part := histogram.New()
	for _, bar := range h.Distribution() {
		part.RecordValues(bar.To, (bar.Count+cuts-1)/cuts)
	}
	return part
}

// late adds what a run writes after its load: it may be killed between these files and its
// summary.
func late(t *testing.T, whole, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(whole, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == disk.RunFile || slices.Contains(judgement, name) {
			continue
		}
		if err := os.Link(file, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}
