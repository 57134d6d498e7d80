package statement

import (
	"strings"

	"github.com/redline-go/redline/redact"
)

// scanner cuts a text into tokens, after section 4.1 of PostgreSQL's manual.
type scanner struct {
	rest        string
	quotesNames bool // double quotes enclose names
	tokens      []string
}

const blanks = " \t\r\n\f\v"

// next takes one token from the text; false if nothing is left.
func (s *scanner) next() bool {
	s.rest = strings.TrimLeft(s.rest, blanks)
	if s.rest == "" {
		return false
	}
	switch c := s.rest[0]; {
	case strings.HasPrefix(s.rest, "--"):
		_, s.rest, _ = strings.Cut(s.rest, "\n")
	case strings.HasPrefix(s.rest, "/*"):
		s.rest = redact.AfterComment(s.rest)
	case c == '\'':
		s.constant(0, false)
	case c == '"' && s.quotesNames:
		s.name()
	case c == '"' || c == '`' && !s.quotesNames:
		s.constant(0, true)
	case c == '$':
		s.dollar()
	case c == '?':
		s.take(1, placeholder)
	case number(s.rest) && (c != '.' || !s.operand()):
		s.number()
	case letter(c):
		s.word()
	case (c == ':' || c == '@') && len(s.rest) > 1 && letter(s.rest[1]):
		s.take(1+span(s.rest[1:], inWord), placeholder) // a driver's named parameter
	case strings.HasPrefix(s.rest, "::"):
		s.take(2, "::")
	case (c == '-' || c == '+') && number(strings.TrimLeft(s.rest[1:], blanks)) && !s.operand():
		s.rest = s.rest[1:] // the sign belongs to the constant
	case strings.IndexByte("()[],;.:", c) >= 0:
		s.take(1, s.rest[:1])
	default:
		s.operator()
	}
	return true
}

func (s *scanner) take(n int, token string) {
	s.rest = s.rest[n:]
	s.add(token)
}

// operand reports whether the last token is a value, so that a sign after it is
// an operator.
func (s *scanner) operand() bool {
	if len(s.tokens) == 0 {
		return false
	}
	last := s.tokens[len(s.tokens)-1]
	return last == placeholder || last == ")" || last == "]" || word(last) && !keyword[last] || last[0] == '"'
}

// constant takes a quoted constant that begins at an offset, after its prefix. escapes
// says that a backslash escapes the next character.
func (s *scanner) constant(at int, escapes bool) {
	quote := s.rest[at]
	i := at + 1
	for i < len(s.rest) {
		switch c := s.rest[i]; {
		case c == '\\' && escapes:
			i++
		case c == '\\':
			s.take(len(s.rest), placeholder) // its end is in doubt
			return
		case c == quote && i+1 < len(s.rest) && s.rest[i+1] == quote:
			i++
		case c == quote:
			s.take(i+1, placeholder)
			return
		}
		i++
	}
	s.take(len(s.rest), placeholder)
}

// name takes a quoted name; it drops the quotes if the name needs none.
func (s *scanner) name() {
	end := 1
	for end < len(s.rest) {
		if s.rest[end] == '"' {
			if end+1 == len(s.rest) || s.rest[end+1] != '"' {
				break
			}
			end++
		}
		end++
	}
	if end >= len(s.rest) { // not closed
		s.take(len(s.rest), placeholder)
		return
	}
	inner := s.rest[1:end]
	if inner != "" && letter(inner[0]) && span(inner, inWord) == len(inner) && lower(inner) == inner {
		s.take(end+1, inner)
		return
	}
	if strings.IndexByte(inner, '\'') >= 0 { // more likely a constant of another database
		inner = placeholder
	} else {
		inner = s.rest[:end+1]
	}
	s.take(end+1, inner)
}

// dollar takes a parameter ($1) or a constant in dollar quotes ($$, $tag$).
func (s *scanner) dollar() {
	if n := span(s.rest[1:], digit); n > 0 {
		s.take(1+n, placeholder)
		return
	}
	tag := 1 + span(s.rest[1:], inTag)
	if tag >= len(s.rest) || s.rest[tag] != '$' {
		s.take(1, "$")
		return
	}
	quote := s.rest[:tag+1]
	end := strings.Index(s.rest[len(quote):], quote)
	if end < 0 {
		s.take(len(s.rest), placeholder)
		return
	}
	s.take(end+2*len(quote), placeholder)
}

func (s *scanner) number() {
	n := 0
	for n < len(s.rest) {
		c := s.rest[n]
		exponent := n > 0 && (c == '-' || c == '+') && (s.rest[n-1] == 'e' || s.rest[n-1] == 'E') && !strings.HasPrefix(s.rest, "0x")
		if !digit(c) && !letter(c) && c != '.' && !exponent {
			break
		}
		n++
	}
	s.take(n, placeholder)
}

// word takes a name or a word of SQL, or a constant with a prefix: E”, B”, X”,
// N”, U&”.
func (s *scanner) word() {
	n := span(s.rest, inWord)
	w := lower(s.rest[:n])
	quoted := n < len(s.rest) && s.rest[n] == '\''
	switch {
	case quoted && w == "e":
		s.constant(n, true)
		return
	case quoted && (w == "b" || w == "x" || w == "n"):
		s.constant(n, false)
		return
	case w == "u" && strings.HasPrefix(s.rest[n:], "&'"):
		s.constant(n+1, false)
		return
	case w == "true" || w == "false":
		w = placeholder
	case w == "null" && !endsWith(s.tokens, "is") && !endsWith(s.tokens, "not"):
		w = placeholder
	}
	s.take(n, w)
}

// operator takes the characters of an operator, up to a comment or a sign that
// may belong to a constant.
func (s *scanner) operator() {
	n := 1
	for n < len(s.rest) && strings.IndexByte("<>=~!@#%^&|*/+-", s.rest[n]) >= 0 {
		if c := s.rest[n]; c == '-' || c == '+' || c == '@' || strings.HasPrefix(s.rest[n:], "/*") {
			if !strings.HasPrefix(s.rest[n-1:], "->") && !strings.HasPrefix(s.rest[n:], "->") {
				break
			}
		}
		n++
	}
	s.take(n, s.rest[:n])
}

// span is the length of the prefix of text whose bytes are all in a class.
func span(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

// number reports whether text begins with a number without a sign.
func number(text string) bool {
	return text != "" && (digit(text[0]) || text[0] == '.' && len(text) > 1 && digit(text[1]))
}

// lower is strings.ToLower for ASCII only, as the server folds names.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func letter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80 }
func inWord(c byte) bool { return letter(c) || digit(c) || c == '$' }
func inTag(c byte) bool  { return letter(c) || digit(c) }
