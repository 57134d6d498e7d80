package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/scenario/scalar"
)

// runHeadings are those of redline run, in the order in which a reader needs them.
var runHeadings = []string{"Target", "Load", "Request", "Data and replay", "Observe", "Output"}

// eachVerb calls f with every verb.
func eachVerb(t *testing.T, f func(t *testing.T, c *cobra.Command)) {
	t.Helper()
	root := rootCommand(&strings.Builder{}, &strings.Builder{})
	for _, words := range verbs(root) {
		c, _, err := root.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.Join(words, " "), func(t *testing.T) { f(t, c) })
	}
}

// TestFlagsHaveHeadings: in a verb with headings, a new flag belongs under one of them.
func TestFlagsHaveHeadings(t *testing.T) {
	known := append([]string{"Comparison", "Search"}, runHeadings...)
	divided := 0
	eachVerb(t, func(t *testing.T, c *cobra.Command) {
		var without []string
		headings := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch heading := cli.Heading(f); {
			case heading == "" && f.Name != "help":
				without = append(without, f.Name)
			case heading != "" && !slices.Contains(known, heading):
				t.Errorf("--%s is under %q, not one of %q", f.Name, heading, known)
			case heading != "":
				headings++
			}
		})
		if headings == 0 {
			return
		}
		divided++
		if len(without) > 0 {
			t.Errorf("under no heading: %q (see cli.Under)", without)
		}
	})
	if divided < 5 {
		t.Errorf("%d verbs have headings", divided)
	}
}

// TestHelpOfRun: every flag is under exactly one heading, and what people need first comes first.
func TestHelpOfRun(t *testing.T) {
	help, err := command(t, "run", "--help")
	if err != nil {
		t.Fatal(err)
	}
	_, lists, ok := strings.Cut(help, "\nExamples:\n")
	if !ok {
		t.Fatal("no examples")
	}
	var headings []string
	for _, m := range regexp.MustCompile(`(?m)^(\S.*):$`).FindAllStringSubmatch(lists, -1) {
		headings = append(headings, m[1])
	}
	if !slices.Equal(headings, runHeadings) {
		t.Errorf("headings %q, want %q", headings, runHeadings)
	}
	flags := regexp.MustCompile(`(?m)^ {2,6}(?:-\w, )?--([a-z0-9-]+)`).FindAllStringSubmatch(lists, -1)
	listed := map[string]int{}
	for _, m := range flags {
		listed[m[1]]++
	}
	c, _, err := rootCommand(&strings.Builder{}, &strings.Builder{}).Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	c.InitDefaultHelpFlag()
	all := flagNames(c)
	for _, name := range all {
		if listed[name] != 1 {
			t.Errorf("--%s is listed %d times", name, listed[name])
		}
	}
	if len(all) < 50 || len(flags) != len(all) || flags[0][1] != "build" {
		t.Errorf("%d flags are listed, and run has %d; the first is %s", len(flags), len(all), flags[0][1])
	}
	for _, line := range []string{"--rate N/s ", "--connect-rate N/s ", "--body TEXT|@FILE ", "--build PKG ", "--web [ADDR] "} {
		if !strings.Contains(lists, line) {
			t.Errorf("no line has %q in\n%s", line, lists)
		}
	}
}

// TestPlaceholdersSayWhatIsMeant: what a user has to fill in is in capitals, as PKG or "Name: value"; pflag shows
// the Go type for a usage text without back-quotes.
func TestPlaceholdersSayWhatIsMeant(t *testing.T) {
	tried := 0
	eachVerb(t, func(t *testing.T, c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			placeholder, text := pflag.UnquoteUsage(f)
			if placeholder == "" {
				return // a switch
			}
			tried++
			if !regexp.MustCompile(`[A-Z]`).MatchString(placeholder) {
				t.Errorf("--%s %s: %s", f.Name, placeholder, text)
			}
		})
	})
	if tried < 100 {
		t.Errorf("%d flags have a placeholder", tried)
	}
}

