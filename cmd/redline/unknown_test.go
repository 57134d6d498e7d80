package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
)

// verbs returns every verb and verb below a verb, as its words after "redline".
func verbs(of *cobra.Command, before ...string) [][]string {
	var all [][]string
	for _, c := range of.Commands() {
		words := append(append([]string{}, before...), c.Name())
		all = append(append(all, words), verbs(c, words...)...)
	}
	return all
}

// TestUnknownFlagsAreHinted misspells one long flag of every verb.
func TestUnknownFlagsAreHinted(t *testing.T) {
	root := rootCommand(&strings.Builder{}, &strings.Builder{})
	hinted := 0
	for _, words := range verbs(root) {
		c, _, err := root.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		tried := false
		for _, name := range flagNames(c) {
			if tried || len(name) < 4 || name == "help" {
				continue
			}
			wrong := name[:1] + name[2:] // the second letter is missing
			if c.Flags().Lookup(wrong) != nil {
				continue
			}
			hinted++
			tried = true
			r := invoke(t, append(words, "--"+wrong)...)
			if r.code != cli.ExitUsage || !strings.Contains(r.stderr, "unknown flag: --"+wrong) ||
				!strings.Contains(r.stderr, "did you mean --") {
				t.Errorf("%s --%s: exit %d\n%s", strings.Join(words, " "), wrong, r.code, r.stderr)
			}
		}
	}
	if hinted < 10 {
		t.Errorf("%d flags were tried", hinted)
	}
	if r := invoke(t, "run", "--rat", "5"); !strings.Contains(r.stderr, "did you mean --rate?") {
		t.Errorf("run --rat: %s", r.stderr)
	}
	if r := invoke(t, "run", "--zzzzzzzzzz"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "redline run --help lists its flags") {
		t.Errorf("run --zzzzzzzzzz: exit %d, %s", r.code, r.stderr)
	}
	if r := invoke(t, "run", "-z"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "unknown shorthand flag") {
		t.Errorf("run -z: exit %d, %s", r.code, r.stderr)
	}
}

// TestOutHasOneName: whatever has -o calls it --out, and still takes --output.
func TestOutHasOneName(t *testing.T) {
	root := rootCommand(&strings.Builder{}, &strings.Builder{})
	found := 0
	for _, words := range verbs(root) {
		c, _, err := root.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		short := c.Flags().ShorthandLookup("o")
		if short == nil {
			continue
		}
		found++
		if short.Name != "out" || c.Flags().Lookup("output") != short {
			t.Errorf("%s: -o is --%s", strings.Join(words, " "), short.Name)
		}
	}
	if found < 8 {
		t.Errorf("%d verbs have -o", found)
	}
}

func TestUnknownVerbsAreHinted(t *testing.T) {
	for args, want := range map[string]string{
		"rnu":                     "did you mean run?",
		"dignose x":               "did you mean diagnose?",
		"histroy --json":          "did you mean history?",
		"hepl":                    "did you mean help?",
		"frobnicate-all --rate 5": "redline --help lists the verbs",
	} {
		r := invoke(t, strings.Fields(args)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit %d\n%s", args, r.code, r.stderr)
		}
		if lines := strings.Count(strings.TrimSpace(r.stderr), "\n"); lines > 0 {
			t.Errorf("%s: more than a line:\n%s", args, r.stderr)
		}
	}
}

// TestMissingArgumentsAreNamed: whoever types a verb alone learns what it needs.
func TestMissingArgumentsAreNamed(t *testing.T) {
	for args, want := range map[string]string{
		"ab":          "no target: give one URL or one scenario file (hint: redline ab --help)",
		"gate":        "no target: give one URL or one scenario file (hint: redline gate --help)",
		"compare x":   "two runs are needed: name their directories, runs/... (hint: redline compare --help)",
		"diagnose":    "no run given: name its directory, runs/... (hint: redline diagnose --help)",
		"report":      "no run given: name its directory, runs/... (hint: redline report --help)",
		"history add": "no run given: name its directory, runs/... (hint: redline history add --help)",
		"report a b":  "2 arguments given, at most 1 expected (hint: redline report --help)",
		"serve a b c": "3 arguments given, at most 1 expected (hint: redline serve --help)",
	} {
		if r := invoke(t, strings.Fields(args)...); r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit %d\n%s", args, r.code, r.stderr)
		}
	}
}
