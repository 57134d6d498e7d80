package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/scenario/document"
)

const root = "../../../corpus"

// TestCases checks every folder of the corpus against the contract. Names of cases are
// unique, because bundles and fixtures are named after them.
func TestCases(t *testing.T) {
	cases, err := corpus.All(root)
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"DATABASE_URL", "BACKEND_URL", "BACKEND_CA"} {
		t.Setenv(name, "postgres://127.0.0.1/none")
	}
	kinds := map[string]corpus.Kind{}
	ports := map[string]string{}
	for _, c := range cases {
		if other, taken := kinds[c.Name]; taken {
			t.Errorf("%s/%s is called like a case of %s/", c.Kind, c.Name, other)
		}
		kinds[c.Name] = c.Kind
		if _, err := os.Stat(filepath.Join(c.Dir, corpus.ServiceFile)); err != nil {
			t.Error(err)
		}
		plan, err := document.Read(filepath.Join(c.Dir, corpus.ScenarioFile))
		if err != nil {
			t.Error(err)
			continue
		}
		// The corpus is run from its own folder.
		if want := "./" + string(c.Kind) + "/" + c.Name; plan.Target.Build != want {
			t.Errorf("%s: the scenario builds %q, not %q", c.Dir, plan.Target.Build, want)
		}
		for _, need := range []struct{ need, name string }{{corpus.NeedPostgres, "DATABASE_URL"}, {corpus.NeedBackend, "BACKEND_URL"}} {
			if _, passed := plan.Target.Env[need.name]; passed != c.Wants(need.need) {
				t.Errorf("%s: target.env has %s: %v, and the case needs %s: %v", c.Dir, need.name, passed, need.need, c.Wants(need.need))
			}
		}
		if total := plan.Load.Warmup + plan.Load.Duration; total.Seconds() > 12 {
			t.Errorf("%s: %v of load are too long", c.Dir, total)
		}
		_, rest, _ := strings.Cut(string(plan.Requests[0].URL), "://")
		port, _, _ := strings.Cut(rest, "/")
		if other, taken := ports[port]; taken {
			t.Errorf("%s and %s both listen on %s", other, c.Name, port)
		}
		ports[port] = c.Name
	}
}
