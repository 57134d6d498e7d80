package compare

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
)

// TestPlacesStayInTheirLines: whatever a function or a run's folder is called, it begins
// no line of the output, ends none, and drives no terminal.
func TestPlacesStayInTheirLines(t *testing.T) {
	const name = "f\x1b[2J\r\n::error::owned\n##vso[x]\u202e"
	place := []verify.Change{{Place: name, A: 2e6, B: 1e6}}
	s := Comparison{Runs: [2]string{name, name}, Parts: place, Tail: place, Functions: place,
		Warnings: []string{name}, Metrics: []Metric{{Why: name}}}
	s.Metrics[0].Name = name
	for format, write := range map[string]func(io.Writer) error{
		"text of runs":     func(w io.Writer) error { return Text(w, s) },
		"Markdown of runs": func(w io.Writer) error { return Markdown(w, s) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\n::error") || strings.ContainsAny(b.String(), "\x1b\r\u202e") {
			t.Errorf("%s: %q", format, b.String())
		}
	}
}
