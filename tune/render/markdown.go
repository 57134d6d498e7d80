package render

import (
	"io"
	"strings"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/tune"
)

// Markdown writes a result for a change's description: the verdict, the settings, and what
// each is worth. The error is the writer's.
func Markdown(w io.Writer, r tune.Result) error {
	var b strings.Builder
	inert.Fprintf(&b, "### redline tune: %s\n\n%s\n\n", r.Verdict, inert.Block(escaped(r.Why)))
	if r.Verdict == tune.Recommend {
		inert.Fprintf(&b, "```\n%s\n```\n\n", inert.Block(strings.Join(r.Lines, "\n")))
	}
	inert.Fprintf(&b, "Objective: %s. %s.\n", escaped(r.Objective), searched(r))
	if len(r.Worth) > 0 {
		b.WriteString("\n| knob | from | to | alone | after the others |\n|---|---|---|---|---|\n")
		for _, one := range r.Worth {
			inert.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", escaped(one.Knob), escaped(one.From), escaped(one.To),
				interval(one.Alone), interval(one.Last))
		}
	}
	if len(r.Together) > 0 {
		b.WriteString("\n| together | both | beyond each alone |\n|---|---|---|\n")
		for _, two := range r.Together {
			inert.Fprintf(&b, "| %s and %s | %s | %s |\n", escaped(two.A), escaped(two.B), interval(two.Both),
				interval(two.Excess))
		}
	}
	for _, k := range r.Knobs {
		if k.Remark != "" {
			inert.Fprintf(&b, "\n%s: %s\n", escaped(k.Name), escaped(inert.Text(k.Remark)))
		}
	}
	for _, warning := range r.Warnings {
		inert.Fprintf(&b, "\nwarning: %s\n", escaped(inert.Text(warning)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escaped keeps names from being columns or markup.
func escaped(text string) string {
	return strings.NewReplacer("|", "\\|", "`", "'", "<", "&lt;").Replace(text)
}
