package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/web/webtest"
)

// TestPageWritesTheSameFigures holds the page's TypeScript to the table that package
// notation is held to.
func TestPageWritesTheSameFigures(t *testing.T) {
	dir := nodeModules(t)
	path, err := filepath.Abs("../notation/testdata/cases.json")
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	var cases []struct {
		Form, Want string
		Value      *float64
	}
	must(t, json.Unmarshal(text, &cases))
	out, err := webtest.Command(t, dir, "node", "test/format.mjs", path)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []*string
	must(t, json.Unmarshal([]byte(out), &got))
	if len(got) != len(cases) || len(cases) == 0 {
		t.Fatalf("%d figures of %d cases", len(got), len(cases))
	}
	for i, c := range cases {
		switch {
		case got[i] == nil:
			t.Errorf("the page has no %s", c.Form)
		case *got[i] != c.Want:
			t.Errorf("case %d, %s: the page writes %q, want %q", i, c.Form, *got[i], c.Want)
		}
	}
}
