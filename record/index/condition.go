package index

import (
	"regexp"
	"strings"
)

// operator is how a condition compares.
type operator int

const (
	other    operator = iota
	equal             // =, = ANY of a list
	member            // value = ANY of the column, an array
	ranged            // <, <=, >, >=
	matches           // LIKE
	isNull            // IS NULL
	notNull           // IS NOT NULL
	isTrue            // a boolean column
	isFalse           // NOT of one
	infix             // LIKE '%...', ILIKE
	prefixed          // LIKE 'abc%'
	contains          // @>, &&, @@: an operator of a GIN index
	either            // OR
)

// condition is one of those that a row of a scan must meet.
type condition struct {
	text       string // as printed
	op         operator
	column     string      // unquoted; empty if an expression is compared
	expression string      // as printed, without the table's alias
	function   string      // of the expression, "" for others
	cast       string      // type that the column alone is cast to
	inner      string      // the column within the expression
	list       bool        // equal to any of a list
	sides      []condition // of either
}

// named matches a column as PostgreSQL prints it.
var (
	named  = regexp.MustCompile(`^(?:("(?:[^"]|"")+"|[a-z_][\w$]*)\.)?("(?:[^"]|"")+"|[a-z_][\w$]*)$`)
	called = regexp.MustCompile(`^(?:pg_catalog\.)?([a-z_]\w*)\((.*)\)$`)
	// inside finds the names within an expression, and the parts that are none of them:
	// types, parameters and functions.
	inside = regexp.MustCompile(`::[a-z][\w ]*|\$\d+|'(?:[^']|'')*'|[a-z_]\w*\(|(?:("[^"]+"|[a-z_]\w*)\.)?("[^"]+"|[a-z_]\w*)`)
)

// anyOf is how PostgreSQL prints IN, too.
const anyOf = " = ANY "

// maxConditions bounds how many conditions of one scan are examined.
const maxConditions = 32

// conditions splits a filter, and what brackets within it hold together. alias is the scan's own.
func conditions(filter, alias string) (found []condition) {
	for _, part := range split(bare(filter), " AND ") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if len(found) >= maxConditions {
			break
		}
		if inner := bare(part); len(inner) < len(part) && len(split(inner, " AND ")) > 1 {
			found = append(found, conditions(inner, alias)...)
			continue
		}
		found = append(found, parse(part, alias))
	}
	return found[:min(len(found), maxConditions)]
}

func parse(part, alias string) condition {
	c := condition{text: part}
	text := bare(part)
	if parts := split(text, " OR "); len(parts) > 1 {
		c.op = either
		for _, side := range parts[:min(len(parts), maxConditions)] {
			c.sides = append(c.sides, parse(side, alias))
		}
		return c
	}
	for _, one := range [...]struct {
		suffix string
		op     operator
	}{{" IS NULL", isNull}, {" IS NOT NULL", notNull}, {" IS TRUE", isTrue}} {
		if rest, found := strings.CutSuffix(text, one.suffix); found && c.of(rest, alias) {
			c.op = one.op
			return c
		}
	}
	if rest, found := strings.CutPrefix(text, "NOT "); found && c.of(rest, alias) && c.column != "" {
		c.op = isFalse
		return c
	}
	for _, one := range [...]struct {
		sign string
		op   operator
	}{{anyOf, equal}, {" = ", equal}, {" <= ", ranged}, {" >= ", ranged}, {" < ", ranged}, {" > ", ranged},
		{" ~~* ", infix}, {" ~~ ", matches}, {" @> ", contains}, {" && ", contains}, {" @@ ", contains}} {
		sides := split(text, one.sign)
		if len(sides) != 2 {
			continue
		}
		value, swapped := sides[1], false
		if !c.of(sides[0], alias) {
			swapped = true
			if value = sides[0]; one.op == matches || one.op == infix || one.op == contains || !c.of(sides[1], alias) {
				return c
			}
		}
		if columnWithin(bare(value), alias) != "" {
			return condition{text: part} // compared with another of the same row
		}
		c.op, c.list = one.op, one.sign == anyOf
		switch {
		case c.list && swapped:
			c.op, c.list = member, false
		case c.op == matches:
			c.op = patternOf(value)
		}
		return c
	}
	if named.MatchString(text) && c.of(text, alias) {
		c.op = isTrue
	}
	return c
}

