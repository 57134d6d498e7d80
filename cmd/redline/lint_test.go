package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/record/code"
)

// TestLint asks the compiler about a run's hot line, in the service's folder.
func TestLint(t *testing.T) {
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).Alloc(9000, 9<<20, "main.load@main.go:6").Open(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":  "module shop\n\ngo 1.24\n",
		"main.go": "package main\n\ntype order struct{ lines [40]int }\n\nfunc load() *order {\n\to := order{}\n\treturn &o\n}\n\nvar keep = load()\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lint := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		code = execute(context.Background(), append([]string{"lint"}, args...), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	if code, out, errs := lint("--profile", rec.Dir); code != cli.ExitOK ||
		!strings.HasPrefix(out, "main.go:6  100 % of bytes allocated") || !strings.Contains(out, "o escapes to heap") {
		t.Errorf("exit %d with\n%s%s", code, out, errs)
	}
	var said code.Compiler
	if code, out, _ := lint("--profile", rec.Dir, "--json", "."); code != cli.ExitOK ||
		json.Unmarshal([]byte(out), &said) != nil || len(said.Lines) != 1 {
		t.Errorf("exit %d with JSON %s", code, out)
	}
	if code, out, errs := lint("--profile", rec.Dir, "--build-flags", "-tags=sqlite -v"); code != cli.ExitOK ||
		!strings.HasPrefix(out, "main.go:6") {
		t.Errorf("exit %d with flags of the build: %s%s", code, out, errs)
	}
	for hint, args := range map[string][]string{
		"no run":        {},
		"--build-flags": {"--profile", rec.Dir, "--build-flags", "-tags='sqlite"},
		"no-such":       {"--profile", "no-such"},
		"./nowhere/":    {"--profile", rec.Dir, "./nowhere/"},
	} {
		if code, out, errs := lint(args...); code != cli.ExitUsage || out != "" || !strings.Contains(errs, hint) {
			t.Errorf("%q: exit %d, %q, %q", args, code, out, errs)
		}
	}
}
