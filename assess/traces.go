package assess

import (
	"fmt"
	"io"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record"
)

// Bounds of the traces that are taken apart, some 12 s of work. Ordinary runs stay far below;
// beyond, the traces read are spread over the run.
const (
	mostBytes  = 128 << 20
	mostTraces = 100
)

// inputs returns the traces of ordinary windows, each read when its turn comes and
// never two at a time. One that cannot be opened is a warning.
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
	picked := record.Spread(len(list), func(i int) int64 { return sizes[i] }, mostBytes, mostTraces)
	if len(picked) == len(list) {
		return list, warnings
	}
	kept := make([]anatomy.Input, len(picked))
	for i, at := range picked {
		kept[i] = list[at]
	}
	return kept, append(warnings, fmt.Sprintf("%d of %d execution traces left out, evenly over the run: in all they hold "+
		"%d MB, and at most %d MB and %d traces are read",
		len(list)-len(kept), len(list), sum>>20, mostBytes>>20, mostTraces))
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
