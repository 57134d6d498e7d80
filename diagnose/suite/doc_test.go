package suite

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/diagnose/explain"
)

var update = flag.Bool("update", false, "write docs/causes.md and docs/causes/")

const docs = "../../docs"

// TestCausesPages compares docs/causes.md and docs/causes/ with the analyzers' own
// metadata.
func TestCausesPages(t *testing.T) {
	causes := explain.Of(All())
	want := map[string]string{"causes.md": causes.Index()}
	for _, page := range causes {
		want[filepath.Join("causes", page.ID+".md")] = page.Markdown()
	}
	there, err := filepath.Glob(filepath.Join(docs, "causes", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		name := filepath.Join("causes", filepath.Base(path))
		if want[name] != "" {
			continue
		}
		if !*update {
			t.Errorf("%s is the page of no cause: go test ./diagnose/suite -update", path)
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range want {
		path := filepath.Join(docs, name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if page, err := os.ReadFile(path); err != nil || string(page) != text {
			t.Errorf("%s is not what the analyzers say: go test ./diagnose/suite -update (%v)", path, err)
		}
	}
}

// unproduced are causes that no service of the corpus can have, and why.
var unproduced = map[string]string{
	"softnet-drop": "the loopback device hands packets over without a queue that could overflow",
}

// TestCausesAreExplained: every cause has all parts that `redline explain` prints.
func TestCausesAreExplained(t *testing.T) {
	for _, page := range explain.Of(All()) {
		for what, missing := range map[string]bool{
			"how redline knows": page.Knows == "", "code before": page.Example.Before == "", "code after": page.Example.After == "",
			"the code's language": page.Example.Lang == "", "how to verify": page.Verify == "",
			"the corpus cases behind its thresholds": len(page.Cases) == 0 && unproduced[page.ID] == "",
		} {
			if missing {
				t.Errorf("%s does not say %s", page.ID, what)
			}
		}
	}
}
