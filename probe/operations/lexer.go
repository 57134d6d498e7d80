package operations

import "strings"

// Kinds of tokens.
const (
	other    = iota // one byte
	space           // a blank or a comment
	word            // a name or a keyword
	name            // in double quotes: a name or a constant
	constant        // or a parameter
)

// Texts that some databases read as a whole, and others token by token.
const (
	line    = iota // after #: a comment in MySQL, while PostgreSQL has operators that begin with it
	bracket        // in brackets: a name in SQLite, an index in PostgreSQL
	tick           // in backquotes: a name in MySQL and SQLite
	wholes
)

// lexer cuts a statement into tokens, without knowledge of whose SQL it is. What databases read in different ways is taken only if
// they agree again at its end: else one of them might take the rest for names where another has a constant. There it ends.
type lexer struct {
	in   string
	last string // word, in lower case; "" if a token other than a blank or a name came after it
	// glued is len(in) after that word, and before the byte in front of in.
	glued  int
	before byte
	begun  bool // after the first token that is no blank
	// ends are len(in) where the texts that are read as a whole end. A token across an end is one for some databases only.
	ends [wholes]int
	lost bool // the last token was in doubt: it is the rest of the text
}

// token returns the kind and the length of what is next.
func (l *lexer) token() (kind, n int) {
	kind, n = l.read()
	for _, end := range l.ends {
		if len(l.in) > end && len(l.in)-n < end {
			return l.doubt(kind)
		}
	}
	return kind, n
}

// doubt gives up the rest of the text.
func (l *lexer) doubt(kind int) (as, n int) {
	l.lost = true
	if kind == space {
		return space, len(l.in)
	}
	return constant, len(l.in)
}

// advance goes on after a token.
func (l *lexer) advance(kind, n int) {
	rest := l.in[n:]
	switch kind {
	case word:
		l.last, l.glued = strings.ToLower(l.in[:n]), len(rest)
	case constant, other:
		l.last = ""
	}
	l.begun = l.begun || kind != space
	l.before, l.in = l.in[n-1], rest
}

func (l *lexer) read() (kind, n int) {
	c := l.in[0]
	switch {
	case strings.HasPrefix(l.in, "--"):
		return l.dashes()
	case strings.HasPrefix(l.in, "/*"):
		return l.block()
	case blank(c):
		return space, 1
	case c == '\'' || c == '"':
		return l.quote()
	case c == '$':
		return l.dollar()
	case c == '#':
		return l.hash()
	case c == '?':
		return constant, 1
	case digit(c) || c == '.' && len(l.in) > 1 && digit(l.in[1]) && l.last == "":
		return constant, span(l.in, func(c byte) bool { return digit(c) || letter(c) || c == '.' })
	case letter(c):
		return word, span(l.in, func(c byte) bool { return letter(c) || digit(c) || c == '$' })
	case (c == ':' || c == '@') && len(l.in) > 1 && letter(l.in[1]) && l.before != ':':
		return constant, 1 + span(l.in[1:], func(c byte) bool { return letter(c) || digit(c) })
	case c == '[':
		l.whole(bracket, strings.IndexByte(l.in, ']'))
	case c == '`' && len(l.in) != l.ends[tick]:
		l.whole(tick, 1+strings.IndexByte(l.in[1:], '`'))
	}
	return other, 1
}

// whole notes that the next n bytes may be read as a whole. Without an end they are none.
func (l *lexer) whole(what, n int) {
	if n > 0 {
		l.ends[what] = len(l.in) - n
	}
}
