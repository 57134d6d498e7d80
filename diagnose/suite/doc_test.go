package suite

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/causes.md")

// TestCausesPage holds docs/causes.md to the analyzers' own metadata.
func TestCausesPage(t *testing.T) {
	const path = "../../docs/causes.md"
	var b strings.Builder
	b.WriteString("# Causes\n\nWhat redline can name, and how it decides. Made from the analyzers' own metadata: `go test ./diagnose/suite -update`.\n")
	for _, a := range All() {
		for _, c := range a.Causes {
			fmt.Fprintf(&b, "\n## %s\n\n**%s.** %s\n\nRemedy: %s\n", c.ID, strings.TrimSuffix(c.Title, "."), c.Doc, c.Remedy)
		}
		fmt.Fprintf(&b, "\nHow it decides (`%s`): %s\n", a.Name, a.Doc)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Errorf("%s is not what the analyzers say: go test ./diagnose/suite -update", path)
	}
}
