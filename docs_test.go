package redline_test

// The rules of the documentation: what it links to exists, and what it says to
// type is understood.

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/redline-go/redline/scenario/scalar"
)

// page is a Markdown file by its path from the root, with slashes.
type page struct {
	path  string
	lines []string
}

// pages are all that a reader of the repository is led to.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page{filepath.ToSlash(path), strings.Split(string(text), "\n")})
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d pages were found", len(all))
	}
	return all
}

// each calls prose with the lines outside of code blocks, and code with those of a
// fenced or an indented one, without their indentation.
func (p page) each(prose, code func(number int, line string)) {
	fenced, list := false, false
	for i, line := range p.lines {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced:
			code(i+1, line)
		case strings.HasPrefix(line, "    ") && !list:
			code(i+1, strings.TrimSpace(line))
		default:
			prose(i+1, line)
		}
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(line, " ") {
			list = strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "1. ")
		}
	}
}

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading    = regexp.MustCompile(`^#+ +(.*)`)
)

// anchors are the names of a page's headings, as GitHub and most renderers make them.
func (p page) anchors() []string {
	var names []string
	p.each(func(_ int, line string) {
		if m := heading.FindStringSubmatch(line); m != nil {
			names = append(names, slug(m[1]))
		}
	}, func(int, string) {})
	return names
}

func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

func TestLinksOfDocumentation(t *testing.T) {
	all := pages(t)
	byPath := map[string]page{}
	for _, p := range all {
		byPath[p.path] = p
	}
	for _, p := range all {
		p.each(func(number int, line string) {
			for _, m := range linkTarget.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, "``"), -1) {
				if err := resolves(byPath, p.path, m[1]); err != nil {
					t.Errorf("%s:%d: %v", p.path, number, err)
				}
			}
		}, func(int, string) {})
	}
}

// resolves reports why a link of the page at from leads nowhere. Links to other
// hosts are not followed.
func resolves(byPath map[string]page, from, link string) error {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return nil
	}
	file, anchor, anchored := strings.Cut(link, "#")
	path := from
	if file != "" {
		path = filepath.ToSlash(filepath.Join(filepath.Dir(from), file))
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("the link %s leads nowhere: there is no %s", link, path)
		}
	}
	if to, ok := byPath[path]; ok && anchored && !slices.Contains(to.anchors(), anchor) {
		return fmt.Errorf("the link %s leads nowhere: %s has no such heading", link, path)
	}
	return nil
}

func TestCommandsOfDocumentation(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "redline")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", tool, "./cmd/redline").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	known := commands{tool: tool, help: map[string]string{}}
	targets, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, p := range pages(t) {
		check := func(number int, line string) {
			words := typed(line)
			if len(words) < 2 {
				return
			}
			var err error
			switch filepath.Base(words[0]) {
			case "redline":
				checked++
				err = known.understand(words[1:])
			case "make":
				checked++
				if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(words[1]) + `:`).Match(targets) {
					err = fmt.Errorf("the Makefile has no target %s", words[1])
				}
			}
			if err != nil {
				t.Errorf("%s:%d: %v", p.path, number, err)
			}
		}
		p.each(func(number int, line string) {
			for _, code := range inlineCode.FindAllString(line, -1) {
				check(number, strings.Trim(code, "`"))
			}
		}, check)
	}
	if checked < 100 {
		t.Errorf("only %d commands were found", checked)
	}
}

// typed are the words of a line that a reader types, without its prompt, its
// comment, and whatever else the shell does after the first command; nil for
// anything but one command.
func typed(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
	if !regexp.MustCompile(`^(bin/redline|redline|make) `).MatchString(line) {
		return nil
	}
	line, _, _ = strings.Cut(line, " #")
	// A synopsis marks what may be left out, and alternatives.
	line = strings.NewReplacer("[", " ", "]", " ", "(", " ", ")", " ", "...", "").Replace(line)
	words, err := scalar.SplitCommand(line)
	if err != nil {
		return nil
	}
	if end := slices.IndexFunc(words, func(w string) bool {
		return slices.Contains([]string{"&&", ";", ">", "2>",
			"&", "--"}, w)
	}); end >= 0 {
		words = words[:end]
	}
	return words
}

// commands is what the built command says of its verbs and flags.
type commands struct {
	tool string
	help map[string]string // by the verb's words
}

