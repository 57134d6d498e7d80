package redact

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
)

// What of a Go execution trace is read here: batches, and of these the tables of
// strings and stacks (Go's internal/trace/tracev2, events.go and batch.go). The messages of
// trace.Log and the names of tasks and regions are among the strings, each once and whole,
// and so are the functions and files of the stacks' frames.
const (
	traceHeader  = 16 // "go 1.26 trace\x00\x00\x00"
	eventBatch   = 1
	stacksBatch  = 2
	stackEntry   = 3
	stringsBatch = 4
	stringEntry  = 5
)

// Trace hides secrets in the strings of a Go execution trace, by value, name and form. Each
// keeps its length, so that the trace stays what it was to its readers; what is longer than a
// secret is filled with asterisks. Functions and files of stacks keep their names, as in a
// profile: they come from the program, and one whose password is its own name would lose all of them.
// A trace without secrets is returned as it is.
//
// It reads traces of Go 1.22 and later. Of others, and behind what it cannot
// read, it covers learnt values only.
func (r *Redactor) Trace(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte("go 1.")) || len(data) < traceHeader {
		return r.covered(data)
	}
	clean := slices.Clone(data)
	code := frames(clean)
	changed, from := false, 0
	hide := func(to int) { changed = r.Values(clean[from:to]) > 0 || changed }
	for b := range batches(clean) {
		if b.kind != stringsBatch {
			continue
		}
		for id, text := range stringsOf(clean, b) {
			if code[traced{b.generation, id}] {
				hide(text.from)
				from = text.to
				continue
			}
			was := clean[text.from:text.to]
			if now := r.Text(string(was)); now != string(was) {
				for i := copy(was, now); i < len(was); i++ {
					was[i] = '*'
				}
				changed = true
			}
		}
	}
	if hide(len(clean)); !changed {
		return data
	}
	return clean
}

// traced is a string of a trace: each generation has its own numbers.
type traced struct{ generation, id uint64 }

// piece is a part of a trace.
type piece struct{ from, to int }

// tables is a batch that holds a table; kind says of what, and the piece is its entries.
type tables struct {
	piece
	kind       byte
	generation uint64
}

// batches yields the tables of a trace, up to what cannot be read.
func batches(data []byte) iter.Seq[tables] {
	return func(yield func(tables) bool) {
		for at := traceHeader; at < len(data); {
			generation, begin, end, ok := batch(data, at)
			if !ok {
				return
			}
			if data[at] == eventBatch && begin < end && !yield(tables{piece{begin + 1, end}, data[begin], generation}) {
				return
			}
			at = end
		}
	}
}

// frames returns the strings of a trace that are functions or files of its stacks.
func frames(data []byte) map[traced]bool {
	code := map[traced]bool{}
	for b := range batches(data) {
		if b.kind != stacksBatch {
			continue
		}
		table := data[b.from:b.to]
		next := func() (v uint64) {
			v, n := binary.Uvarint(table)
			if n <= 0 {
				table = nil
				return 0
			}
			table = table[n:]
			return v
		}
		for len(table) > 0 && table[0] == stackEntry {
			table = table[1:]
			next() // its number
			for left := next(); left > 0 && len(table) > 0; left-- {
				next() // the program counter
				function, file := next(), next()
				next() // the line
				code[traced{b.generation, function}], code[traced{b.generation, file}] = true, true
			}
		}
	}
	return code
}

// batch returns the generation of the batch that begins at a place, where it has its data, and where
// it ends.
func batch(data []byte, at int) (generation uint64, begin, end int, ok bool) {
	typ := data[at]
	at++
	if typ != eventBatch {
		// The marks between generations are single bytes; experimental batches
		// carry one byte more in front.
		const experimental = 49
		if typ != experimental {
			return 0, at, at, typ > experimental
		}
		at++
	}
	var size uint64
	for i := range 4 { // generation, thread, time, size
		if at > len(data) {
			return 0, 0, 0, false
		}
		v, n := binary.Uvarint(data[at:])
		if n <= 0 {
			return 0, 0, 0, false
		}
		if i == 0 {
			generation = v
		}
		size, at = v, at+n
	}
	if size > uint64(len(data)-at) {
		return 0, 0, 0, false
	}
	return generation, at, at + int(size), true
}

// stringsOf yields a table's strings with their numbers.
func stringsOf(data []byte, b tables) iter.Seq2[uint64, piece] {
	return func(yield func(uint64, piece) bool) {
		for at := b.from; at < b.to && data[at] == stringEntry; {
			at++
			id, n := binary.Uvarint(data[at:b.to])
			if n <= 0 {
				return
			}
			at += n
			length, n := binary.Uvarint(data[at:b.to])
			if n <= 0 || length > uint64(b.to-at-n) {
				return
			}
			text := piece{at + n, at + n + int(length)}
			if at = text.to; !yield(id, text) {
				return
			}
		}
	}
}
