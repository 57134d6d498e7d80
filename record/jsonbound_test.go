package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/database"
)

// TestCountsAreBounded: a file within its bound of bytes may still hold more values than
// memory has room for.
func TestCountsAreBounded(t *testing.T) {
	dir := finished(t)
	r, err := Open(dir)
	must(t, err)
	for file, c := range map[string]struct {
		data []byte
		read func() error
	}{
		database.File: {append(append([]byte(`{"statements":[`), bytes.Repeat([]byte(`{},`), 600_000)...), "{}]}"...),
			func() error { return r.ReadJSON(database.File, &database.Statements{}) }},
		slowFile:  {bytes.Repeat([]byte("{}\n"), 300_000), func() error { _, err := r.SlowRequests(); return err }},
		spansFile: {bytes.Repeat([]byte("{}\n"), 300_000), func() error { _, err := r.Spans(); return err }},
	} {
		must(t, os.WriteFile(filepath.Join(dir, file), c.data, 0o644))
		if err := c.read(); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