// patternOf classifies the beginning of a LIKE pattern; a parameter is not known.
func patternOf(value string) operator {
	value = strings.TrimLeft(bare(value), "(")
	switch {
	case !strings.HasPrefix(value, "'"):
		return matches
	case strings.HasPrefix(value, "'%"), strings.HasPrefix(value, "'_"):
		return infix
	}
	return prefixed
}

// of reports whether one side of a comparison is the column's, and if so takes it.
func (c *condition) of(side, alias string) bool {
	text := bare(side)
	if c.plain(text, alias) {
		return true
	}
	if at := strings.LastIndex(text, "::"); at > 0 && balanced(text[:at]) && !strings.ContainsAny(text[at:], "'()") {
		inner := condition{}
		if inner.plain(bare(text[:at]), alias) {
			c.cast, c.inner, c.expression = text[at+2:], inner.column, unqualified(text, alias)
			return true
		}
	}
	column := columnWithin(text, alias)
	if column == "" {
		return false
	}
	c.inner, c.expression = column, unqualified(text, alias)
	if m := called.FindStringSubmatch(text); m != nil && balanced(m[2]) {
		c.function = m[1]
	}
	return true
}

func (c *condition) plain(text, alias string) bool {
	m := named.FindStringSubmatch(text)
	if m == nil || m[1] != "" && alias != "" && unquote(m[1]) != alias || constantWord(m[2]) {
		return false
	}
	c.column = unquote(m[2])
	return true
}

// constantWord reports whether a word is a keyword of a value and not a column.
func constantWord(text string) bool {
	switch strings.ToUpper(text) {
	case "NULL", "TRUE", "FALSE", "CURRENT_DATE", "CURRENT_USER", "LOCALTIMESTAMP", "CURRENT_TIMESTAMP":
		return true
	}
	return false
}

// columnWithin returns the one column of an expression, else "".
func columnWithin(text, alias string) (column string) {
	for _, m := range inside.FindAllStringSubmatch(text, 32) {
		if m[2] == "" || m[1] != "" && alias != "" && unquote(m[1]) != alias || constantWord(m[2]) {
			continue
		}
		if name := unquote(m[2]); column == "" {
			column = name
		} else if column != name {
			return ""
		}
	}
	return column
}

// unqualified removes the scan's alias from the names of an expression.
func unqualified(text, alias string) string {
	if alias == "" || strings.Contains(text, "'") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, Quote(alias)+".", ""), alias+".", "")
}

// bare removes the brackets that enclose all of a text.
func bare(text string) string {
	for text = strings.TrimSpace(text); len(text) > 1 && text[0] == '(' && text[len(text)-1] == ')' && balanced(text[1:len(text)-1]); {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	return text
}

// balanced reports whether brackets open before they close, and all close.
func balanced(text string) bool {
	depth := 0
	each(text, func(_, at int) bool { depth = at; return at >= 0 })
	return depth == 0
}

// split cuts a text at a separator outside of brackets and quotes.
func split(text, by string) (parts []string) {
	from := 0
	each(text, func(i, depth int) bool {
		if depth == 0 && i >= from && strings.HasPrefix(text[i:], by) {
			parts = append(parts, text[from:i])
			from = i + len(by)
		}
		return true
	})
	return append(parts, text[from:])
}

// each calls f at each byte outside of quotes with the depth of brackets after it,
// until f returns false.
func each(text string, f func(i, depth int) bool) {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			continue
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
		if !f(i, depth) {
			return
		}
	}
}
