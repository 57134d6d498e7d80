package operations

import "strings"

// quote takes what is in quotes.
func (l *lexer) quote() (kind, n int) {
	if kind = constant; l.in[0] == '"' {
		kind = name
	}
	// The character that LIKE is to escape by. MySQL would refuse what it takes for a longer constant.
	if l.last == "escape" && strings.HasPrefix(l.in, `'\'`) && !strings.HasPrefix(l.in, `'\''`) {
		return constant, 3
	}
	n, sure := quoted(l.in)
	if !sure || (l.last == "q" || l.last == "nq") && l.glued == len(l.in) { // Oracle's own quotes: q'[it's]'
		return l.doubt(constant)
	}
	return kind, n
}

// quoted returns the length of what is in quotes at the beginning of a text. sure is false if a backslash stands before a
// quote, which it escapes or not, depending on the database and its settings, or if the quotes may be tripled, as BigQuery's are.
func quoted(text string) (n int, sure bool) {
	quote, odd := text[0], false // number of backslashes before
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			odd = !odd
			continue
		case text[i] != quote:
		case odd:
			return i, false
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1, endsTripled(text, i+1)
		}
		odd = false
	}
	return len(text), true
}

// endsTripled reports whether a constant of n bytes ends there, too, if it is read as one in three quotes.
func endsTripled(text string, n int) bool {
	if n < 4 || text[1] != text[0] || text[2] != text[0] {
		return true
	}
	i := strings.Index(text[3:], text[:3])
	return i < 0 || i+6 == n
}

// dollar takes a parameter ($1). In dollar quotes is a constant of PostgreSQL's, but elsewhere a dollar may begin a name.
func (l *lexer) dollar() (kind, n int) {
	if n := span(l.in[1:], digit); n > 0 {
		return constant, 1 + n
	}
	tag := 1 + span(l.in[1:], func(c byte) bool { return letter(c) || digit(c) })
	if tag < len(l.in) && l.in[tag] == '$' {
		return l.doubt(constant)
	}
	return other, 1
}
