package operations

import "strings"

// maxShape bounds the text of a shape.
const maxShape = 1024

// shapeOf returns the text that identifies an operation: without the constants of a
// statement and the ids of a path.
func shapeOf(kind uint32, name, more string) string {
	switch kind {
	case Query, Exec, Prepare:
		return withoutConstants(name)
	case Acquire, Transaction:
		return ""
	case HTTP:
		return bound(name) + route(more)
	case Copy:
		return bound(name + more)
	default:
		return bound(name)
	}
}

func bound(text string) string {
	if len(text) > maxShape {
		text = text[:maxShape] + "..."
	}
	return string(append([]byte(nil), text...))
}

// route removes ids from a path: segments with digits, and long ones. A path that ends with "?" has a query.
func route(path string) string {
	const most, longest = 8, 32
	if strings.HasSuffix(path, "?") {
		return route(path[:len(path)-1]) + "?{}"
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		switch {
		case i == most:
			return "/" + strings.Join(segments[:most], "/") + "/..."
		case len(s) > longest || strings.ContainsAny(s, "0123456789@=") && !version(s):
			segments[i] = "{}"
		}
	}
	return "/" + strings.Join(segments, "/")
}

// version reports whether a segment is the version of an API, as v1 is.
func version(s string) bool {
	return len(s) >= 2 && len(s) <= 3 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9'
}

// eraser copies a statement without its constants.
type eraser struct {
	in   string
	out  []byte
	word string // the last one, in lower case
	// names is set if double quotes enclose names, and columns if they do in lists of columns at least.
	names, columns bool
	clause         string // the last word that begins one, in lower case
	depth, at      int    // of parentheses, now and where the clause began
	table          int    // whether the table of an INSERT INTO comes next, 1, or was there last, 2
	inserted       int    // the depth within the list of an INSERT's columns; 0 outside
}

// withoutConstants returns a statement in one line with ? for each constant and
// parameter, lists of them as one, and without comments. In doubt, quoted text is
// taken for a constant: a lost name costs a join, a kept secret costs more. Only the
// beginning of a long statement is taken.
func withoutConstants(text string) string {
	cut := len(text) > longText
	if cut {
		text = text[:longText]
	}
	e := eraser{in: text, out: make([]byte, 0, 256)}
	e.names, e.columns = quoting(text)
	for e.in != "" && len(e.out) < maxShape {
		e.next()
	}
	if e.in != "" || cut {
		e.out = append(e.out, "..."...)
	}
	return strings.TrimSpace(string(e.out))
}

func (e *eraser) next() {
	c := e.in[0]
	switch {
	case strings.HasPrefix(e.in, "--") || c == '#' && e.comment():
		e.skip(indexOr(e.in, "\n"))
	case strings.HasPrefix(e.in, "/*"):
		e.skip(afterOr(e.in[2:], "*/") + 2)
	case blank(c):
		e.skip(1)
	case c == '\'':
		e.constant(literal(e.in, e.word))
	case c == '"':
		if n := quoted(e.in, false); e.name(n) {
			e.inserts(false)
			e.copy(n)
		} else {
			e.constant(n)
		}
	case c == '$':
		e.dollar()
	case c == '?':
		e.constant(1)
	case digit(c) || c == '.' && len(e.in) > 1 && digit(e.in[1]) && e.word == "":
		e.constant(span(e.in, func(c byte) bool { return digit(c) || letter(c) || c == '.' }))
	case letter(c):
		n := span(e.in, func(c byte) bool { return letter(c) || digit(c) || c == '$' })
		e.word = strings.ToLower(e.in[:n])
		if clauses[e.word] {
			e.clause, e.at = e.word, e.depth
		}
		e.inserts(e.word == "into")
		e.copy(n)
	case (c == ':' || c == '@') && len(e.in) > 1 && letter(e.in[1]) && !strings.HasSuffix(string(e.out), ":"):
		e.constant(1 + span(e.in[1:], func(c byte) bool { return letter(c) || digit(c) }))
	default:
		switch c {
		case '(':
			e.depth++
			if e.table == 2 {
				e.inserted = e.depth
			}
		case ')':
			if e.inserted == e.depth {
				e.inserted = 0
			}
			e.depth--
		}
		if e.table = 0; c == '.' {
			e.table = 1 // the name was its schema's
		}
		e.word = ""
		e.copy(1)
	}
}

// inserts notes a word or a name: the table of an INSERT, after which a list in parentheses is that of its columns.
func (e *eraser) inserts(into bool) {
	switch {
	case into:
		e.table = 1
	case e.table == 1:
		e.table = 2
	default:
		e.table = 0
	}
}

func (e *eraser) skip(n int) {
	if n > len(e.in) {
		n = len(e.in)
	}
	e.in = e.in[n:]
	if k := len(e.out); k > 0 && e.out[k-1] != ' ' {
		e.out = append(e.out, ' ')
	}
}

func (e *eraser) copy(n int) {
	e.out = append(e.out, e.in[:n]...)
	e.in = e.in[n:]
}

