package record

import (
	"fmt"
	"io"
	"io/fs"
)

// OpenTrace opens a listed trace to be read as it goes, and returns its size in
// bytes. The file is as the bundle holds it; its readers bound their own input.
func (r *Record) OpenTrace(t Trace) (io.ReadCloser, int64, error) {
	for _, s := range r.traces {
		if s.Span == t.Span && (s.typ == slowType) == t.Slow {
			f, size, err := openFile(r.Dir, s.path, MaxTrace)
			if err != nil {
				return nil, 0, err
			}
			return f, size, nil
		}
	}
	return nil, 0, fmt.Errorf("read trace: %s holds none of %v to %v: %w", r.Dir, t.Span.From, t.Span.To, fs.ErrNotExist)
}
