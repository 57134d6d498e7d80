package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCountsAreBounded: a file within its bound of bytes may still hold more values
// than memory does.
func TestCountsAreBounded(t *testing.T) {
	dir := finished(t)
	r, err := Open(dir)
	must(t, err)
	for file, c := range map[string]struct {
		data []byte
		read func() error
	}{
		StatementsFile: {append(append([]byte(`{"statements":[`), bytes.Repeat([]byte(`{},`), 600_000)...), "{}]}"...), func() error { return r.ReadJSON(StatementsFile, &Statements{}) }},
		slowFile:       {bytes.Repeat([]byte("{}\n"), 300_000), func() error { _, err := r.SlowRequests(); return err }},
		spansFile:      {bytes.Repeat([]byte("{}\n"), 300_000), func() error { _, err := r.Spans(); return err }},
	} {
		must(t, os.WriteFile(filepath.Join(dir, file), c.data, 0o644))
		if err := c.read(); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestJSONValues(t *testing.T) {
	for text, want := range map[string]int{`{}`: 2, `[1,2,3]`: 4, `{"a":"[,:{\"","b":[{}]}`: 7, ``: 1, `"\\`: 1} {
		if got := jsonValues([]byte(text)); got != want {
			t.Errorf("%s: %d values, want %d", text, got, want)
		}
	}
}