func (c commands) of(verb ...string) (string, error) {
	key := strings.Join(verb, " ")
	if text, ok := c.help[key]; ok {
		return text, nil
	}
	out, err := exec.Command(c.tool, append(verb, "--help")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("redline %s --help: %w", key, err)
	}
	c.help[key] = string(out)
	return string(out), nil
}

// names reports whether a help text lists a verb.
func names(help, verb string) bool {
	_, list, _ := strings.Cut(help, "Available Commands:")
	list, _, _ = strings.Cut(list, "\nFlags:")
	return regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(verb) + ` `).MatchString(list)
}

// understand reports the verb or the flag that redline does not know.
func (c commands) understand(words []string) error {
	help, err := c.of()
	if err != nil {
		return err
	}
	var verb []string
	for len(words) > 0 && names(help, words[0]) {
		verb, words = append(verb, words[0]), words[1:]
		if help, err = c.of(verb...); err != nil {
			return err
		}
	}
	name := regexp.MustCompile(`^[a-z]+$`)
	if len(verb) == 0 && len(words) > 0 && name.MatchString(words[0]) {
		return fmt.Errorf("redline has no verb %s", words[0])
	}
	for _, word := range words {
		flag, _, _ := strings.Cut(word, "=")
		if !regexp.MustCompile(`^--?[a-z][a-z-]*$`).MatchString(flag) {
			continue
		}
		if !regexp.MustCompile(`(?m)^ +(-\w, )?` + regexp.QuoteMeta(flag) + `\b`).MatchString(help) {
			return fmt.Errorf("redline %s has no flag %s", strings.Join(verb, " "), flag)
		}
	}
	return nil
}

// TestTroubleshootingQuotesMessages holds the page that is searched by message to
// what the code prints.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	text, err := os.ReadFile("docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var literals strings.Builder
	for _, s := range sources(t) {
		if s.test() || s.foreign() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			expr, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := constant(expr)
			if ok {
				literals.WriteString(text + "\n")
			}
			return !ok
		})
	}
	quoted := regexp.MustCompile("(?m)^(?:###[^`\n]*|\\| |- )`([^`]+)`").FindAllStringSubmatch(string(text), -1)
	if len(quoted) < 30 {
		t.Fatalf("only %d messages were found", len(quoted))
	}
	for _, m := range quoted {
		for part := range strings.SplitSeq(m[1], "...") {
			if part = strings.Trim(part, " :()"); part != "" && !strings.Contains(literals.String(), part) {
				t.Errorf("docs/troubleshooting.md quotes %q: nothing prints %q", m[1], part)
			}
		}
	}
}

// constant returns the text of a string literal, or of several that are added.
func constant(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		x, ok := constant(e.X)
		y, also := constant(e.Y)
		return x + y, ok && also && e.Op == token.ADD
	}
	return "", false
}

// TestReadmeStatesTheTrials: the README's share of real services is that of their page, which grows.
func TestReadmeStatesTheTrials(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	trials := regexp.MustCompile(`(\d+) trials below count`).FindStringSubmatch(read("docs/real-services.md"))
	first := regexp.MustCompile(`right cause first in (\d+ )(\(\d+ %\))`).FindStringSubmatch(read("docs/real-services.md"))
	if trials == nil || first == nil {
		t.Fatal("docs/real-services.md states no totals")
	}
	want := first[1] + "of " + trials[1] + " [real services](docs/real-services.md) " + first[2]
	if !strings.Contains(read("README.md"), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

// TestReadmeIsShortAndCounts: whoever opens the repository reads to the end, and the
// number of causes is that of their pages.
func TestReadmeIsShortAndCounts(t *testing.T) {
	causes, err := filepath.Glob("docs/causes/*.md")
	if err != nil {
		t.Fatal(err)
	}
	counted := regexp.MustCompile(`\b(\d+) causes\b`)
	for _, p := range pages(t) {
		if p.path == "README.md" && len(p.lines) > 151 { // the last is empty
			t.Errorf("README.md has %d lines: at most 150, the rest goes to docs/", len(p.lines)-1)
		}
		if p.path != "README.md" && p.path != "docs/guide.md" {
			continue
		}
		all := counted.FindAllStringSubmatch(strings.Join(p.lines, "\n"), -1)
		if len(all) == 0 {
			t.Errorf("%s gives no number of causes", p.path)
		}
		for _, m := range all {
			// Three causes that were not judged are no count of all.
			if n, _ := strconv.Atoi(m[1]); n > 20 && n != len(causes) {
				t.Errorf("%s counts %d causes, docs/causes has %d", p.path, n, len(causes))
			}
		}
	}
}
