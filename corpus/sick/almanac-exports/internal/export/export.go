// Package export writes tables to print.
package export

import (
	"bytes"
	"encoding/csv"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/redline-go/redline/corpus/sick/almanac-exports/internal/almanac"
)

// Source has the years of places.
type Source interface {
	Year(place int) ([]*almanac.Entry, error)
}

// Tables writes tables.
type Tables struct {
	source Source
	after  func()
}

// Option changes how tables are written.
type Option func(*Tables)

// KeepMemory leaves the memory of a table to the next.
func KeepMemory() Option { return func(t *Tables) { t.after = func() {} } }

// New makes tables. The container has little memory, so what a table took is
// given back at once.
func New(s Source, opts ...Option) *Tables {
	t := &Tables{source: s, after: debug.FreeOSMemory}
	for _, o := range opts {
		o(t)
	}
	return t
}

// Write writes the table of a place.
func (t *Tables) Write(w io.Writer, place int) error {
	year, err := t.source.Year(place)
	if err != nil {
		return err
	}
	defer t.after()
	var buf bytes.Buffer
	out := csv.NewWriter(&buf)
	_ = out.Write([]string{"date", "rise", "set", "moon", "planets"})
	for _, e := range year {
		_ = out.Write([]string{e.Date, clock(e.Rise), clock(e.Set), e.Moon, strings.Join(e.Planets, " ")})
	}
	out.Flush()
	_, err = buf.WriteTo(w)
	return err
}

func clock(h float64) string {
	m := int(h*60 + 0.5)
	return strconv.Itoa(m/60) + ":" + strconv.Itoa(m%60)
}