// TestValuesThatMayBeLeftOut are in brackets; where a space cannot stand before one, none is shown.
func TestValuesThatMayBeLeftOut(t *testing.T) {
	for verb, want := range map[string]string{
		"run": "--web [ADDR] ", "knee": "--web [ADDR] ", "demo": "--web [ADDR] ", "history": "--fail-on-regression[=N] ",
	} {
		help, err := command(t, verb, "--help")
		if err != nil || !strings.Contains(help, "  "+want) {
			t.Errorf("%s: %v, no %q in\n%s", verb, err, want, help)
		}
	}
}

// TestHelpListsVerbs: our own usage text has what cobra's has.
func TestHelpListsVerbs(t *testing.T) {
	for verb, want := range map[string][]string{
		"":            {"\n  redline [command]\n", "\nAvailable Commands:\n", "\n  run   ", "\n  completion ", "\n  help ", "\nFlags:\n", "--version"},
		"history":     {"\n  redline history [METRIC...] [flags]\n  redline history [command]\n", "\n  trials ", "\nFlags:\n", "more information"},
		"history add": {"\nGlobal Flags:\n      --history FILE|DSN "},
		"lab ladder":  {"\n  order ", "\n  stack ", "-h, --help"},
	} {
		help, err := command(t, append(strings.Fields(verb), "--help")...)
		if err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		for _, part := range want {
			if !strings.Contains(help, part) {
				t.Errorf("redline %s --help has no %q:\n%s", verb, part, help)
			}
		}
	}
}

// TestExamplesOfHelp: every example of --help is a command that redline takes.
func TestExamplesOfHelp(t *testing.T) {
	tried := 0
	eachVerb(t, func(t *testing.T, c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(line, "  #")
			line, _, _ = strings.Cut(line, " > ")
			line, _, _ = strings.Cut(line, " | ")
			line = os.Expand(line, func(variable string) string { return variable })
			words, err := scalar.SplitCommand(strings.TrimSpace(line))
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			if len(words) > 0 && strings.Contains(words[0], "=") { // a variable of the environment
				words = words[1:]
			}
			if len(words) == 0 || words[0] != "redline" {
				t.Errorf("%q is not a command of redline", line)
				continue
			}
			tried++
			understood(t, c, words[1:])
		}
	})
	if tried < 40 {
		t.Errorf("%d examples were tried", tried)
	}
}

// understood parses a command line of a verb as far as redline does before it acts.
func understood(t *testing.T, verb *cobra.Command, words []string) {
	t.Helper()
	root := rootCommand(&strings.Builder{}, &strings.Builder{})
	c, rest, err := root.Find(words)
	if err != nil {
		t.Errorf("%q: %v", words, err)
		return
	}
	if !strings.HasPrefix(c.CommandPath(), verb.CommandPath()) && verb.Name() != "history" {
		t.Errorf("%q is an example of %s", words, verb.CommandPath())
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
		return
	}
	if err := c.ValidateFlagGroups(); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}

// TestFlagsAndKeysOfScenarios: docs/scenario.md lists every flag of run beside its key, or says that it has none.
func TestFlagsAndKeysOfScenarios(t *testing.T) {
	page, err := os.ReadFile("../../docs/scenario.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n## Flags and keys\n")
	if !ok {
		t.Fatal("docs/scenario.md has no table of flags and keys")
	}
	c, _, err := rootCommand(&strings.Builder{}, &strings.Builder{}).Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for row := range strings.Lines(table) {
		row, isRow := strings.CutPrefix(row, "| ")
		flag, _, _ := strings.Cut(row, " | ")
		for _, m := range regexp.MustCompile(`--([a-z][a-z0-9-]*)`).FindAllStringSubmatch(flag, -1) {
			if c.Flags().Lookup(m[1]) == nil {
				t.Errorf("docs/scenario.md lists --%s, which run does not have", m[1])
			}
			listed[m[1]] = listed[m[1]] || isRow
		}
	}
	for _, name := range flagNames(c) {
		if !listed[name] && name != "help" {
			t.Errorf("docs/scenario.md does not list --%s", name)
		}
	}
}
