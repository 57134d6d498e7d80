package suite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/suite"
)

const (
	corpusDir   = "../../corpus"
	fixturesDir = corpusDir + "/fixtures"
)

// TestRecordedCorpus replays the recording of each service of the corpus and
// compares the findings with its expect.yaml. A case that is known to be missed must
// be missed: remove one that passes from the list.
func TestRecordedCorpus(t *testing.T) {
	misses, err := corpus.ReadMisses(fixturesDir)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := corpus.All(corpusDir)
	if err != nil {
		t.Error(err)
	}
	known := map[string]bool{}
	for _, c := range cases {
		known[c.Name] = true
		file := filepath.Join(fixturesDir, c.Name+corpus.PackExt)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			rec, body := diagnosetest.Packed(file).Open(t)
			found, err := diagnose.Run(rec, body, suite.All())
			if err != nil {
				t.Fatal(err)
			}
			if probeNamed(t, found) {
				t.Error("a finding, its evidence or the ledger names redline's probe")
			}
			r := corpus.Score(c, found)
			switch why := misses[c.Name]; {
			case why != "" && r.OK():
				t.Errorf("it is right now: take it off %s (%s)", corpus.MissesFile, why)
			case why == "" && !r.OK():
				t.Errorf("%s\nit said:\n  %s", strings.Join(r.Why, "\n"), strings.Join(r.Reported, "\n  "))
			}
		})
	}
	for name := range misses {
		if !known[name] {
			t.Errorf("%s lists %s, which is no case", corpus.MissesFile, name)
		}
	}
	files, err := filepath.Glob(filepath.Join(fixturesDir, "*"+corpus.PackExt))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), corpus.PackExt); !known[name] {
			t.Errorf("%s is the fixture of no case", file)
		}
	}
}

// TestCorpusNamesCauses: a case can only want causes that the suite can name, and every
// case on which an analyzer bases a threshold exists.
// wanted are causes that held-back services have and no analyzer names yet: each is
// a miss that the bench counts.
var wanted []string

func TestCorpusNamesCauses(t *testing.T) {
	for _, cause := range wanted {
		if _, ok := diagnose.Lookup(suite.All(), cause); ok {
			t.Errorf("%s is named by an analyzer now: it is wanted no more", cause)
		}
	}
	cases, err := corpus.All(corpusDir)
	if err != nil {
		t.Error(err)
	}
	names := map[string]bool{}
	for _, c := range cases {
		names[c.Name] = true
		for _, e := range c.Findings {
			if _, ok := diagnose.Lookup(suite.All(), e.Cause); !ok && !(c.Held && slices.Contains(wanted, e.Cause)) {
				t.Errorf("%s/%s wants %s, which no analyzer names", c.Kind, c.Name, e.Cause)
			}
		}
	}
	for _, a := range suite.All() {
		for _, cause := range a.Causes {
			for _, name := range cause.Cases {
				if !names[filepath.Base(name)] {
					t.Errorf("%s rests on the case %s, which the corpus does not have", cause.ID, name)
				}
			}
		}
	}
}
