package feeder

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario/jsonlines"
)

func TestJSONLines(t *testing.T) {
	text := "\ufeff{\"id\": 1.50, \"name\": \"a\\nb\", \"deep\": {\"x\": [1, 2]}, \"ok\": true}\r\n\n" +
		`{"ok": null, "other": 1, "deep": [ ], "name": "", "id": 12345678901234567890}` + "\n"
	got, err := ReadJSONLines(strings.NewReader(text), []Field{{"ok", "no"}, {"extra", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	want := &Table{Columns: []string{"id", "name", "deep", "ok", "extra"}, Rows: [][]string{
		{"1.50", "a\nb", `{"x":[1,2]}`, "true", "e"}, {"12345678901234567890", "", "[]", "no", "e"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestJSONLinesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "no JSON objects",
		"{\"a\": 1}\n{\"b\": 1}\n":  `line 2: "a" is missing`,
		"{\"a\": 1}\n\n{\"a\": 1\n": "line 3: it is not a JSON object",
		"[1]\n":                     "line 1: it is not a JSON object",
		"{}\n":                      "has no keys",
		"{\"a\": 1, \"a\": 2}\n":    "appears twice",
		"{\"a\": \"\xff\"}\n":       "not UTF-8",
		"{\"a\": \"" + strings.Repeat("x", jsonlines.MaxLine) + "\"}": "line 1 is over",
	} {
		if _, err := ReadJSONLines(strings.NewReader(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// FuzzJSONLines asserts that each row has a value for each column.
func FuzzJSONLines(f *testing.F) {
	f.Add([]byte("{\"id\": 1, \"name\": \"a\"}\n{\"name\": {\"x\": [1]}, \"id\": null}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadJSONLines(bytes.NewReader(data), []Field{{"id", "0"}})
		if err != nil {
			return
		}
		if err := Check("x", table); err != nil {
			t.Fatal(err)
		}
	})
}
