package disk

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxJSONValues is the number of values in one of the bundle's JSON files, and
// maxJSONLines that of lines in slow.jsonl and spans.jsonl. Two bytes of JSON, {},
// become a struct of several hundred: 64 MB of them would take 10 GB. The largest
// file of a run, anatomy.json, has some 20,000 values.
const (
	maxJSONValues = 1 << 19
	maxJSONLines  = 1 << 18
)

// Unmarshal reads a document of bounded size.
func Unmarshal(data []byte, v any) error {
	if n := jsonValues(data); n > maxJSONValues {
		return fmt.Errorf("more than %d values", maxJSONValues)
	}
	return json.Unmarshal(data, v)
}

// UnmarshalLines reads a log of bounded size with one document a line.
func UnmarshalLines[T any](data []byte) ([]T, error) {
	var all []T
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		if data = rest; number > maxJSONLines {
			return nil, fmt.Errorf("more than %d lines", maxJSONLines)
		}
		var one T
		if err := Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// jsonValues counts the values of a document, at most one too many: each except the
// first follows a bracket, a comma or a colon outside of texts.
func jsonValues(data []byte) int {
	n, text := 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && (c == '{' || c == '[' || c == ',' || c == ':'):
			n++
		}
	}
	return n
}
