package disk

import (
	"encoding/json"
	"fmt"
)

// MaxJSONValues is the number of values in one of the bundle's JSON files, and
// MaxJSONLines that of lines in slow.jsonl and spans.jsonl. Two bytes of JSON, {},
// become a struct of several hundred: 64 MB of them would take 10 GB. The largest
// file of a run, anatomy.json, has some 20,000 values.
const (
	MaxJSONValues = 1 << 19
	MaxJSONLines  = 1 << 18
)

// Unmarshal reads a document of bounded size.
func Unmarshal(data []byte, v any) error {
	if n := jsonValues(data); n > MaxJSONValues {
		return fmt.Errorf("more than %d values", MaxJSONValues)
	}
	return json.Unmarshal(data, v)
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
