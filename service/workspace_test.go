package service

import (
	"path/filepath"
	"testing"
)

// TestWorkspaceElsewhere: as with the go command, the go.work of the working directory counts for the modules that it
// uses, wherever they lie, and for no other.
func TestWorkspaceElsewhere(t *testing.T) {
	dir := files(t, map[string]string{
		"desk/go.work":  "go 1.21\n\nuse (\n\t../svc\n\t../lib\n)\n",
		"desk/a/x":      "",
		"other/go.work": "go 1.21\n\nuse ../lib\n",
		"svc/go.mod":    "module example.com/svc\n\ngo 1.21\n\nrequire example.com/lib v1.4.0\n",
		"svc/cmd/a/main.go": "package main\n\nimport (\n\t_ \"net/http\"\n\n\t\"example.com/lib\"\n)\n\n" +
			"func main() { println(lib.Name()) }\n",
		"lib/go.mod": "module example.com/lib\n\ngo 1.21\n", "lib/l.go": "package lib\n\nfunc Name() string { return \"lib\" }\n",
		"alone/go.mod":  "module example.com/alone\n\ngo 1.21\n",
		"alone/main.go": "package main\n\nfunc main() { println(\"alone\") }\n",
	})
	t.Setenv("GOWORK", "")
	t.Setenv("GOPROXY", "off")
	service := filepath.Join(dir, "svc", "cmd", "a")
	for name, c := range map[string]struct{ from, work, build, want string }{
		"in the working directory":       {"desk", "", service, "lib"},
		"in a parent of it":              {"desk/a", "", filepath.Join("..", "..", "svc", "cmd", "a"), "lib"},
		"in the environment":             {"other", filepath.Join(dir, "desk", "go.work"), service, "lib"},
		"one that does not use the code": {"other", "", filepath.Join(dir, "alone"), "alone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(filepath.Join(dir, c.from))
			t.Setenv("GOWORK", c.work)
			if got := printed(t, c.build); got != c.want {
				t.Errorf("it prints %q, not %q", got, c.want)
			}
			binary := filepath.Join(t.TempDir(), "program")
			if built, err := BuildInstrumented(t.Context(), c.build, binary); err != nil || len(built.Left) > 0 {
				t.Errorf("with hooks: %+v, %v", built, err)
			}
		})
	}
}
