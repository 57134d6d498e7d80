package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/record/disk"
)

// spansFile holds the spans that were kept, in no order.
const spansFile = "spans.jsonl"

// TraceSpan is a line of spans.jsonl: a span in OpenTelemetry's sense, a piece of work
// that a service exported. Instants are run time, converted from the service's wall
// clock.
type TraceSpan struct {
	Trace  string `json:"trace_id"` // 32 hexadecimal digits
	ID     string `json:"span_id"`  // 16
	Parent string `json:"parent_id,omitempty"`

	Service string        `json:"service"` // service.name; empty when it was not sent
	Name    string        `json:"name"`
	Kind    string        `json:"kind,omitempty"` // internal, server, client, producer or consumer
	From    time.Duration `json:"start_ns"`
	To      time.Duration `json:"end_ns"`
	Status  string        `json:"status,omitempty"` // ok or error; empty when it was not set
	Message string        `json:"message,omitempty"`
	// Attributes are a few of the span's, by the names of OpenTelemetry's
	// conventions. The text of a statement is in its normal form.
	Attributes map[string]string `json:"attributes,omitempty"`
	// Statement is the key (package record/statement) of the span's SQL statement;
	// empty for other spans.
	Statement string `json:"statement,omitempty"`
}

// Spans writes the whole of spans.jsonl; a second call replaces it. Its size is bounded
// by MaxSpans; spans beyond that are left out with an error.
func (w *Writer) Spans(spans ...TraceSpan) error {
	var data []byte
	var failed error
	for i := range spans {
		line, err := json.Marshal(&spans[i])
		if err != nil {
			return fmt.Errorf("write %s: %w", spansFile, err)
		}
		line = w.hide.Document(line)
		if len(data)+len(line) >= MaxSpans {
			failed = fmt.Errorf("write %s: %d of %d spans are left out, because the file would exceed %d bytes",
				filepath.Join(w.dir, spansFile), len(spans)-i, len(spans), MaxSpans)
			break
		}
		data = append(append(data, line...), '\n')
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return w.keep(spansFile, errors.Join(disk.Write(w.dir, spansFile, data), failed))
}

// Spans returns the spans of the bundle, nil when there are none.
func (r *Record) Spans() ([]TraceSpan, error) {
	data, err := disk.Read(r.Dir, spansFile, MaxSpans)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := disk.UnmarshalLines[TraceSpan](data)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(r.Dir, spansFile), err)
	}
	return all, nil
}
