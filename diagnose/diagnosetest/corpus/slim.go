package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// In a bundle of 10 s the windows, histograms and profiles are the largest part, and
// most of that is digits on which no finding depends.

// keptBits of a value's 52-bit mantissa: four decimal digits.
const keptBits = 14

// keptSlow of the slowest requests are kept.
const keptSlow = 50

// kept are the histograms that diagnosis reads, over the steady span as a whole.
var kept = []histogram.Kind{histogram.Latency, histogram.Service, histogram.Lag}

// slim writes the parts of the bundle from that diagnosis reads to the folder to,
// which it makes.
func slim(from, to string) error {
	rec, err := record.Open(from)
	if err != nil {
		return err
	}
	if rec.Run.Steady.Len() == 0 {
		return errors.New("the run has no steady span: it did not end well")
	}
	w, err := record.Create(to, rec.Run)
	if err != nil {
		return err
	}
	err = errors.Join(copyWindows(rec, w), copyHistograms(rec, w), copyProfiles(rec, w))
	slow, slowErr := rec.SlowRequests()
	slow = slow[:min(len(slow), keptSlow)]
	for i := range slow {
		slow[i].TraceID = "" // spans are left behind
	}
	if err := errors.Join(err, slowErr, w.Slow(slow...), w.Close(rec.Run.State, rec.Run.Why)); err != nil {
		return err
	}
	return copyJSON(from, to)
}

// copyWindows writes each series' values with fewer bits. A run so long that its
// windows were merged is refused: it would replay differently.
func copyWindows(rec *record.Record, w *record.Writer) error {
	if text := rec.ThinnedText(); text != "" {
		return fmt.Errorf("%s: a fixture is of a short run", text)
	}
	first, end := rec.Windows()
	width := rec.Run.Window
	all := timebase.Span{From: timebase.WindowSpan(first, width).From, To: timebase.WindowSpan(end, width).From}
	names := rec.Names()
	values := make([][]float64, len(names))
	for i, s := range names {
		values[i] = rec.Series(s.Name, s.Labels, all).Values
	}
	for n := range end - first {
		var points []series.Point
		for i, s := range names {
			if v := values[i][n]; !math.IsNaN(v) {
				points = append(points, series.Point{Window: first + n, Series: s, Value: round(v)})
			}
		}
		if err := w.Add(points...); err != nil {
			return err
		}
	}
	return nil
}

// round keeps a value's leading bits; whole numbers below 16384 stay.
func round(v float64) float64 {
	const dropped = 52 - keptBits
	if v == math.Trunc(v) && math.Abs(v) < 1<<keptBits || math.IsInf(v, 0) {
		return v
	}
	return math.Float64frombits((math.Float64bits(v) + 1<<(dropped-1)) &^ (1<<dropped - 1))
}

func copyHistograms(rec *record.Record, w *record.Writer) error {
	for _, kind := range kept {
		h, err := rec.Histogram("", kind, rec.Run.Steady)
		if err != nil {
			return err
		}
		if h.TotalCount() == 0 {
			continue
		}
		if err := w.Histogram("", kind, rec.Run.Steady, h); err != nil {
			return err
		}
	}
	return nil
}

// copyProfiles leaves out addresses, and the profiles' own compression: names and
// other parts that several of them repeat are then stored once. Readers take
// either form.
func copyProfiles(rec *record.Record, w *record.Writer) error {
	for _, listed := range rec.Profiles("") {
		data, err := rec.ReadProfile(listed)
		if err != nil {
			return err
		}
		p, err := measured.ParseProfile(data)
		if err != nil {
			return err
		}
		if err := p.Aggregate(true, true, true, true, false, false); err != nil {
			return err
		}
		if p, err = profile.Merge([]*profile.Profile{p}); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := p.WriteUncompressed(&b); err != nil {
			return err
		}
		listed.Data = b.Bytes()
		if err := w.Profile(listed); err != nil {
			return err
		}
	}
	return nil
}

// copyJSON copies run.json and the bundle's other JSON files, without the
// assessment, which a replay makes again, and without the timelines of requests.
func copyJSON(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err != nil {
		return err
	}
	drop := map[string][]string{
		record.SummaryFile: {"anatomy", "findings", "not_judged", "thresholds", "sources"},
		breakdown.File:     {"slowest", "marked"},
	}
	for _, path := range files {
		name := filepath.Base(path)
		if name == findings.File {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if keys := drop[name]; keys != nil {
			if data, err = without(data, keys); err != nil {
				return &fs.PathError{Op: "read", Path: path, Err: err}
			}
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func without(data []byte, keys []string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for _, k := range keys {
		delete(fields, k)
	}
	return json.Marshal(fields)
}
