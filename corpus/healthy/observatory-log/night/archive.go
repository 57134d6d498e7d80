package night

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Archive writes a journal to a file, a little later.
type Archive struct {
	journal *Journal
	every   time.Duration
	file    *os.File
	to      *bufio.Writer
	written int64
}

// NewArchive writes to a new file in dir, every so often.
func NewArchive(dir string, journal *Journal, every time.Duration) (*Archive, error) {
	f, err := os.CreateTemp(dir, "night-*.jsonl")
	if err != nil {
		return nil, err
	}
	return &Archive{journal: journal, every: every, file: f, to: bufio.NewWriter(f)}, nil
}

// Keep writes until ctx ends. Errors are reported, and what could not be written is
// tried again.
func (a *Archive) Keep(ctx context.Context, report func(error)) {
	for ctx.Err() == nil {
		time.Sleep(a.every)
		if err := a.write(); err != nil {
			report(err)
		}
	}
}

func (a *Archive) write() error {
	news := a.journal.After(a.written)
	enc := json.NewEncoder(a.to)
	for _, o := range news {
		if err := enc.Encode(o); err != nil {
			return fmt.Errorf("observation %d: %w", o.Number, err)
		}
	}
	if err := a.to.Flush(); err != nil {
		return err
	}
	if len(news) > 0 {
		a.written = news[len(news)-1].Number
	}
	return nil
}

// Close removes the file; what lasts is copied from it at dawn.
func (a *Archive) Close() {
	_ = a.file.Close()
	_ = os.Remove(a.file.Name())
}
