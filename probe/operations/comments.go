package operations

import "strings"

// dashes takes a comment to the end of the line. In MySQL it is none if no blank follows the dashes, unless the statement would
// begin with them, and in PostgreSQL it ends at a carriage return.
func (l *lexer) dashes() (kind, n int) {
	n = indexOr(l.in, "\n")
	from := indexOr(l.in[:n], "\r")
	if l.begun && len(l.in) > 2 && !blank(l.in[2]) {
		from = 2
	}
	return l.comment(n, from)
}

// hash takes a comment to the end of the line, as in MySQL: in PostgreSQL it is an operator, with which no statement begins.
func (l *lexer) hash() (kind, n int) {
	n = indexOr(l.in, "\n")
	switch {
	case !l.begun:
		return space, n
	case l.in == "#" || l.in[1] == ' ' && l.last == "":
		return l.comment(n, 1)
	}
	l.whole(line, n)
	return other, 1
}

// comment takes n bytes, which from an offset on are a comment for some databases only.
func (l *lexer) comment(n, from int) (kind, size int) {
	if n < len(l.in) && from < n && !plain(l.in[from:n]) {
		return l.doubt(space)
	}
	return space, n
}

// block takes a comment between /* and */. PostgreSQL nests them, and MySQL executes what follows an exclamation mark.
func (l *lexer) block() (kind, n int) {
	n = 2 + afterOr(l.in[2:], "*/")
	if n == len(l.in) {
		return space, n
	}
	body := l.in[2 : n-1] // with the asterisk, as a slash before it begins the next comment
	if strings.HasPrefix(body, "!") || strings.HasPrefix(body, "M!") {
		if l.begun = true; !plain(body) {
			return l.doubt(space)
		}
	}
	if deep := nested(l.in); deep > 0 && deep != n {
		return l.doubt(space)
	}
	return space, n
}

// nested returns the length of the comment that a text begins with if comments nest; 0 if it does not end.
func nested(text string) int {
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
			return i + 1
		}
	}
	return 0
}
