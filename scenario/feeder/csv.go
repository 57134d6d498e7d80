package feeder

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario/file"
)

// MaxData is the size of the largest file of a feeder, in bytes.
const MaxData = 64 << 20

// ReadCSV reads comma separated values: RFC 4180, a line of names first.
func ReadCSV(r io.Reader) (*Table, error) {
	limited := &io.LimitedReader{R: r, N: MaxData + 1}
	c := csv.NewReader(file.Text(limited))
	c.ReuseRecord = false
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty; its first line names the columns")
	}
	if err != nil {
		return nil, err
	}
	t := &Table{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(t.Columns, name) || i >= MaxColumns {
			return nil, fmt.Errorf("line 1: column %d has no name, or that of another, or is over %d", i+1, MaxColumns)
		}
		t.Columns = append(t.Columns, name)
	}
	for {
		row, err := c.Read()
		if limited.N <= 0 {
			return nil, fmt.Errorf("the file is over %d bytes", MaxData)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(t.Rows) >= MaxRows {
			return nil, fmt.Errorf("more than %d rows", MaxRows)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil, errors.New("there are no rows below the names of the columns")
	}
	return t, nil
}
