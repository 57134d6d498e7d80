package postgres

import "strings"

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
			text = afterBlockComment(text)
		default:
			return text
		}
	}
}

func afterBlockComment(text string) string {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return text[i+1:]
		}
	}
	return ""
}
