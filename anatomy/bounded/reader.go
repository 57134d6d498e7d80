// Package bounded reads an execution trace, which is untrusted, within bounds: on its
// bytes, and on what its batches and tables would make a parser allocate. It cuts a
// trace that exceeds them and says so; it parses no event.
package bounded

import (
	"fmt"
	"io"
)

// Beyond reports that a trace exceeded its bound.
type Beyond struct{ What string }

func (e Beyond) Error() string { return "left out what lies behind " + e.What }

// Reader reads R up to a bound, and records whether R exceeded it.
type Reader struct {
	R       io.Reader
	Left    int64 // bytes that may still be read
	Hit     bool  // R is longer than the bound
	read    int64
	batches batches
}

func (b *Reader) String() string {
	switch {
	case b.batches.full:
		return "what fits of its stacks and names"
	case b.batches.n == maxBatches && b.Left > 0:
		return fmt.Sprintf("its first %d batches", maxBatches)
	}
	return fmt.Sprintf("its first %d bytes", b.read)
}

func (b *Reader) Read(p []byte) (int, error) {
	if b.Hit {
		return 0, io.EOF
	}
	if b.Left <= 0 {
		var one [1]byte
		n, err := io.ReadFull(b.R, one[:])
		b.Hit = b.Hit || n > 0
		if n == 0 && err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := b.R.Read(p[:min(int64(len(p)), b.Left)])
	if within := b.batches.see(p[:n]); within < n {
		b.Hit = true
		n, err = within, nil
	}
	b.Left -= int64(n)
	b.read += int64(n)
	if b.batches.foreign && b.read > maxOldBytes {
		b.Hit = true
	}
	return n, err
}
