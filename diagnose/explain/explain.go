// Package explain describes a cause: its symptoms, how redline recognises it, the
// remedy with code before and after, and how to verify it. The terminal's text and
// the pages of docs/causes/ are rendered from the analyzers' own metadata, so that
// neither claims what the analyzers do not do.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi" // wraps text at a width in cells

	"github.com/redline-go/redline/diagnose"
)

// Page is a cause together with its analyzer's own documentation.
type Page struct {
	diagnose.Cause
	Analyzer string // name
	Decides  string // the analyzer's documentation: how it decides
	Stage    diagnose.Stage
}

// Causes are the pages of a suite, in the order of judgement.
type Causes []Page

// Of returns the causes of a suite.
func Of(suite []diagnose.Analyzer) Causes {
	var pages Causes
	for _, a := range suite {
		for _, c := range a.Causes {
			pages = append(pages, Page{Cause: c, Analyzer: a.Name, Decides: a.Doc, Stage: a.Stage})
		}
	}
	slices.SortStableFunc(pages, func(a, b Page) int { return cmp.Compare(a.Stage, b.Stage) })
	return pages
}

// Find returns the page of a cause; ok is false for an id that no analyzer names.
func (c Causes) Find(id string) (page Page, ok bool) {
	i := slices.IndexFunc(c, func(p Page) bool { return p.ID == id })
	if i < 0 {
		return Page{}, false
	}
	return c[i], true
}

// IDs returns the causes' names.
func (c Causes) IDs() []string {
	ids := make([]string, len(c))
	for i, p := range c {
		ids[i] = p.ID
	}
	return ids
}

// List names every cause on a line of its own, by stage, cut to width cells (40 at
// least).
func (c Causes) List(width int) string {
	longest := 0
	for _, p := range c {
		longest = max(longest, len(p.ID))
	}
	var b strings.Builder
	last := diagnose.Stage(-1)
	for _, p := range c {
		if p.Stage != last {
			if last >= 0 {
				b.WriteByte('\n')
			}
			b.WriteString(stage(p.Stage) + "\n")
			last = p.Stage
		}
		line := fmt.Sprintf("  %-*s  %s", longest, p.ID, strings.TrimSuffix(p.Title, "."))
		b.WriteString(ansi.Truncate(line, max(width, 40), "...") + "\n")
	}
	return b.String()
}

// stage names a stage for a heading.
func stage(s diagnose.Stage) string {
	names := map[diagnose.Stage]string{
		diagnose.Validity: "The measurement", diagnose.Host: "The host and its limits", diagnose.Database: "The database",
		diagnose.Wait: "Waiting within the service and for other services", diagnose.Memory: "Memory and garbage collection",
		diagnose.CPUUse: "CPU use",
	}
	return names[s]
}

// part is a heading with its text; code is not wrapped.
type part struct {
	title, text string
	code        string // language of the text if it is code
}

// parts returns what a reader wants to know about a cause, in the order of their questions,
// without empty parts.
func (p Page) parts() []part {
	list := []part{
		{title: "How it looks", text: p.Doc},
		{title: "How redline knows", text: p.Knows},
		{title: "What to do", text: p.Remedy},
		{title: "Before", text: p.Example.Before, code: cmp.Or(p.Example.Lang, "text")},
		{title: "After", text: p.Example.After, code: cmp.Or(p.Example.Lang, "text")},
		{title: "How to verify", text: p.Verify},
		{title: "Possible root causes", text: roots(slices.Concat(p.FollowsFrom, p.HeldBy, p.CoveredBy))},
	}
	if p.Knows == "" {
		list[1].text = p.Decides
	}
	return slices.DeleteFunc(list, func(p part) bool { return strings.TrimSpace(p.text) == "" })
}

// mostRoots is how many root causes a page lists: a list of nearly all causes says nothing.
const mostRoots = 12

func roots(causes []string) string {
	if more := len(causes) - mostRoots; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(causes[:mostRoots], ", "), more)
	}
	return strings.Join(causes, ", ")
}

// Text returns the page for a terminal of width cells, 60 at least. Code is not
// wrapped, and names of causes are not broken.
func (p Page) Text(width int) string {
	const indent = "  "
	room := max(width, 60) - len(indent)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", p.ID, strings.TrimSuffix(p.Title, "."))
	for _, part := range p.parts() {
		fmt.Fprintf(&b, "\n%s\n", part.title)
		text := trim(part.text)
		if part.code == "" {
			text = wrap(text, room)
		}
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString(strings.TrimRight(indent+strings.ReplaceAll(line, "\t", "    "), " ") + "\n")
		}
	}
	return b.String()
}

// wrap breaks a text at spaces. ansi.Wrap breaks at each hyphen too, so that the name of a cause or a flag could be neither
// copied nor found; it takes the non-breaking hyphen for a letter of the same width.
func wrap(text string, width int) string {
	const hyphen = "\u2011"
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, "-", hyphen), width, ""), hyphen, "-")
}

// Markdown returns the page of docs/causes/, with the services of the corpus, which concern those who work on redline.
func (p Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s.**\n", p.ID, strings.TrimSuffix(p.Title, "."))
	list := p.parts()
	if len(p.Cases) > 0 {
		list = append(list, part{title: "Test services that set its thresholds (corpus/)", text: strings.Join(p.Cases, ", ")})
	}
	for _, part := range list {
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		if part.code == "" {
			b.WriteString(trim(part.text) + "\n")
			continue
		}
		fmt.Fprintf(&b, "```%s\n%s\n```\n", part.code, trim(part.text))
	}
	return b.String()
}

// trim drops the blank lines around a text and the tabs that all of its lines begin
// with: a raw string in code has both.
func trim(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && !slices.ContainsFunc(lines, func(l string) bool { return l != "" && !strings.HasPrefix(l, "\t") }) &&
		slices.ContainsFunc(lines, func(l string) bool { return l != "" }) {
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "\t")
		}
	}
	return strings.Join(lines, "\n")
}

// Index returns docs/causes.md: every cause with a link to its page.
func (c Causes) Index() string {
	var b strings.Builder
	b.WriteString("# Causes\n\n" +
		"Look up a cause that a report names: its symptoms, how redline recognises it, the remedy with code before and after, and\n" +
		"how to verify it. `redline explain CAUSE` prints the same. Causes are listed in the order in which redline judges them;\n" +
		"[diagnosis.md](diagnosis.md) measures how often they are right. " +
		"Generated from the analyzers: `go test ./diagnose/suite -update`.\n")
	last := diagnose.Stage(-1)
	for _, p := range c {
		if p.Stage != last {
			fmt.Fprintf(&b, "\n## %s\n\n", stage(p.Stage))
			last = p.Stage
		}
		fmt.Fprintf(&b, "- [%s](causes/%s.md): %s\n", p.ID, p.ID, strings.TrimSuffix(p.Title, "."))
	}
	return b.String()
}
