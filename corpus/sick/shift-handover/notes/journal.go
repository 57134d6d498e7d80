package notes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// Journal is a store in a file, one note a line, which outlives a loss of power.
type Journal struct {
	file *os.File
	end  atomic.Int64

	mu    sync.RWMutex
	lines map[string]line
}

type line struct {
	at     int64
	length int
}

// OpenJournal opens or makes a journal.
func OpenJournal(path string) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("notes: %w", err)
	}
	j := &Journal{file: f, lines: map[string]line{}}
	if err := j.scan(); err != nil {
		return nil, errors.Join(fmt.Errorf("notes: %s: %w", path, err), f.Close())
	}
	return j, nil
}

// scan finds the notes of an earlier process. Lines that were cut off by a loss
// of power were never acknowledged, and are passed over.
func (j *Journal) scan() error {
	r := bufio.NewReader(j.file)
	for at := int64(0); ; {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			j.end.Store(at + int64(len(text)))
			return nil
		}
		if err != nil {
			return err
		}
		var n Note
		if json.Unmarshal(bytes.Trim(text, "\x00\n"), &n) == nil && n.ID != "" {
			j.lines[n.ID] = line{at, len(text)}
		}
		at += int64(len(text))
	}
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Save implements Store. Notes are written side by side, each at a place of its own.
func (j *Journal) Save(ctx context.Context, n Note) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(n); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	at := j.end.Add(int64(text.Len())) - int64(text.Len())
	if err := j.write(text.Bytes(), at); err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines[n.ID] = line{at, text.Len()}
	return nil
}

func (j *Journal) write(text []byte, at int64) error {
	if _, err := j.file.WriteAt(text, at); err != nil {
		return err
	}
	return j.file.Sync()
}

// Load implements Store.
func (j *Journal) Load(_ context.Context, id string) (n Note, err error) {
	j.mu.RLock()
	l, ok := j.lines[id]
	j.mu.RUnlock()
	if !ok {
		return n, ErrUnknown
	}
	text := make([]byte, l.length)
	if _, err := j.file.ReadAt(text, l.at); err != nil {
		return n, fmt.Errorf("notes: %w", err)
	}
	return n, json.Unmarshal(bytes.TrimLeft(text, "\x00"), &n)
}
