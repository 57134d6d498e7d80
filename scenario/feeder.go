package scenario

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Bounds of a feeder's file.
const (
	MaxData    = 64 << 20 // bytes of one CSV file
	MaxRows    = 1 << 20  // rows of one feeder
	maxColumns = 256
)

var feederName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// data decodes the feeders.
func (d *decoder) data(n ast.Node) {
	d.plan.Data = map[string]*Table{}
	for _, entry := range d.entries(n, "data") {
		name, ok := d.keyText(entry)
		if !ok {
			continue
		}
		if !feederName.MatchString(name) {
			d.fail(entry.Key, "use letters, digits, _ and -", "%q cannot be the name of a feeder", name)
			continue
		}
		before := len(d.errs)
		t := d.feeder(entry, name)
		if len(d.errs) > before || t == nil {
			// Places that name it are no further mistakes.
			t = nil
		}
		d.plan.Data[name] = t
	}
}

// feeder decodes one feeder: a mapping with one of the forms, or a list, which
// is short for rows.
func (d *decoder) feeder(entry *ast.MappingValueNode, name string) *Table {
	if _, list := entry.Value.(*ast.SequenceNode); list {
		return d.rows(entry.Value)
	}
	const hint = "write {file: x.csv}, {rows: [...]}, {sequence: {from: 1, to: 100}} or {random: {min: 1, max: 100}}"
	var t *Table
	seen := d.mapping(entry.Value, "feeder "+name, []key{
		{name: "file", decode: func(d *decoder, n ast.Node) { t = d.csvFile(n) }},
		{name: "rows", decode: func(d *decoder, n ast.Node) { t = d.rows(n) }},
		{name: "sequence", decode: func(d *decoder, n ast.Node) {
			t = &Table{Columns: []string{"value"}, Sequence: d.numbers(n, "sequence", "from", "to")}
		}},
		{name: "random", decode: func(d *decoder, n ast.Node) {
			t = &Table{Columns: []string{"value"}, Random: d.numbers(n, "random", "min", "max")}
		}},
		{name: "jwt", later: true},
	})
	if len(seen) > 1 {
		d.fail(entry.Key, "keep one of them", "feeder %s has more than one source of data", name)
	}
	if len(seen) == 0 && len(d.errs) == 0 {
		d.fail(entry.Key, hint, "feeder %s has no data", name)
	}
	return t
}

// numbers decodes a range with both ends.
func (d *decoder) numbers(n ast.Node, where, low, high string) *Range {
	var r Range
	number := func(s string) (int64, error) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, mistakef("", "%.40q is not a whole number", s)
		}
		return v, nil
	}
	seen := d.mapping(n, where, []key{
		{name: low, decode: func(d *decoder, n ast.Node) { scalar(d, n, low, &r.From, number) }},
		{name: high, decode: func(d *decoder, n ast.Node) { scalar(d, n, high, &r.To, number) }},
	})
	for _, name := range []string{low, high} {
		if seen[name] == nil {
			d.fail(n, fmt.Sprintf("write {%s: 1, %s: 100}", low, high), "%s has no %s", where, name)
			return nil
		}
	}
	if r.From > r.To {
		d.fail(n, "", "%s: %s (%d) is above %s (%d)", where, low, r.From, high, r.To)
	}
	return &r
}

// rows decodes a list of values, or of mappings with the same keys.
func (d *decoder) rows(n ast.Node) *Table {
	t := &Table{}
	for _, e := range d.elements(n, "rows") {
		var columns, row []string
		switch e.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			for _, entry := range d.entries(e, "a row") {
				name, ok := d.keyText(entry)
				value, ok2 := d.text(entry.Value, name)
				if !ok || !ok2 {
					return nil
				}
				columns, row = append(columns, name), append(row, value)
			}
		default:
			value, ok := d.text(e, "a row")
			if !ok {
				return nil
			}
			columns, row = []string{"value"}, []string{value}
		}
		if t.Columns == nil {
			t.Columns = columns
		}
		ordered := make([]string, len(t.Columns))
		for i, name := range columns {
			at := slices.Index(t.Columns, name)
			if at < 0 || len(columns) != len(t.Columns) {
				d.fail(e, "", "this row has columns %s, the first has %s", strings.Join(columns, ", "), strings.Join(t.Columns, ", "))
				return nil
			}
			ordered[at] = row[i]
		}
		t.Rows = append(t.Rows, ordered)
	}
	if len(t.Rows) == 0 {
		d.fail(n, "", "rows is empty")
	}
	return t
}

// csvFile reads a CSV file whose first line names the columns.
func (d *decoder) csvFile(n ast.Node) *Table {
	name, ok := d.text(n, "file")
	if !ok {
		return nil
	}
	clean := path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(clean) {
		d.fail(n, "", "file: %q does not lie in the scenario's folder or below", name)
		return nil
	}
	f, err := d.fsys.Open(clean)
	if errors.Is(err, fs.ErrNotExist) {
		d.fail(n, d.nearFile(clean), "file: there is no file %q in the scenario's folder", name)
		return nil
	}
	if err != nil {
		d.fail(n, "", "file: %v", err)
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		d.fail(n, "", "file: %q is not a regular file", name)
		return nil
	}
	t, err := readCSV(f)
	if err != nil {
		d.fail(n, "", "file: %s: %v", name, err)
		return nil
	}
	return t
}

// nearFile proposes a file of the same folder.
func (d *decoder) nearFile(name string) string {
	entries, err := fs.ReadDir(d.fsys, path.Dir(name))
	if err != nil || len(entries) > 1000 {
		return ""
	}
	var known []string
	for _, e := range entries {
		known = append(known, path.Join(path.Dir(name), e.Name()))
	}
	if hint := didYouMean(name, known); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	return ""
}

// readCSV reads comma separated values: RFC 4180, a line of names first.
func readCSV(r io.Reader) (*Table, error) {
	limited := &io.LimitedReader{R: r, N: MaxData + 1}
	c := csv.NewReader(limited)
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
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // as spreadsheets begin a file
		}
		if name == "" || slices.Contains(t.Columns, name) || i >= maxColumns {
			return nil, fmt.Errorf("line 1: column %d has no name, or that of another, or is over %d", i+1, maxColumns)
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

// checkTable refuses a feeder that a Cursor could not walk.
func checkTable(name string, t *Table) error {
	switch {
	case t == nil || len(t.Columns) == 0:
		return fmt.Errorf("feeder %s has no columns", name)
	case t.Sequence != nil && t.Random != nil || (t.Sequence != nil || t.Random != nil) && len(t.Rows) > 0:
		return fmt.Errorf("feeder %s has more than one source of data", name)
	case t.Sequence != nil && t.Sequence.From > t.Sequence.To || t.Random != nil && t.Random.From > t.Random.To:
		return fmt.Errorf("feeder %s: its range is empty", name)
	case t.Sequence == nil && t.Random == nil && len(t.Rows) == 0:
		return fmt.Errorf("feeder %s has no rows", name)
	case len(t.Rows) > math.MaxInt32:
		return fmt.Errorf("feeder %s has too many rows", name)
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("feeder %s: row %d has %d values for %d columns", name, i+1, len(row), len(t.Columns))
		}
	}
	return nil
}
