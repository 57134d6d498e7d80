//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
)

// fake is a corpus with one sick and one healthy case, and a redline that copies
// a bundle instead of measuring one.
func fake(t *testing.T) (root, redline string) {
	t.Helper()
	root = t.TempDir()
	for path, text := range map[string]string{
		"go.mod":                     "module corpus\n",
		"sick/shop/main.go":          "package main\n\nfunc main() {}\n",
		"sick/shop/expect.yaml":      "sickness: s\nfindings: [{cause: sleep, where: [pause]}]\n",
		"healthy/clinic/main.go":     "package main\n\nfunc main() {}\n",
		"healthy/clinic/expect.yaml": "healthy: h\n",
		"healthy/broken/main.go":     "package main\n\nfunc main() { nothing }\n",
		"healthy/broken/expect.yaml": "healthy: h\n",
		"redline": "#!/bin/sh\nwhile [ \"$1\" != -o ]; do s=\"$s $1\"; shift; done\n" +
			"mkdir -p \"$2\" && cp \"$(dirname \"$0\")/run.json\" \"$2\"\n" +
			"case \"$s\" in *shop*) f=sick;; *) f=well;; esac\ncp \"$(dirname \"$0\")/$f.json\" \"$2/findings.json\"\n",
		"run.json":                      `{"schema":"redline.run/1","window_ns":100000000,"state":"complete"}`,
		"sick.json":                     `{"findings":[{"rank":1,"cause":"sleep","share":0.5,"confidence":"high","where":{"function":"main.pause"}}]}`,
		"well.json":                     `{"findings":[]}`,
		"fixtures/" + corpus.MissesFile: "shop: because\n",
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	return root, filepath.Join(root, "redline")
}

// TestSession measures, writes its files, and scores what it kept again.
func TestSession(t *testing.T) {
	root, redline := fake(t)
	var out, errs bytes.Buffer
	kept, page := filepath.Join(root, "kept"), filepath.Join(root, "page.md")
	err := command(context.Background(), []string{"-corpus", root, "-redline", redline, "-only", "shop|clinic",
		"-keep", kept, "-o", strings.TrimSuffix(page, ".md") + ".json",
		"-fixtures", filepath.Join(root, "fixtures")}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	for _, want := range []string{"ok    shop", "sleep at main.pause",
		"right cause first                    1 of 1 (100 %)", "a false finding 3 of 3 (100 %)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	written, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(written), "| sick/shop | sleep | yes |") {
		t.Errorf("%v\n%s", err, written)
	}
	for _, dir := range []string{"shop", "clinic", "clinic.2", "clinic.3"} {
		if _, err := os.Stat(filepath.Join(kept, dir, "run.json")); err != nil {
			t.Error(err)
		}
	}
}

// TestReasons: a run that is wrong has the reason of its recording, or else that of the corpus' own list; the page has what is said
// about the round.
func TestReasons(t *testing.T) {
	root, _ := fake(t)
	if err := os.WriteFile(filepath.Join(root, corpus.MissesFile), []byte("shop: other\nbakery: disturbed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, roundFile), []byte("A busy host.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &bench{options: options{root: root, fixtures: filepath.Join(root, "fixtures")}}
	var err error
	if b.misses, err = b.readMisses(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shop", "bakery"} {
		b.results.Runs = append(b.results.Runs,
			measured{Result: corpus.Result{Kind: corpus.Sick, Name: name, Why: []string{"sleep is not first"}}})
	}
	for _, want := range []string{"\nA busy host.\n", "sick/shop: sleep is not first. Why: because\n",
		"sick/bakery: sleep is not first. Why: disturbed\n"} {
		if page := b.page(true); !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestSessionInPieces: a later session measures what the file of an earlier one
// lacks, and tells both.
func TestSessionInPieces(t *testing.T) {
	root, redline := fake(t)
	results := filepath.Join(root, "results.json")
	session := func(only string) string {
		t.Helper()
		var out, errs bytes.Buffer
		err := command(context.Background(), []string{"-corpus", root, "-redline", redline, "-fixtures", root,
			"-only", only, "-healthy-runs", "1", "-add", "-o", results}, &out, &errs)
		if err != nil {
			t.Fatalf("%v\n%s%s", err, &out, &errs)
		}
		return out.String()
	}
	session("shop")
	if out := session("shop|clinic"); strings.Contains(out, "ok    shop") || !strings.Contains(out, "ok    clinic") ||
		strings.Count(out, "1 of 1 (100 %)") != 4 {
		t.Errorf("the second session told\n%s", out)
	}
}

// TestSessionFails: a service that does not build is a result like another, and
// a missed mark is an error.
func TestSessionFails(t *testing.T) {
	root, redline := fake(t)
	var out, errs bytes.Buffer
	err := command(context.Background(), []string{"-corpus", root, "-redline", redline, "-fixtures", root,
		"-only", "healthy", "-healthy-runs", "1"}, &out, &errs)
	if err == nil || !strings.Contains(out.String(), "MISS  broken") || !strings.Contains(out.String(),
		"undefined: nothing") || !strings.Contains(out.String(), "ok    clinic") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestInvalidRunsAreRepeated: a run that redline calls invalid says nothing of the
// service, so it is done again, a few times, and told.
func TestInvalidRunsAreRepeated(t *testing.T) {
	root, redline := fake(t)
	script, err := os.ReadFile(redline)
	if err != nil {
		t.Fatal(err)
	}
	// The first run of three finds the generator at its limit.
	first := "\ncount=$(dirname \"$0\")/count; echo x >> $count\n" +
		"if [ $(wc -l < $count) = 1 ]; then cp \"$(dirname \"$0\")/sick.json\" \"$2/findings.json\"; exit 3; fi\n"
	if err := os.WriteFile(redline, append(script, first...), 0o755); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	err = command(context.Background(), []string{"-corpus", root, "-redline", redline, "-fixtures", root,
		"-only", "clinic", "-healthy-runs", "1"}, &out, &errs)
	if err != nil || !strings.Contains(out.String(), "ok    clinic") || !strings.Contains(out.String(), "1 invalid runs were repeated") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestBuildOnly: each case is built, one that does not build is an error, and
// nothing is run.
func TestBuildOnly(t *testing.T) {
	root, redline := fake(t)
	var out, errs bytes.Buffer
	err := command(context.Background(), []string{"-corpus", root, "-redline", redline, "-build-only"}, &out, &errs)
	if err == nil || !strings.Contains(err.Error(), "undefined: nothing") || !strings.Contains(out.String(), "built shop") ||
		!strings.Contains(out.String(), "built clinic") || strings.Contains(out.String(), "ok  ") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestNeeds: what a case does not need it does not see.
func TestNeeds(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://somewhere/else")
	env, release, err := (&needs{}).provide(context.Background(), corpus.Case{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "DATABASE_URL=") }) {
		t.Error("a case without a database sees the shell's")
	}
}

// TestToldCommand: a password in the DSN never reaches the results.
func TestToldCommand(t *testing.T) {
	args := []string{"-only", "sick/", "-postgres", "postgres://u:secret@h/d",
		"--postgres=postgres://u:secret@h/d", "-redline", "/x/redline", "-add", "-o", "page.json", "-runs", "2"}
	if got := strings.Join(reported(args), " "); got != "-only sick/ -add -runs 2" {
		t.Errorf("told as %q", got)
	}
}
