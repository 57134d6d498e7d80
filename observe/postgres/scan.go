package postgres

import "strings"

// hidden stands in the place of a literal.
const hidden = "'…'"

// hideLiterals puts a placeholder in the place of each string constant of an
// SQL text and reports whether there was one. Quoted names, comments and
// parameters stay.
//
// Hazard: whether a backslash escapes in a plain constant is a setting that a
// text does not tell, and the tag of a dollar quote is easily mistaken. Where
// the end of a constant is in doubt, all that follows is hidden with it.
func hideLiterals(text string) (clean string, found bool) {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + 1
		switch rest := text[i:]; {
		case rest[0] == '\'':
			found = true
			b.WriteString(hidden)
			n := quoted(rest, '\'')
			if strings.Contains(rest[:n], `\`) {
				return b.String(), true
			}
			i += n
			continue
		case rest[0] == '$' && dollarQuoted(rest):
			b.WriteString(hidden)
			return b.String(), true
		case rest[0] == '"':
			end = i + quoted(rest, '"')
		case strings.HasPrefix(rest, "--"):
			end = i + len(rest)
			if line := strings.IndexByte(rest, '\n'); line >= 0 {
				end = i + line
			}
		case strings.HasPrefix(rest, "/*"):
			end = i + len(rest) - len(afterBlockComment(rest))
		}
		b.WriteString(text[i:end])
		i = end
	}
	return b.String(), found
}

// quoted returns the length of the quoted token that text begins with, doubled
// quotes inside; all of text when it is not closed.
func quoted(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 < len(text) && text[i+1] == quote {
			i++
			continue
		}
		return i + 1
	}
	return len(text)
}

// dollarQuoted reports whether text, which begins with a dollar, begins with
// the opening of a dollar quote ($$, $tag$) and not with a parameter ($1).
func dollarQuoted(text string) bool {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$':
			return true
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c >= 0x80, i > 1 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return false
}

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
