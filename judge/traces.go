package judge

import (
	"fmt"
	"io"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record"
)

// Bounds on the execution traces of one bundle, taken together. A run takes three
// ordinary ones, of each of which 64 MB are read at most.
const (
	maxTraceBytes = 3 * oneTrace
	maxTraces     = 100
	oneTrace      = 64 << 20
)

// ordinaryTraces returns the traces of ordinary windows, each to be opened when its
// turn comes. Where there are more than fit in the bounds, those that are read are
// spread over the run, and a warning says so.
func ordinaryTraces(rec *record.Record, summary *record.Summary) []anatomy.Input {
	var all []anatomy.Input
	var sizes []int64
	for _, t := range rec.Traces() {
		if t.Slow {
			continue // of a window that was chosen for being slow
		}
		f, size, err := rec.OpenTrace(t)
		if err != nil {
			summary.Warnings = append(summary.Warnings, fmt.Sprintf("execution trace left out: %v", err))
			continue
		}
		_ = f.Close() // nothing was written
		sizes = append(sizes, min(size, oneTrace))
		all = append(all, anatomy.Input{Span: t.Span, Open: func() (io.ReadCloser, error) {
			f, _, err := rec.OpenTrace(t)
			return f, err
		}})
	}
	picked := record.Spread(len(all), func(i int) int64 { return sizes[i] }, maxTraceBytes, maxTraces)
	if left := len(all) - len(picked); left > 0 {
		summary.Warnings = append(summary.Warnings, fmt.Sprintf(
			"%d of %d execution traces left out, evenly over the run: %d of %d MB in all are read at most", left, len(all), maxTraces, maxTraceBytes>>20))
	}
	inputs := make([]anatomy.Input, len(picked))
	for i, at := range picked {
		inputs[i] = all[at]
	}
	return inputs
}
