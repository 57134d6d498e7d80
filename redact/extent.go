package redact

import "strings"

// extent returns how long a value is that a text begins with, and how much of
// its beginning is a quote, which stays. The quote at its end is not counted. A
// list or an object is taken whole. What is cut off is taken to the end.
func extent(text string, p position) (quote, length int) {
	if text == "" {
		return 0, 0
	}
	slashes := 0
	for slashes < len(text) && text[slashes] == '\\' {
		slashes++
	}
	if slashes < len(text) && (text[slashes] == '"' || text[slashes] == '\'') {
		return slashes + 1, quotedTo(text, slashes, p)
	}
	switch text[0] {
	case '`':
		if end := strings.IndexByte(text[1:], '`'); end >= 0 {
			return 1, 1 + end
		}
	case '[', '{':
		if strings.HasPrefix(text, Mark) {
			return 0, len(Mark)
		}
		if strings.HasPrefix(text, "{{") {
			if end := strings.Index(text, "}}"); end >= 0 {
				return 0, end + 2
			}
		}
		if p.quoted || p.by == ":" {
			return 0, nested(text)
		}
	}
	return 0, bare(text, p)
}

// quotedTo returns where a value in quotes ends: at the same quote behind as many
// backslashes, at its doubling's end in a DSN or SQL.
func quotedTo(text string, slashes int, p position) int {
	quote := text[slashes]
	for i := slashes + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && slashes == 0:
			i++
		case text[i] == '\\':
			n := 0
			for i+n < len(text) && text[i+n] == '\\' {
				n++
			}
			if n == slashes && i+n < len(text) && text[i+n] == quote {
				return i
			}
			if i += n; n > slashes {
				continue // an escaped quote within
			}
			i--
		case text[i] != quote || slashes > 0:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i
		}
	}
	return len(text)
}

// nested returns the length of a list or an object, with quotes inside.
func nested(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// bare returns the length of a value without quotes: up to a blank or what
// separates pairs. A quote ends it where it closes what the pair stands in.
func bare(text string, p position) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '&' || c == '<' || c == '>' || c < ' ':
			return i
		case c == ';' || c == '#':
			if i > 0 && p.by != " " {
				return i
			}
		case strings.HasPrefix(text[i:], "%26"):
			if p.by == "%3D" {
				return i
			}
		case c == ',' || c == ')' || c == ']' || c == '}':
			if i+1 == len(text) || p.quoted || strings.IndexByte(" \t\r\n,)]}\"'", text[i+1]) >= 0 {
				return i
			}
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == 'n' || text[i+1] == '\\'):
			return i
		case c == '"' || c == '\'' || c == '`':
			if i+1 == len(text) || strings.IndexByte(" \t\r\n,;:)]}", text[i+1]) >= 0 {
				return i
			}
		}
	}
	return len(text)
}
