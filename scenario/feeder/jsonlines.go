package feeder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/redline-go/redline/scenario/jsonlines"
)

// Field is a named value of a row.
type Field struct{ Name, Value string }

// ReadJSONLines reads one JSON object per line. The columns are the first
// object's keys in their order, then those of defaults. A key that is missing
// or null takes its default, and without one it is an error; other keys of
// later lines are ignored. Texts are without quotes, other values in their JSON
// form.
func ReadJSONLines(r io.Reader, defaults []Field) (*Table, error) {
	t := &Table{}
	fallback := map[string]string{}
	err := jsonlines.Each(r, MaxData, func(number int, line []byte) error {
		if len(t.Rows) >= MaxRows {
			return fmt.Errorf("more than %d rows", MaxRows)
		}
		var object map[string]json.RawMessage
		if err := jsonlines.Decode(line, &object); err != nil {
			return err
		}
		if t.Columns == nil {
			columns, err := jsonlines.Keys(line, MaxColumns)
			if err != nil {
				return err
			}
			t.Columns = columns
			for _, f := range defaults {
				if fallback[f.Name] = f.Value; !slices.Contains(t.Columns, f.Name) {
					t.Columns = append(t.Columns, f.Name)
				}
			}
			if len(t.Columns) == 0 || len(t.Columns) > MaxColumns {
				return fmt.Errorf("the first object has no keys, or over %d", MaxColumns)
			}
		}
		row := make([]string, len(t.Columns))
		for i, name := range t.Columns {
			value, there := jsonlines.Text(object[name])
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
		return nil, errors.New("the file contains no JSON objects")
	}
	return t, nil
}
