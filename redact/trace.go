package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// What of a Go execution trace is read here: batches, and of these the tables of
// strings (Go's internal/trace/tracev2, events.go and batch.go). The messages of
// trace.Log and the names of tasks and regions are in them, each once and whole.
const (
	traceHeader  = 16 // "go 1.26 trace\x00\x00\x00"
	eventBatch   = 1
	stringsBatch = 4
	stringEntry  = 5
)

// Trace hides secrets in the strings of a Go execution trace: by value, and by
// name and form in those that are no function or file. Each keeps its length, so
// that the trace stays what it was to its readers; what is longer than a secret
// is filled with asterisks. A trace without secrets is returned as it is.
//
// It reads traces of Go 1.22 and later. Of others, and behind what it cannot
// read, it covers learnt values only.
func (r *Redactor) Trace(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte("go 1.")) || len(data) < traceHeader {
		return r.covered(data)
	}
	clean := slices.Clone(data)
	changed := false
	for at := traceHeader; at < len(clean); {
		begin, end, ok := batch(clean, at)
		if !ok {
			break
		}
		if clean[at] == eventBatch && begin < end && clean[begin] == stringsBatch {
			changed = r.strings(clean[begin+1:end]) || changed
		}
		at = end
	}
	if r.Values(clean) == 0 && !changed {
		return data
	}
	return clean
}

// batch returns where the batch that begins at a place has its data, and where
// it ends.
func batch(data []byte, at int) (begin, end int, ok bool) {
	typ := data[at]
	at++
	if typ != eventBatch {
		// The marks between generations are single bytes; experimental batches
		// carry one byte more in front.
		const experimental = 49
		if typ != experimental {
			return at, at, typ > experimental
		}
		at++
	}
	var size uint64
	for range 4 { // generation, thread, time, size
		if at > len(data) {
			return 0, 0, false
		}
		v, n := binary.Uvarint(data[at:])
		if n <= 0 {
			return 0, 0, false
		}
		size, at = v, at+n
	}
	if size > uint64(len(data)-at) {
		return 0, 0, false
	}
	return at, at + int(size), true
}

// strings hides secrets in a table of strings, in place.
func (r *Redactor) strings(table []byte) (changed bool) {
	for len(table) > 0 && table[0] == stringEntry {
		table = table[1:]
		_, n := binary.Uvarint(table)
		if n <= 0 {
			return changed
		}
		length, m := binary.Uvarint(table[n:])
		if m <= 0 || length > uint64(len(table)-n-m) {
			return changed
		}
		text := table[n+m : n+m+int(length)]
		table = table[n+m+int(length):]
		if clean := r.Text(string(text)); clean != string(text) {
			for i := copy(text, clean); i < len(text); i++ {
				text[i] = '*'
			}
			changed = true
		}
	}
	return changed
}
