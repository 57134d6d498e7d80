package redact

import "strings"

// hiddenConstant replaces a string constant, hiddenNumber in that
// of a number.
const (
	hiddenConstant = "'…'"
	hiddenNumber   = "…"
)

// fewestOfNumber is how many digits a number of an SQL text must have to be taken
// for data; those below are limits, positions and the sizes of types.
const fewestOfNumber = 4

// SQL hides what an SQL text holds in addition to SQL: string constants of all forms
// (”, E”, dollar quotes), numbers of four digits and more, and comments, in
// which tools put whatever they know. Names and parameters ($1) stay. It reports
// whether there was a constant.
//
// Hazard: whether a backslash escapes in a plain constant is a setting that a
// text does not show, and the tag of a dollar quote is easily mistaken. Where
// the end of a constant is in doubt, all that follows is hidden with it.
func SQL(text string) (clean string, constants bool) {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + 1
		switch rest := text[i:]; {
		case rest[0] == '\'':
			constants = true
			b.WriteString(hiddenConstant)
			n := quoted(rest, '\'')
			if strings.Contains(rest[:n], `\`) {
				return b.String(), true
			}
			i += n
			continue
		case rest[0] == '$' && dollarQuoted(rest):
			b.WriteString(hiddenConstant)
			return b.String(), true
		case rest[0] == '"':
			end = i + quoted(rest, '"')
		case strings.HasPrefix(rest, "--"):
			line := strings.IndexByte(rest, '\n')
			if line < 0 {
				return b.String(), constants
			}
			i += line
			continue
		case strings.HasPrefix(rest, "/*"):
			i += len(rest) - len(AfterComment(rest))
			continue
		case digit(rest[0]):
			n := numberLen(rest)
			if n >= fewestOfNumber {
				constants = true
				b.WriteString(hiddenNumber)
				i += n
				continue
			}
			end = i + n
		case rest[0] == '$' || nameByte(rest[0]):
			end = i + nameLen(rest)
		}
		b.WriteString(text[i:end])
		i = end
	}
	return b.String(), constants
}

// numberLen is the length of the number that text begins with.
func numberLen(text string) int {
	n := 0
	for n < len(text) && (digit(text[n]) || text[n] == '.' || nameByte(text[n])) {
		n++
	}
	return n
}

// nameLen is the length of the name or parameter that text begins with, at
// least 1.
func nameLen(text string) int {
	n := 1
	for n < len(text) && (nameByte(text[n]) || digit(text[n]) || text[n] == '$' && text[0] != '$') {
		n++
	}
	return n
}

func nameByte(c byte) bool { return c == '_' || letter(c) || c >= 0x80 }

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

// AfterComment returns what follows the block comment of SQL that a text begins with;
// they nest. It is empty where the comment does not end.
func AfterComment(text string) string {
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
