package session

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
)

// RunValues returns the metrics that a recorded run has. The error says why a run
// must not be compared.
func RunValues(dir string) ([]verify.Value, error) {
	b, void, err := readBlock(dir)
	if err != nil {
		return nil, err
	}
	if void != nil {
		return nil, fmt.Errorf("%s: %w", dir, void)
	}
	rec, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	var summary record.Summary
	if err := rec.ReadJSON(record.SummaryFile, &summary); err != nil {
		return nil, err
	}
	return verify.BlockValues([]verify.Block{b}, verify.Metrics(summary.Load.Model == "open")), nil
}

// Recorded is a session that was kept.
type Recorded struct {
	Header  Header
	Result  verify.Result
	Pairs   []verify.Pair   // of both sides
	Blocks  []verify.Block  // of side b
	Metrics []verify.Metric // that it was judged by
}

// ReadSession reads a finished session from its directory. The error is for a
// session without a result, because it was interrupted, or for files that do not
// parse.
func ReadSession(dir string) (r Recorded, err error) {
	if err := readJSON(filepath.Join(dir, File), &r.Header); err != nil {
		return r, err
	}
	if err := readJSON(filepath.Join(dir, ResultFile), &r.Result); err != nil {
		return r, fmt.Errorf("the session was not finished: %w", err)
	}
	// Read without the lock: a finished session does not change.
	l := &Log{dir: dir, pairs: map[string][]verify.Pair{}}
	if _, err := l.read(filepath.Join(dir, blocksFile)); err != nil {
		return r, err
	}
	_, r.Pairs = l.Pairs()
	r.Blocks = l.Blocks()
	for _, m := range verify.Metrics(false) {
		if slices.ContainsFunc(r.Result.Metrics, func(decided verify.MetricResult) bool { return decided.Name == m.Name }) {
			r.Metrics = append(r.Metrics, m)
		}
	}
	if r.Header.Begun.IsZero() {
		// Sessions of earlier versions do not record their time.
		if info, err := os.Stat(filepath.Join(dir, File)); err == nil {
			r.Header.Begun = info.ModTime()
		}
	}
	return r, nil
}

// Bounds on what Earlier reads.
const (
	mostEarlier = 3   // sessions that it takes
	mostSeen    = 500 // directories that it examines
)

// Earlier returns the pairs of the newest sessions of the same scenario on the same machine, from the
// directories next to a session's, and how long a pair took; nothing if there are none. Sessions that cannot
// be read are skipped.
func Earlier(dir string, h Header) (pairs [][]verify.Pair, each time.Duration) {
	entries, err := os.ReadDir(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return nil, 0
	}
	slices.Reverse(entries) // names begin with the time
	var took []float64
	for _, e := range entries[:min(len(entries), mostSeen)] {
		concurrent := filepath.Join(filepath.Dir(filepath.Clean(dir)), e.Name())
		var other Header
		if e.Name() == filepath.Base(filepath.Clean(dir)) || readJSON(filepath.Join(concurrent, File), &other) != nil ||
			!alike(other.Plan, h.Plan) || !alike(other.Host, h.Host) {
			continue
		}
		l := &Log{dir: concurrent, pairs: map[string][]verify.Pair{}}
		if _, err := l.read(filepath.Join(concurrent, blocksFile)); err != nil {
			continue
		}
		_, both := l.Pairs()
		// The first pairs precede the plan, and their duration differs from that of later
		// ones.
		for _, p := range both[len(both)/2:] {
			if p.Took > 0 {
				took = append(took, p.Took.Seconds())
			}
		}
		if pairs = append(pairs, both); len(pairs) >= mostEarlier {
			break
		}
	}
	if len(took) == 0 {
		return nil, 0
	}
	return pairs, time.Duration(stat.Median(took) * float64(time.Second))
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
		return fmt.Errorf("%s is larger than %s", path, notation.Size(record.MaxRunJSON))
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Blocks returns the blocks that a session measured of its side b, including void
// ones.
func (l *Log) Blocks() (out []verify.Block) {
	if l == nil {
		return nil
	}
	for _, p := range slices.Concat(l.pairs[compared], l.pairs[alone]) {
		out = append(out, p.B)
	}
	return out
}
