package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/notation"
)

// Markdown writes an answer for a page.
func Markdown(w io.Writer, a *knee.Answer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n**%s**\n\n", escape(a.Header.Target), escape(Headline(a)))
	for _, f := range facts(a) {
		if f[0] == "" {
			fmt.Fprintf(&b, "  %s\n", escape(f[1]))
			continue
		}
		fmt.Fprintf(&b, "- %s: %s\n", f[0], escape(f[1]))
	}
	if len(a.Steps) > 0 {
		fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(stepHead, " | "), strings.Repeat("---|", len(stepHead)))
		for _, s := range a.Steps {
			row := step(s)
			for i := range row {
				row[i] = escape(row[i])
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escape makes text of unknown origin safe in a table cell.
func escape(s string) string { return escapes.Replace(notation.Clean(s)) }

var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "\n", " ")
