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
	lexer
	out []byte
	// names is set if double quotes enclose names, and columns if they do in lists of columns at least.
	names, columns bool
	clause         string // the last word that begins one, in lower case
	depth, at      int    // of parentheses, now and where the clause began
	table          int    // whether the table of an INSERT INTO comes next, 1, or was there last, 2
	inserted       int    // the depth within the list of an INSERT's columns; 0 outside
}

// withoutConstants returns a statement in one line with ? for each constant and
// parameter, lists of them as one, and without comments. In doubt, quoted text is
// taken for a constant: a lost name costs a join, a kept secret costs more. For the same
// reason nothing is taken from where databases disagree on where a constant ends, as they do
// after a backslash before a quote. Only the beginning of a long statement is taken.
func withoutConstants(text string) string {
	cut := len(text) > longText
	if cut {
		text = text[:longText]
	}
	e := eraser{lexer: lexer{in: text}, out: make([]byte, 0, 256)}
	e.names, e.columns = quoting(text)
	for e.in != "" && len(e.out) < maxShape {
		e.next()
	}
	if e.in != "" || cut || e.lost {
		e.out = append(e.out, "..."...)
	}
	return strings.TrimSpace(string(e.out))
}

func (e *eraser) next() {
	kind, n := e.token()
	token := e.in[:n]
	switch kind {
	case space:
		e.space()
	case constant:
		e.constant()
	case name:
		if e.name(n) {
			e.inserts(false)
			e.out = append(e.out, token...)
		} else {
			kind = constant
			e.constant()
		}
	case word:
		e.out = append(e.out, token...)
	default:
		e.nest(token[0])
		e.out = append(e.out, token...)
	}
	if e.advance(kind, n); kind != word {
		return
	}
	if clauses[e.last] {
		e.clause, e.at = e.last, e.depth
	}
	e.inserts(e.last == "into")
}

// nest notes a byte that is part of nothing longer.
func (e *eraser) nest(c byte) {
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

func (e *eraser) space() {
	if k := len(e.out); k > 0 && e.out[k-1] != ' ' {
		e.out = append(e.out, ' ')
	}
}

// constant writes ? for a constant, and nothing where the list before ends with one.
func (e *eraser) constant() {
	end := strings.TrimRight(string(tail(e.out, 16)), " ")
	if (e.last == "e" || e.last == "b" || e.last == "x" || e.last == "n") && strings.HasSuffix(strings.ToLower(end),
		e.last) && len(e.out) > 0 && letter(e.out[len(e.out)-1]) {
		e.out = e.out[:len(e.out)-1] // the constant's prefix
		end = strings.TrimRight(string(tail(e.out, 16)), " ")
	}
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
	for l := (lexer{in: text}); l.in != ""; {
		if l.in[0] == '`' || l.in[0] == '#' {
			return false, false
		}
		kind, n := l.token()
		switch {
		case l.lost:
			return false, qualified
		case kind == constant && l.in[0] == '$':
			return true, true
		case kind == name && n+1 < len(l.in) && l.in[n] == '.':
			qualified = qualified || l.in[n+1] == '"' || letter(l.in[n+1])
		}
		l.advance(kind, n)
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
	if nameAfter[e.last] && strings.HasSuffix(string(e.out), " ") || n < len(e.in) && e.in[n] == '.' {
		return true
	}
	return len(e.out) > 0 && e.out[len(e.out)-1] == '.'
}

// listed reports whether what follows is the next of the columns that a statement returns, and no argument or operand.
func (e *eraser) listed() bool {
	return (e.clause == "select" || e.clause == "returning") && e.depth == e.at &&
		strings.HasSuffix(strings.TrimRight(string(tail(e.out, 16)), " "), ",")
}
