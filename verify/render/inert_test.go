package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
)

// TestNamesStayInTheirLines: whatever a function, a side or a service's last output
// contains, it begins no line of the output, ends none, and drives no terminal.
func TestNamesStayInTheirLines(t *testing.T) {
	const name = "f\x1b[2J\r\n::error::owned\n##vso[x]\u202e"
	r := verify.Result{Verdict: verify.Regression, Why: "side b failed\n" + name, Sides: [2]string{name, name},
		Warnings: []string{name}, Pairs: 3,
		Metrics: []verify.MetricResult{{Name: name, Verdict: verify.Inconclusive, Why: name, A: 1, B: 2},
			{Name: name, Verdict: verify.Regression, Why: name, A: 1, B: 2}}}
	for format, write := range map[string]func(io.Writer, verify.Result) error{"text": Text,
		"Markdown": Markdown, "annotations": Annotations} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\r\u202e") {
			t.Errorf("%s: %q", format, b.String())
		}
		// The lines of a service's last output are kept; the output layer makes them inert.
		most := map[string]int{"text": 1, "Markdown": 1}[format]
		if format == "annotations" {
			for line := range strings.Lines(b.String()) {
				if strings.Contains(line, "::owned") && !strings.Contains(line, "%0A") {
					t.Errorf("an annotation of its own: %q", line)
				}
			}
		} else if n := strings.Count(b.String(), "\n::error"); n > most {
			t.Errorf("%s: %d lines are commands: %q", format, n, b.String())
		}
	}
	var junit, sarif bytes.Buffer
	if err := JUnit(&junit, r); err != nil || xml.Unmarshal(junit.Bytes(), new(struct{})) != nil {
		t.Errorf("JUnit: %v", err)
	}
	if err := SARIF(&sarif, r, name); err != nil || !json.Valid(sarif.Bytes()) || strings.ContainsAny(sarif.String(), "\x1b\r\u202e") {
		t.Errorf("SARIF: %v, %q", err, sarif.String())
	}
}
