package scenario

import (
	"reflect"
	"strings"
	"testing"
)

func TestJSONLines(t *testing.T) {
	text := "\ufeff{\"id\": 1.50, \"name\": \"a\\nb\", \"deep\": {\"x\": [1, 2]}, \"ok\": true}\r\n\n" +
		`{"ok": null, "other": 1, "deep": [ ], "name": "", "id": 12345678901234567890}` + "\n"
	got, err := readJSONLines(strings.NewReader(text), []field{{"ok", "no"}, {"extra", "e"}})
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
		"{\"a\": \"" + strings.Repeat("x", maxJSONLine) + "\"}": "line 1 is over",
	} {
		if _, err := readJSONLines(strings.NewReader(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestFeederFiles(t *testing.T) {
	for text, want := range map[string]string{
		"{file: users.jsonl}":                          "",
		"{file: users.csv}":                            "",
		"{file: users.csv, format: csv}":               "",
		"{file: users.jsonl, default: {x: 1}}":         "",
		"{file: users.csv, format: jsonl}":             "users.csv: line 1: it is not a JSON object",
		"{file: users.csv, default: {x: 1}}":           "default is for JSON lines",
		"{rows: [1], format: csv}":                     "format and default are for a feeder's file",
		"{file: users.csv, format: xml}":               "is not known here",
		"{file: users.csv, rows: [1]}":                 "more than one source",
		"{file: users.jsn}":                            `did you mean "users.csv"?`,
		"{}":                                           "feeder user has no data",
		"{file: users.jsonl, default: {name: {a: b}}}": "name is a mapping, not text",
	} {
		_, err := plan(t, "data: {user: "+text+"}")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
