package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/verify"
)

// Markdown writes a result for a pull request: the verdict, a table of metrics, and
// what the verdict rests on. The error is the writer's.
func Markdown(w io.Writer, r verify.Result) error {
	var b strings.Builder
	why, rest, more := strings.Cut(r.Why, "\n")
	inert.Fprintf(&b, "### redline: %s\n\n%s\n\n", r.Verdict, why)
	if more {
		inert.Fprintf(&b, "%s\n\n", inert.Block(fenced(rest)))
	}
	for i, side := range r.Sides {
		if side != "" {
			inert.Fprintf(&b, "- %c: `%s`\n", 'a'+i, strings.ReplaceAll(side, "`", "'"))
		}
	}
	if measuredNothing(r) {
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("\n| metric | a | b | change | margin | detectable (MDE) | verdict |\n|---|---|---|---|---|---|---|\n")
	for _, m := range r.Metrics {
		inert.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", m.Name, Amount(m.A, m.Unit),
			Amount(m.B, m.Unit), change(m), notation.Bound(m.Margin), seen(m), strings.ReplaceAll(Verdict(m), "|", "\\|"))
	}
	for _, line := range footing(r) {
		inert.Fprintf(&b, "\n%s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	if second := r.AlsoAgainst; second != nil && err == nil {
		base := strings.ReplaceAll(second.Base, "`", "'")
		if _, err = io.WriteString(w, inert.Sprintf("\n#### Also against `%s`\n\n", base)); err == nil {
			err = Markdown(w, second.Result)
		}
	}
	return err
}

// fenced makes a code block of text, whatever backquotes it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// judgedMetric is a metric in a report without tables, which names what it was compared with.
type judgedMetric struct {
	verify.MetricResult        // its Name is unique in the report
	name, base          string // the metric's own name
}

// judged returns the metrics of a result, and those of the comparison with a second base unless that
// measured nothing.
func judged(r verify.Result) (out []judgedMetric) {
	for _, m := range r.Metrics {
		out = append(out, judgedMetric{m, m.Name, "the base"})
	}
	if second := r.AlsoAgainst; second != nil && !measuredNothing(second.Result) {
		for _, m := range second.Result.Metrics {
			name := m.Name
			m.Name = "against " + second.Base + ": " + name
			out = append(out, judgedMetric{m, name, second.Base})
		}
	}
	return out
}

// JUnit writes a result as JUnit XML: a test case per deciding metric, failed by a
// regression and in error if it was not decided, because CI systems show either as
// not passed. Advisory metrics are skipped tests unless they pass. The error is the
// writer's.
func JUnit(w io.Writer, r verify.Result) error {
	type message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure,omitempty"`
		Error   *message `xml:"error,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "redline"}
	add := func(name string, v verify.Verdict, advisory bool, text string) {
		c := testcase{Class: "redline", Name: name}
		switch {
		// Skipped is the only state that CI systems show without counting it as a
		// failure.
		case advisory && v != verify.Pass && v != verify.Improvement:
			c.Skipped = &message{Message: "advisory: " + string(v), Text: text}
			suite.Skipped++
		case v == verify.Regression:
			c.Failure = &message{Message: string(v), Text: text}
			suite.Failures++
		case v == verify.Inconclusive && r.Tolerated:
			c.Skipped = &message{Message: string(v), Text: text}
			suite.Skipped++
		case v == verify.Inconclusive || v == verify.Invalid:
			c.Error = &message{Message: string(v), Text: text}
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, c)
		suite.Tests++
	}
	// The session is a case of its own: an invalid one has no metric that could
	// fail.
	add("session", r.Verdict, false, r.Why)
	for _, m := range judged(r) {
		add(m.Name, m.Verdict, m.Advisory && !(m.Guard && m.Verdict == verify.Regression),
			fmt.Sprintf("%s; margin %s; %s", change(m.MetricResult), notation.Bound(m.Margin), m.Why))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// SARIF writes the failures as SARIF 2.1.0 (OASIS), one result per metric. Each is
// located at what was compared, the scenario's file or the loaded URL, because a
// slow-down has no line of its own. about names that. The error is the writer's.
func SARIF(w io.Writer, r verify.Result, about string) error {
	type text struct {
		Text string `json:"text"`
	}
	type rule struct {
		ID    string `json:"id"`
		Short text   `json:"shortDescription"`
	}
	type location struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
	}
	type result struct {
		Rule      string     `json:"ruleId"`
		Level     string     `json:"level"`
		Message   text       `json:"message"`
		Locations []location `json:"locations"`
	}
	rules, results := []rule{}, []result{}
	var at location
	at.Physical.Artifact.URI = reference(about)
	metrics := judged(r)
	if r.Verdict == verify.Invalid {
		metrics = nil // that metrics were not measured follows from why
	}
	failed, open := false, false
	for _, m := range metrics {
		rules = append(rules, rule{m.Name, text{"relative change of " + m.name + " against " + m.base}})
		// SARIF has error, warning and note; what passed is not reported at all.
		level := ""
		switch {
		case m.Verdict == verify.Regression && (m.Guard || !m.Advisory):
			level = "error"
		case m.Verdict == verify.Regression, m.Verdict == verify.Inconclusive && !m.Advisory:
			level = "warning"
		default:
			continue
		}
		failed, open = failed || level == "error", open || m.Verdict == verify.Inconclusive
		results = append(results, result{m.Name, level, text{fmt.Sprintf("%s: %s; margin %s; %s",
			m.Verdict, change(m.MetricResult), notation.Bound(m.Margin), m.Why)}, []location{at}})
	}
	// A regression that no metric shows: side b fails requests. Nor does one that decides show each
	// session that is undecided.
	if r.Verdict == verify.Invalid || r.Verdict == verify.Regression && !failed || r.Verdict == verify.Inconclusive && !open {
		rules = append(rules, rule{"session", text{"whether the comparison could be made"}})
		level := map[bool]string{false: "error", true: "warning"}[r.Tolerated]
		results = append(results, result{"session", level, text{string(r.Verdict) + ": " + r.Why}, []location{at}})
	}
	return inert.JSON(w, map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "redline", "rules": rules}},
			"results": results,
		}},
	})
}

// reference writes a scenario's path, or the URL given instead of one, as a URI
// reference (RFC 3986), without its secrets.
func reference(about string) string {
	if strings.Contains(about, "://") {
		return strings.ReplaceAll(redact.Text(about), redact.Mark, "redacted") // brackets are for no URI
	}
	// A path with a space or a # would otherwise not be a URI.
	return (&url.URL{Path: filepath.ToSlash(about)}).String()
}

// Of a workflow command's message and properties; the latter end at a comma or
// a colon.
var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotations writes the failures as workflow commands (::error
// title=...::message), which common CI systems show next to a change. The error is
// the writer's.
func Annotations(w io.Writer, r verify.Result) error {
	var b strings.Builder
	command := func(level, title, text string) {
		inert.Fprintf(&b, "::%s title=%s::%s\n", level, escapeProperty.Replace("redline "+title), escapeMessage.Replace(inert.Lines(text)))
	}
	switch r.Verdict {
	case verify.Regression:
		command("error", "regression", r.Why)
	case verify.Inconclusive:
		command("warning", string(r.Verdict), r.Why)
	case verify.Invalid:
		command("error", string(r.Verdict), r.Why)
	}
	for _, m := range judged(r) {
		if m.Verdict == verify.Regression {
			level := "error"
			if m.Advisory && !m.Guard {
				level = "warning"
			}
			command(level, m.Name, fmt.Sprintf("%s; margin %s", change(m.MetricResult), notation.Bound(m.Margin)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
