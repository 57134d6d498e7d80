package scripts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnchecked: what cannot be reached is named, and fails in CI, where everything can be.
func TestUnchecked(t *testing.T) {
	for name, c := range map[string]struct {
		tools, curl, govulncheck string // scripts
		tidy                     string
		want                     string
	}{
		"all reached":        {},
		"no module registry": {tools: "echo no route >&2; exit 1", want: "lint: without staticcheck, actionlint and govulncheck"},
		"not tidied":         {tidy: "echo no route >&2; exit 1", want: "is not checked for tidiness: no route"},
		"no database":        {curl: "echo no route >&2; exit 6", want: "lint: vulnerabilities are not checked: no route"},
		"no decision":        {govulncheck: "echo out of memory; exit 1", want: "lint: vulnerabilities are not checked: out of memory"},
	} {
		dir := t.TempDir()
		executable := func(path, text string) {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		script, err := os.ReadFile("lint.sh")
		if err != nil {
			t.Fatal(err)
		}
		executable("scripts/lint.sh", strings.TrimPrefix(string(script), "#!/usr/bin/env bash\n"))
		for _, module := range []string{"lab", "corpus", "kit", "scripts/tools"} {
			if err := os.MkdirAll(filepath.Join(dir, module), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, tool := range []string{"path/git", "path/gofmt", "bin/tools/staticcheck", "bin/tools/actionlint"} {
			executable(tool, "")
		}
		executable("path/curl", c.curl)
		executable("bin/tools/govulncheck", c.govulncheck)
		executable("path/go", "case \"$1 $2\" in\n\"mod tidy\") "+c.tidy+" ;;\n\"mod download\") "+c.tools+" ;;\nesac")
		for variable, fails := range map[string]bool{"REDLINE_CI=": false, "REDLINE_CI=1": c.want != ""} {
			cmd := exec.Command("bash", filepath.Join(dir, "scripts/lint.sh"))
			cmd.Env = append(os.Environ(), variable, "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			exit := (*exec.ExitError)(nil)
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if (err != nil) != fails || !strings.Contains(string(out), c.want) {
				t.Errorf("%s, %s: %v\n%s", name, variable, err, out)
			}
		}
	}
}
