package scenario

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// maxJSONLine bounds one line of JSON, in bytes.
const maxJSONLine = 1 << 20

// field is a named value of a row.
type field struct{ name, value string }

// defaults decodes the values of keys that a line may lack.
func (d *decoder) defaults(n ast.Node) []field {
	all := []field{}
	for _, entry := range d.entries(n, "default") {
		name, ok := d.keyText(entry)
		value, ok2 := d.text(entry.Value, name)
		if ok && ok2 {
			all = append(all, field{name, value})
		}
	}
	return all
}

// readJSONLines reads one JSON object a line. The columns are the first
// object's keys in their order, then those of defaults. A key that is missing
// or null takes its default, and without one it is an error; other keys of
// later lines are of no use and passed over. Texts come without quotes, other
// values in their JSON form.
func readJSONLines(r io.Reader, defaults []field) (*Table, error) {
	t := &Table{}
	fallback := map[string]string{}
	err := eachLine(r, MaxData, func(number int, line []byte) error {
		if len(t.Rows) >= MaxRows {
			return fmt.Errorf("more than %d rows", MaxRows)
		}
		var object map[string]json.RawMessage
		if err := unmarshalLine(line, &object); err != nil {
			return err
		}
		if t.Columns == nil {
			columns, err := keysInOrder(line)
			if err != nil {
				return err
			}
			t.Columns = columns
			for _, f := range defaults {
				if fallback[f.name] = f.value; !slices.Contains(t.Columns, f.name) {
					t.Columns = append(t.Columns, f.name)
				}
			}
			if len(t.Columns) == 0 || len(t.Columns) > maxColumns {
				return fmt.Errorf("the first object has no keys, or over %d", maxColumns)
			}
		}
		row := make([]string, len(t.Columns))
		for i, name := range t.Columns {
			value, there := valueText(object[name])
			if !there {
				if value, there = fallback[name]; !there {
					return fmt.Errorf("%q is missing, and the first line has it (default: {%s: ...} fills it)", name, name)
				}
			}
			row[i] = value
		}
		t.Rows = append(t.Rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.Rows) == 0 {
		return nil, errors.New("the file holds no JSON objects")
	}
	return t, nil
}

// valueText is a JSON value as a row holds it; false when there is none.
func valueText(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s, true
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "", false
	}
	return b.String(), true
}

// unmarshalLine decodes a line that must be an object.
func unmarshalLine(line []byte, object any) error {
	if !utf8.Valid(line) {
		return errors.New("it is not UTF-8 text")
	}
	if len(line) == 0 || line[0] != '{' {
		return errors.New("it is not a JSON object")
	}
	if err := json.Unmarshal(line, object); err != nil {
		return errors.New("it is not a JSON object, or a key has a value of the wrong type")
	}
	return nil
}

// keysInOrder returns the keys of an object that is known to be valid.
func keysInOrder(object []byte) ([]string, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var names []string
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if slices.Contains(names, name) {
			return nil, fmt.Errorf("the key %.40q appears twice", name)
		}
		if names = append(names, name); len(names) > maxColumns {
			return names, nil
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// eachLine calls line for each line that is not blank, without its end and
// with its number from 1. It reads limit bytes at most; an error names the line.
func eachLine(r io.Reader, limit int64, line func(number int, text []byte) error) error {
	limited := &io.LimitedReader{R: r, N: limit + 1}
	s := bufio.NewScanner(limited)
	s.Buffer(make([]byte, 64<<10), maxJSONLine)
	number := 0
	for s.Scan() {
		number++
		if limited.N <= 0 {
			return fmt.Errorf("the file is over %d bytes", limit)
		}
		text := s.Bytes()
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if err := line(number, text); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d is over %d bytes", number+1, maxJSONLine)
	}
	return s.Err()
}