// constant writes ? for n bytes, and nothing where the list before ends with one.
func (e *eraser) constant(n int) {
	e.in = e.in[n:]
	end := strings.TrimRight(string(tail(e.out, 16)), " ")
	if (e.word == "e" || e.word == "b" || e.word == "x" || e.word == "n") && strings.HasSuffix(strings.ToLower(end),
		e.word) && len(e.out) > 0 && letter(e.out[len(e.out)-1]) {
		e.out = e.out[:len(e.out)-1] // the constant's prefix
		end = strings.TrimRight(string(tail(e.out, 16)), " ")
	}
	e.word = ""
	if before := strings.TrimSuffix(end, ","); before != end && strings.HasSuffix(strings.TrimRight(before, " "), "?") {
		for e.out[len(e.out)-1] != '?' {
			e.out = e.out[:len(e.out)-1]
		}
		return
	}
	e.out = append(e.out, '?')
}

func tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}

// dollar takes a parameter ($1) or a constant in dollar quotes.
func (e *eraser) dollar() {
	if n := span(e.in[1:], digit); n > 0 {
		e.constant(1 + n)
		return
	}
	tag := 1 + span(e.in[1:], func(c byte) bool { return letter(c) || digit(c) })
	if tag >= len(e.in) || e.in[tag] != '$' {
		e.copy(1)
		return
	}
	e.constant(tag + 1 + afterOr(e.in[tag+1:], e.in[:tag+1]))
}

// comment reports whether a # begins one, as in MySQL: in PostgreSQL it is an operator.
func (e *eraser) comment() bool {
	return len(e.out) == 0 || e.in == "#" || e.in[1] == ' ' && e.word == ""
}

// nameAfter are the words after which text in double quotes is a name.
var nameAfter = map[string]bool{"from": true, "join": true, "into": true, "update": true, "table": true, "as": true,
	"only": true, "select": true, "by": true, "with": true}

// clauses are the words that begin a part of a statement.
var clauses = map[string]bool{"select": true, "returning": true, "from": true, "by": true, "where": true, "having": true, "on": true,
	"values": true, "in": true, "set": true, "like": true, "limit": true, "case": true}

// quoting reports what a statement's double quotes enclose. numbered is true if it has a parameter $1 outside of quotes, as
// PostgreSQL's drivers number them, so that all enclose names. MySQL's, where double quotes may enclose a constant, never do,
// but there a name or a comment after # may contain a dollar sign. qualified is true if a name in double quotes qualifies
// another, as in "shop".orders, which a constant cannot; so they enclose names, except where a database takes one that it does
// not know for a constant (SQLite). In doubt both are false.
func quoting(text string) (numbered, qualified bool) {
	for word := ""; text != ""; {
		n := 1
		switch c := text[0]; {
		case c == '`' || c == '#':
			return false, false
		case c == '\'':
			n = literal(text, word)
		case c == '"':
			n = quoted(text, strings.IndexByte(text, '\\') >= 0)
			qualified = qualified || n+1 < len(text) && text[n] == '.' && (text[n+1] == '"' || letter(text[n+1]))
		case letter(c):
			n = span(text, func(c byte) bool { return letter(c) || digit(c) || c == '$' })
			word = strings.ToLower(text[:n])
		case c == '$' && len(text) > 1 && digit(text[1]):
			return true, true
		case strings.HasPrefix(text, "--"):
			n = indexOr(text, "\n")
		case strings.HasPrefix(text, "/*"):
			n = 2 + afterOr(text[2:], "*/")
		}
		text = text[n:]
	}
	return false, qualified
}

// name reports whether the n bytes in double quotes are a name, as in PostgreSQL, and
// not a constant, as they may be in MySQL.
func (e *eraser) name(n int) bool {
	if n < 3 || n > 66 || e.in[n-1] != '"' {
		return false
	}
	if e.names {
		return true
	}
	if span(e.in[1:n-1], func(c byte) bool { return letter(c) || digit(c) }) != n-2 {
		return false
	}
	if e.columns && e.listed() || e.inserted > 0 && e.inserted == e.depth {
		return true
	}
	if nameAfter[e.word] && strings.HasSuffix(string(e.out), " ") || n < len(e.in) && e.in[n] == '.' {
		return true
	}
	return len(e.out) > 0 && e.out[len(e.out)-1] == '.'
}

// listed reports whether what follows is the next of the columns that a statement returns, and no argument or operand.
func (e *eraser) listed() bool {
	return (e.clause == "select" || e.clause == "returning") && e.depth == e.at &&
		strings.HasSuffix(strings.TrimRight(string(tail(e.out, 16)), " "), ",")
}

// literal returns the length of the constant in single quotes that a text begins with. A backslash may escape a quote in it, as in
// MySQL, except where it is the character that LIKE is to escape by.
func literal(text, word string) int {
	if word == "escape" && strings.HasPrefix(text, `'\'`) {
		return 3
	}
	return quoted(text, word == "e" || strings.IndexByte(text, '\\') >= 0)
}

// quoted returns the length of the constant that a text begins with.
func quoted(text string, escapes bool) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && escapes:
			i++
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

func indexOr(text, what string) int {
	if i := strings.Index(text, what); i >= 0 {
		return i
	}
	return len(text)
}

func afterOr(text, what string) int {
	if i := strings.Index(text, what); i >= 0 {
		return i + len(what)
	}
	return len(text)
}

func span(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func digit(c byte) bool { return c >= '0' && c <= '9' }
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
