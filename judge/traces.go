package judge

import (
	"fmt"
	"io"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record"
)

// mostTraces bounds the bytes of traces that are taken apart, some 12 s of work. A
// run's own are far below; of more, every second is left out, or two of three, so
// that what is left still tells of the whole run.
const mostTraces = 128 << 20

// inputs returns the traces of ordinary windows, each read when its turn comes and
// never two at a time. What cannot be opened is a warning.
func inputs(rec *record.Record) (list []anatomy.Input, warnings []string) {
	var sum int64
	var sizes []int64
	for _, t := range rec.Traces() {
		if t.Slow {
			continue // of a window that was chosen for being slow
		}
		f, size, err := rec.OpenTrace(t)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("execution trace left out: %v", err))
			continue
		}
		f.Close()
		size = min(size, anatomy.MostBytes)
		sum += size
		sizes = append(sizes, size)
		list = append(list, anatomy.Input{Trace: &lazyTrace{rec: rec, trace: t}, Span: t.Span})
	}
	if sum <= mostTraces {
		return list, warnings
	}
	kept, credit := list[:0:0], 0.0
	for i, in := range list {
		// Each earns its share of the budget; the one that can pay is read.
		credit += float64(sizes[i]) * float64(mostTraces) / float64(sum)
		if credit >= float64(sizes[i]) || i == 0 {
			kept, credit = append(kept, in), max(0, credit-float64(sizes[i]))
		}
	}
	return kept, append(warnings, fmt.Sprintf("%d of %d execution traces are left out: %d MB of them are more than the %d MB that are taken apart", len(list)-len(kept), len(list), sum>>20, mostTraces>>20))
}

// lazyTrace opens its file when it is first read, and closes it at the end.
type lazyTrace struct {
	rec   *record.Record
	trace record.Trace
	file  io.ReadCloser
}

// Read implements io.Reader.
func (l *lazyTrace) Read(p []byte) (int, error) {
	if l.file == nil {
		f, _, err := l.rec.OpenTrace(l.trace)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	return l.file.Read(p)
}

// Close implements io.Closer: the analysis is done with it, however far it came.
func (l *lazyTrace) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
