// Package guide reads reports of audio guides: a line for each beacon seen.
package guide

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrLine says that a line is no hit.
var ErrLine = errors.New("not a hit")

// Hit is a beacon that a guide was near to.
type Hit struct {
	Beacon  int
	Seconds int
	Volume  float64
}

// Config has the sizes of a reader.
type Config struct {
	ReadBuffer int
	MaxLine    int
	MaxHits    int
}

// Defaults suit the reports of a whole day.
func Defaults() Config { return Config{ReadBuffer: 1 << 20, MaxLine: 1 << 20, MaxHits: 5000} }

// Reader reads reports.
type Reader struct{ conf Config }

// NewReader makes a reader.
func NewReader(c Config) *Reader { return &Reader{c} }

// Read returns the hits of a report.
func (r *Reader) Read(body io.Reader) ([]Hit, error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, r.conf.ReadBuffer), r.conf.MaxLine)
	var hits []Hit
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		h, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(hits)+1, err)
		}
		if hits = append(hits, h); len(hits) == r.conf.MaxHits {
			break
		}
	}
	return hits, lines.Err()
}

func parse(text string) (Hit, error) {
	f := strings.Fields(text)
	if len(f) != 3 {
		return Hit{}, ErrLine
	}
	beacon, err1 := strconv.Atoi(f[0])
	seconds, err2 := strconv.Atoi(f[1])
	volume, err3 := strconv.ParseFloat(f[2], 64)
	return Hit{beacon, seconds, volume}, errors.Join(err1, err2, err3)
}
