package postgres

import (
	"strings"

	"github.com/redline-go/redline/redact"
)

// command is the first word of a text, in lower case.
func command(text string) string {
	text = strings.TrimLeft(withoutComments(text), "( \t\r\n")
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end >= 0 {
		text = text[:end]
	}
	return strings.ToLower(text)
}

// withoutComments cuts comments and blanks that a text begins with. Block
// comments nest in SQL.
func withoutComments(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			text = redact.AfterComment(text)
		default:
			return text
		}
	}
}
