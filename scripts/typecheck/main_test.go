package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each module is one that compiles, with one thing changed.
func TestCheck(t *testing.T) {
	sound := map[string]string{
		"go.mod":           "module example.org/m\n\ngo 1.26\n",
		"m.go":             "package m\n\nimport \"errors\"\n\nfunc Get() error { return errors.New(name) }\n",
		"name_darwin.go":   "package m\n\nconst name = \"d\"\n",
		"name_linux.go":    "package m\n\nconst name = \"l\"\n",
		"m_test.go":        "package m_test\n\nimport \"example.org/m\"\n\nvar _ = m.Get\n",
		"cmd/main.go":      "package main\n\nimport \"example.org/m\"\n\nfunc main() { m.Get() }\n",
		"inner/in_test.go": "package inner\n\nconst one = 1\n",
	}
	for name, c := range map[string]struct {
		change map[string]string
		code   int
		says   string
	}{
		"sound":                   {},
		"another system's file":   {change: map[string]string{"name_darwin.go": "package m\n\nconst name = 1\n"}, code: 1, says: "m.go:5:"},
		"missing there":           {change: map[string]string{"name_darwin.go": ""}, code: 1, says: "undefined: name"},
		"only this system's file": {change: map[string]string{"name_linux.go": "package m\n\nconst name = 1\n"}},
		"a test":                  {change: map[string]string{"inner/in_test.go": "package inner\n\nconst one string = 1\n"}, code: 1, says: "in_test.go:3:"},
		"an external test":        {change: map[string]string{"m_test.go": "package m_test\n\nvar _ = m.Get\n"}, code: 1, says: "undefined: m"},
		"a command":               {change: map[string]string{"cmd/main.go": "package main\n\nfunc main() { return 1 }\n"}, code: 1, says: "too many return values"},
		"an unused import":        {change: map[string]string{"cmd/main.go": "package main\n\nimport \"os\"\n\nfunc main() {}\n"}, code: 1, says: "imported and not used"},
		"a missing import":        {change: map[string]string{"cmd/main.go": "package main\n\nimport _ \"example.org/m/none\"\n\nfunc main() {}\n"}, code: 1, says: "example.org/m/none"},
		"what does not parse":     {change: map[string]string{"cmd/main.go": "package main\n\nfunc {\n"}, code: 1, says: "main.go:3:6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOWORK", "off")
			t.Setenv("GOOS", "darwin")
			t.Setenv("GOARCH", "arm64")
			dir := t.TempDir()
			for file, text := range sound {
				if changed, ok := c.change[file]; ok {
					text = changed
				}
				write(t, filepath.Join(dir, file), text)
			}
			var out strings.Builder
			if code := check(&out, dir, []string{"./..."}); code != c.code {
				t.Errorf("exit code %d, want %d:\n%s", code, c.code, &out)
			}
			if c.code == 0 && out.Len() > 0 || c.code != 0 && strings.Count(out.String(), c.says) != 1 {
				t.Errorf("says %q, want %q once", &out, c.says)
			}
		})
	}
	t.Run("no packages", func(t *testing.T) {
		var out strings.Builder
		if code := check(&out, t.TempDir(), []string{"./..."}); code == 0 {
			t.Error("passes")
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
