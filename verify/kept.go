package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/stat"
)

// Value is one metric of one version of the service, by itself.
type Value struct {
	Metric
	Value float64
	// Low and High are the limits of its 95 % interval; NaN where it is not known.
	Low, High float64
}

// RunValues returns the metrics of a recorded run, those that it delivers. A run
// that must not be compared is an error that says why.
func RunValues(dir string) ([]Value, error) {
	b, err := readBlock(dir)
	if err != nil {
		return nil, err
	}
	if b.Void != "" {
		return nil, fmt.Errorf("%s: %s", dir, b.Void)
	}
	rec, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	var summary record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &summary); err != nil {
		return nil, err
	}
	return BlockValues([]Block{b}, Metrics(summary.Load.Model == "open")), nil
}

// BlockValues returns the median block of each metric that all blocks deliver,
// with the signed-rank interval of where that lies.
func BlockValues(blocks []Block, metrics []Metric) (out []Value) {
	for _, m := range metrics {
		logs, ok := m.logs(blocks)
		if !ok {
			continue
		}
		v := Value{Metric: m, Value: math.Exp(stat.Median(logs)), Low: math.NaN(), High: math.NaN()}
		if _, low, high, known := stat.SignedRankInterval(logs, 0.95); known {
			v.Low, v.High = math.Exp(low), math.Exp(high)
		}
		out = append(out, v)
	}
	return out
}

// Recorded is a session that was kept.
type Recorded struct {
	Header  Header
	Result  Result
	Blocks  []Block  // of side b
	Metrics []Metric // that it was judged by
}

// ReadSession reads a finished session from its directory. One without result
// is an error: it was interrupted.
func ReadSession(dir string) (r Recorded, err error) {
	if err := readJSON(filepath.Join(dir, SessionFile), &r.Header); err != nil {
		return r, err
	}
	if err := readJSON(filepath.Join(dir, ResultFile), &r.Result); err != nil {
		return r, fmt.Errorf("the session was not finished: %w", err)
	}
	l := &Log{dir: dir, pairs: map[string][]Pair{}}
	if _, err := l.read(filepath.Join(dir, blocksFile)); err != nil {
		return r, err
	}
	r.Blocks = l.Blocks()
	for _, m := range Metrics(false) {
		if slices.ContainsFunc(r.Result.Metrics, func(judged MetricResult) bool { return judged.Name == m.Name }) {
			r.Metrics = append(r.Metrics, m)
		}
	}
	if r.Header.Begun.IsZero() {
		// Sessions of earlier versions do not say when they were.
		if info, err := os.Stat(filepath.Join(dir, SessionFile)); err == nil {
			r.Header.Begun = info.ModTime()
		}
	}
	return r, nil
}

// readJSON reads a file of bounded size.
func readJSON(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, record.MaxRunJSON+1))
	if err != nil {
		return err
	}
	if len(data) > record.MaxRunJSON {
		return fmt.Errorf("%s is larger than %s", path, octets(record.MaxRunJSON))
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// logs returns the logarithms of a metric's values; ok is false when a block
// lacks it: a metric counts whole or not at all.
func (m Metric) logs(blocks []Block) (out []float64, ok bool) {
	for _, b := range blocks {
		v := m.of(b)
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, false
		}
		out = append(out, math.Log(v))
	}
	return out, len(out) > 0
}

// Blocks returns the blocks that a session has measured of its side b, good ones
// and void ones.
func (l *Log) Blocks() (out []Block) {
	if l == nil {
		return nil
	}
	for _, p := range slices.Concat(l.pairs[compared], l.pairs[alone]) {
		out = append(out, p.B)
	}
	return out
}
