// Package dem reads tiles of a digital elevation model: rows of big-endian 16-bit metres.
package dem

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"os"
)

// Side is how many samples a row has.
const Side = 1201

// Tile is a file of heights.
type Tile struct{ f *os.File }

// Open opens a tile.
func Open(path string) (*Tile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Tile{f}, nil
}

// Close closes the file.
func (t *Tile) Close() error { return t.f.Close() }

// Height returns the metres at a sample.
func (t *Tile) Height(row, col int) (int16, error) {
	var b [2]byte
	if _, err := t.f.ReadAt(b[:], int64(row*Side+col)*2); err != nil {
		return 0, err
	}
	return int16(binary.BigEndian.Uint16(b[:])), nil
}

// Resident is a tile in memory.
type Resident struct{ b []byte }

// Resident reads the tile.
func (t *Tile) Resident() (*Resident, error) {
	b, err := io.ReadAll(io.NewSectionReader(t.f, 0, Side*Side*2))
	return &Resident{b}, err
}

// Height returns the metres at a sample.
func (r *Resident) Height(row, col int) (int16, error) {
	i := (row*Side + col) * 2
	if i < 0 || i+2 > len(r.b) {
		return 0, io.EOF
	}
	return int16(binary.BigEndian.Uint16(r.b[i:])), nil
}

// Generate writes a tile with hills.
func Generate(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for r := range Side {
		for c := range Side {
			h := 900 + 500*math.Sin(float64(r)/90) + 300*math.Cos(float64(c)/55)
			if err := binary.Write(w, binary.BigEndian, int16(h)); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
