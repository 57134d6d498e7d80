package document

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
	"github.com/redline-go/redline/scenario/scalar"
)

var feederName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// data decodes the feeders.
func (d *decoder) data(n ast.Node) {
	d.plan.Data = map[string]*feeder.Table{}
	// Tokens hold rows of other feeders, so they are decoded last wherever they stand.
	entries := slices.Clone(d.entries(n, "data"))
	slices.SortStableFunc(entries, func(a, b *ast.MappingValueNode) int { return cmp.Compare(tokenOrder(a), tokenOrder(b)) })
	for _, entry := range entries {
		name, ok := d.keyText(entry)
		if !ok {
			continue
		}
		if !feederName.MatchString(name) {
			d.fail(entry.Key, "use letters, digits, _ and -", "%q cannot be the name of a feeder", name)
			continue
		}
		d.nodes["data."+name] = entry.Key
		before := len(d.errs)
		t := d.feeder(entry, name)
		if len(d.errs) > before || t == nil {
			// Placeholders that name it are not further mistakes.
			t = nil
		}
		d.plan.Data[name] = t
	}
}

// feeder decodes one feeder: a mapping with one of the forms, or a list, which
// is short for rows.
func (d *decoder) feeder(entry *ast.MappingValueNode, name string) *feeder.Table {
	if _, list := entry.Value.(*ast.SequenceNode); list {
		return d.rows(entry.Value)
	}
	const hint = "write {file: x.csv}, {rows: [...]}, {sequence: {from: 1, to: 100}}, {random: {min: 1, max: 100}} or {jwt: {...}}"
	var t *feeder.Table
	var file dataFile
	source := func(name string, decode func(*decoder, ast.Node) *feeder.Table) key {
		return key{name: name, decode: func(d *decoder, n ast.Node) { t = decode(d, n) }}
	}
	before := len(d.errs)
	seen := d.mapping(entry.Value, "feeder "+name, []key{
		{name: "file", decode: func(_ *decoder, n ast.Node) { file.at = n }},
		{name: "format", decode: func(d *decoder, n ast.Node) { parsed(d, n, "format", &file.format, scalar.OneOf("csv", "jsonl")) }},
		{name: "default", decode: func(d *decoder, n ast.Node) { file.defaults = d.defaults(n) }},
		source("rows", (*decoder).rows),
		source("sequence", func(d *decoder, n ast.Node) *feeder.Table {
			return &feeder.Table{Columns: []string{"value"}, Sequence: d.numbers(n, "sequence", "from", "to")}
		}),
		source("random", func(d *decoder, n ast.Node) *feeder.Table {
			return &feeder.Table{Columns: []string{"value"}, Random: d.numbers(n, "random", "min", "max")}
		}),
		source("jwt", func(d *decoder, n ast.Node) *feeder.Table { return d.token(n, name) }),
	})
	sources := 0
	for _, one := range []string{"file", "rows", "sequence", "random", "jwt"} {
		if seen[one] != nil {
			sources++
		}
	}
	if at := cmp.Or(seen["format"], seen["default"]); at != nil && seen["file"] == nil {
		d.fail(at, "", "format and default are for a feeder's file, and feeder %s has none", name)
	}
	switch {
	case sources > 1:
		d.fail(entry.Key, "keep one of them", "feeder %s has more than one source of data", name)
	case sources == 0 && len(d.errs) == before:
		d.fail(entry.Key, hint, "feeder %s has no data", name)
	case seen["file"] != nil && len(d.errs) == before:
		t = d.dataFile(file)
	}
	return t
}

// dataFile is a feeder's description of its file.
type dataFile struct {
	at       ast.Node
	format   string // "" lets the file's name decide
	defaults []feeder.Field
}

// dataFile reads a CSV or JSON lines file.
func (d *decoder) dataFile(file dataFile) *feeder.Table {
	f, name := d.open(file.at, "file")
	if f == nil {
		return nil
	}
	defer f.Close()
	if file.format == "" && slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(path.Ext(name))) {
		file.format = "jsonl"
	}
	var t *feeder.Table
	var err error
	switch {
	case file.format == "jsonl":
		t, err = feeder.ReadJSONLines(f, file.defaults)
	case file.defaults != nil:
		err = errors.New("default is for JSON lines; every row of a CSV file has every column")
	default:
		t, err = feeder.ReadCSV(f)
	}
	if err != nil {
		d.fail(file.at, "", "file: %s: %v", name, err)
		return nil
	}
	return t
}

// numbers decodes a range with both ends.
func (d *decoder) numbers(n ast.Node, where, low, high string) *feeder.Range {
	var r feeder.Range
	number := func(s string) (int64, error) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, mistake.Newf("", "%.40q is not a whole number", s)
		}
		return v, nil
	}
	seen := d.mapping(n, where, []key{
		{name: low, decode: func(d *decoder, n ast.Node) { parsed(d, n, low, &r.From, number) }},
		{name: high, decode: func(d *decoder, n ast.Node) { parsed(d, n, high, &r.To, number) }},
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
func (d *decoder) rows(n ast.Node) *feeder.Table {
	t := &feeder.Table{}
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

// defaults decodes the values of keys that a line may lack.
func (d *decoder) defaults(n ast.Node) []feeder.Field {
	all := []feeder.Field{}
	for _, entry := range d.entries(n, "default") {
		name, ok := d.keyText(entry)
		value, ok2 := d.text(entry.Value, name)
		if ok && ok2 {
			all = append(all, feeder.Field{Name: name, Value: value})
		}
	}
	return all
}
