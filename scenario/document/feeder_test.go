package document

import (
	"strings"
	"testing"
)

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
