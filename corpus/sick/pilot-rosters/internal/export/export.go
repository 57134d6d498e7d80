// Package export writes rosters.
package export

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"github.com/redline-go/redline/corpus/sick/pilot-rosters/internal/roster"
)

// Sheets gives the space for a sheet.
type Sheets interface {
	Sheet(duties int) *bytes.Buffer
}

// Roomy has space for the longest sheet that there may be: a year of a whole base.
type Roomy struct{}

const longest = 400 << 10

// Sheet implements Sheets.
func (Roomy) Sheet(int) *bytes.Buffer { return bytes.NewBuffer(make([]byte, 0, longest)) }

// Exact has space for the duties.
type Exact struct{}

// Sheet implements Sheets.
func (Exact) Sheet(duties int) *bytes.Buffer { return bytes.NewBuffer(make([]byte, 0, 64*(duties+2))) }

// CSV writes duties.
func CSV(s Sheets, duties []roster.Duty) ([]byte, error) {
	b := s.Sheet(len(duties))
	w := csv.NewWriter(b)
	if err := w.Write([]string{"day", "code", "from", "to", "block"}); err != nil {
		return nil, err
	}
	var row [5]string
	total := 0
	for _, d := range duties {
		row = [5]string{strconv.Itoa(d.Day), d.Code, d.From, d.To, strconv.Itoa(d.Block)}
		if err := w.Write(row[:]); err != nil {
			return nil, err
		}
		total += d.Block
	}
	if err := w.Write([]string{"", "total", "", "", strconv.Itoa(total)}); err != nil {
		return nil, err
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
