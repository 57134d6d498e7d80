package service

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
)

// files writes files below a fresh folder and returns it.
func files(t *testing.T, content map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	return dir
}

const (
	printing = "package main\n\nvar version = \"none\"\n\nfunc main() { println(version + more()) }\n"
	tagged   = "//go:build extra\n\npackage main\n\nfunc more() string { return \" with extra\" }\n"
)

// printed builds a program and returns what it prints.
func printed(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	if err := Build(t.Context(), dir, binary, flags...); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestFlagsReachEveryStepOfTheBuild(t *testing.T) {
	// The whole package is behind a tag: go list finds it only with the tag.
	dir := files(t, map[string]string{
		"go.mod":  "module example.com/svc\n\ngo 1.21\n",
		"main.go": "//go:build extra\n\n" + printing, "more.go": tagged,
	})
	for name, flags := range map[string][]string{
		"one word each": {"-tags=extra", "-ldflags=-s -w -X main.version=two"},
		"values apart":  {"-tags", "extra", "-ldflags", "-s -w -X main.version=two"},
		"in quotes":     {"--tags=extra", `-ldflags=-X "main.version=two"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := printed(t, dir, flags...); got != "two with extra" {
				t.Errorf("it prints %q", got)
			}
		})
	}
	t.Run("after the user's", func(t *testing.T) {
		t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -tags=extra")
		if got := printed(t, dir, "-ldflags=-X main.version=two"); got != "two with extra" {
			t.Errorf("it prints %q", got)
		}
	})
}

// TestShapesOfModules: whatever the module looks like, it builds with the probe in it.
func TestShapesOfModules(t *testing.T) {
	library := "package lib\n\nfunc Name() string { return \"lib\" }\n"
	user := "package main\n\nimport \"example.com/lib\"\n\nfunc main() { println(lib.Name()) }\n"
	for name, c := range map[string]struct {
		files map[string]string
		build string
		want  string
	}{
		"vendored": {map[string]string{
			"go.mod":                      "module example.com/svc\n\ngo 1.21\n\nrequire example.com/lib v1.0.0\n",
			"main.go":                     user,
			"vendor/example.com/lib/l.go": library,
			"vendor/modules.txt":          "# example.com/lib v1.0.0\n## explicit\nexample.com/lib\n",
		}, ".", "lib"},
		"replaced": {map[string]string{
			"svc/go.mod":  "module example.com/svc\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n",
			"svc/main.go": user, "lib/go.mod": "module example.com/lib\n", "lib/l.go": library,
		}, "svc", "lib"},
		"workspace": {map[string]string{
			"go.work":    "go 1.21\n\nuse (\n\t./svc\n\t./lib\n)\n",
			"svc/go.mod": "module example.com/svc\n\ngo 1.21\n", "svc/cmd/a/main.go": user,
			"lib/go.mod": "module example.com/lib\n\ngo 1.21\n", "lib/l.go": library,
		}, "svc/cmd/a", "lib"},
		"embedding": {map[string]string{
			"go.mod":  "module example.com/svc\n\ngo 1.21\n",
			"main.go": "package main\n\nimport _ \"embed\"\n\n//go:embed ui/page\nvar page string\n\nfunc main() { println(page) }\n",
			"ui/page": "a page",
		}, ".", "a page"},
		"old": {map[string]string{
			"go.mod":  "module example.com/svc\n\ngo 1.12\n",
			"main.go": "package main\n\nfunc main() { println(\"old\") }\n",
		}, ".", "old"},
		"no go line": {map[string]string{
			"go.mod":  "module example.com/svc\n",
			"main.go": "package main\n\nfunc main() { println(\"old\") }\n",
		}, ".", "old"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := printed(t, filepath.Join(files(t, c.files), c.build)); got != c.want {
				t.Errorf("it prints %q, not %q", got, c.want)
			}
		})
	}
}

func TestBuildSaysWhatToDo(t *testing.T) {
	main := "package main\n\nfunc main() {}\n"
	mod := "module example.com/svc\n\ngo 1.21\n"
	several := files(t, map[string]string{"go.mod": mod, "cmd/a/main.go": main, "cmd/b/main.go": main, "svc.go": "package svc\n"})
	for name, c := range map[string]struct {
		pkg   string
		flags []string
		want  []string
	}{
		"a library above its commands": {several, nil, []string{"not a main package", "cmd/a", "cmd/b"}},
		"no module":                    {files(t, map[string]string{"main.go": main}), nil, []string{"hint: the folder is not in a module"}},
		"one file":                     {filepath.Join(several, "cmd/a/main.go"), nil, []string{"name its folder, --build " + filepath.Join(several, "cmd/a")}},
		"arguments in the name":        {"./cmd/a serve --port 1", nil, []string{"--build ./cmd/a -- serve --port 1"}},
		"a version":                    {"example.com/svc/cmd/a@v1.2.3", nil, []string{"get the sources first"}},
		"nothing to embed": {files(t, map[string]string{"go.mod": mod,
			"main.go": "package main\n\nimport \"embed\"\n\n//go:embed dist\nvar f embed.FS\n\nfunc main() { _ = f }\n"}), nil,
			[]string{"pattern dist: no matching files found", "hint: an embedded file is missing"}},
		"another tag":      {files(t, map[string]string{"go.mod": mod, "main.go": "//go:build extra\n\n" + main}), nil, []string{"hint: name the tags"}},
		"a newer Go":       {files(t, map[string]string{"go.mod": "module example.com/svc\n\ngo 1.999\n", "main.go": main}), nil, []string{"hint: install the version of Go"}},
		"not a flag":       {several, []string{"extra"}, []string{`"extra" is not a flag of go build`}},
		"redline's flag":   {several, []string{"-o", "x"}, []string{"-o cannot be used"}},
		"a flag's value":   {several, []string{"-tags"}, []string{"-tags has no value"}},
		"both quotes":      {several, []string{`-ldflags=-X 'a.b=c' -X "a.d=e"`}, []string{"both kinds of quotes"}},
		"below two others": {several + "/...", nil, []string{"matches 2 main packages", "cmd/a", "cmd/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a newer Go" {
				t.Setenv("GOTOOLCHAIN", "local")
			}
			err := Build(t.Context(), c.pkg, filepath.Join(t.TempDir(), "program"), c.flags...)
			if err == nil {
				t.Fatal("it builds")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

// TestGOFLAGSAreReadAsTheyAreWritten: a file whose name has a blank is found in GOFLAGS, in the form that goFlags writes.
func TestGOFLAGSAreReadAsTheyAreWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a folder", "other.mod")
	for _, name := range []string{"-modfile", "--modfile"} {
		flags, err := goFlags([]string{"-ldflags=-s -w", name + "=" + file, `-gcflags=-d="x y"`})
		if err != nil {
			t.Fatal(err)
		}
		layout, err := layoutOf(t.Context(), mainPackage{Dir: t.TempDir(), flags: flags}, t.TempDir())
		if err != nil || layout.GoMod != file {
			t.Errorf("%s is read as %q, %v", flags, layout.GoMod, err)
		}
	}
}

// TestSourcesThatGitRefusesAreBuilt: the go command refuses a repository that git cannot
// read, such as another user's or half a clone; redline does not.
func TestSourcesThatGitRefusesAreBuilt(t *testing.T) {
	t.Setenv("GOFLAGS", "-buildvcs=true")
	dir := files(t, map[string]string{
		"go.mod": "module example.com/svc\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() { println(\"built\") }\n",
		".git/HEAD": "ref: refs/heads/none\n",
	})
	if got := printed(t, dir); got != "built" {
		t.Errorf("it prints %q", got)
	}
}

// TestBuildID: the same code in another folder has the same id; a change in a package that main
// imports only through another changes it.
func TestBuildID(t *testing.T) {
	id := func(price string) string {
		dir := files(t, map[string]string{
			"go.mod":       "module example.com/svc\n\ngo 1.21\n",
			"main.go":      "package main\n\nimport \"example.com/svc/shop\"\n\nfunc main() { println(shop.Total()) }\n",
			"shop/shop.go": "package shop\n\nimport \"example.com/svc/tax\"\n\n//go:noinline\nfunc Total() int { return tax.Of() }\n",
			"tax/tax.go":   "package tax\n\n//go:noinline\nfunc Of() int { return " + price + " }\n",
		})
		got, err := BuildID(t.Context(), dir, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if a, again, other := id("4"), id("4"), id("5"); a != again || a == other {
		t.Errorf("%s, again %s, changed %s", a, again, other)
	}
	if _, err := BuildID(t.Context(), t.TempDir(), t.TempDir()); err == nil {
		t.Error("a folder without a package has an id")
	}
}

func TestTargetStartsInItsFolder(t *testing.T) {
	dir := files(t, map[string]string{
		"go.mod":          "module example.com/svc\n\ngo 1.21\n",
		"main.go":         strings.Replace(service, `if os.Getenv("FAIL") != ""`, `if _, err := os.Stat("config.yaml"); err != nil || os.Getenv("PWD") != os.Getenv("WANT")`, 1),
		"etc/config.yaml": "",
	})
	address := freeAddress(t)
	etc := filepath.Join(dir, "etc")
	svc, err := Start(t.Context(), options(t, address, scenario.Target{
		Build: dir, Dir: etc, Env: map[string]string{"ADDR": address, "WANT": etc},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	answer, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}
