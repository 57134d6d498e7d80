package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/webtest"
)

// TestPagesCanBeReadByAll: pages work without a mouse and with impaired sight; the live page has its own test.
func TestPagesCanBeReadByAll(t *testing.T) {
	t.Parallel()
	dir := nodeModules(t)
	two := observed(t, "")
	var compared, shelf bytes.Buffer
	must(t, web.Compare(&compared, two[0], two[1]))
	must(t, web.Shelf(&shelf, "runs", []map[string]any{
		{"id": "a", "state": "complete", "name": "checkout", "requests": 5, "rate": 5.2, "p50_ns": 1e6, "p99_ns": 2e6, "errors": 0.2,
			"finding": "Encoding JSON takes the CPU", "failed": true, "invalid": true, "begun_ms": 1.7e12, "revision": "0123456789ab"},
		{"id": "b", "state": "damaged", "why": "unexpected EOF"}, {"id": "c", "state": "aborted", "why": "killed"},
	}))
	for name, html := range map[string]string{
		"report": page(t, reporttest.Bundle(t, reporttest.Options{})), "decision": decisionPage(t, ""),
		"lab": labPage(t, ""), "compare": compared.String(), "shelf": shelf.String(),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".html")
			must(t, os.WriteFile(file, []byte(html), 0o644))
			webtest.Readable(t, dir, file, "main")
		})
	}
}
