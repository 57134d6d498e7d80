package statement

import (
	"regexp"
	"strings"
)

// ends are the clauses after a statement's condition.
var ends = []string{" group by ", " having ", " order by ", " limit ", " offset ", " for update", " for share", " union "}

// Rows returns which rows of which table a statement reads, in the normal form: what stands between FROM and the clauses that
// group, sort or limit. Statements with the same are about the same rows, as a page and the count of its rows are. "" where there is no
// condition, or a statement within the statement.
func Rows(text string) string {
	normal := Normal(text)
	_, rows, ok := strings.Cut(normal, " from ")
	if !ok || Verb(normal) != "SELECT" || strings.Contains(normal, "(select") {
		return ""
	}
	for _, end := range ends {
		rows, _, _ = strings.Cut(rows, end)
	}
	if !strings.Contains(rows, " where ") {
		return ""
	}
	return rows
}

const column = `(?:[a-z_0-9]+\.)*([a-z_0-9]+)`

var (
	compared = regexp.MustCompile(`^` + column + ` (?:= \?|is null)$`)
	sorted   = regexp.MustCompile(`^` + column + `(?: asc| desc)?$`)
	quoted   = regexp.MustCompile("[\"`] ?([^\"`]*?) ?[\"`]") // the normal form sets MySQL's quotes apart
)

func unquoted(normal string) string { return quoted.ReplaceAllString(normal, "$1") }

// Keys returns the table that a statement reads and the columns that an index for it would have: those that its condition compares with one
// value, in that order, and then those by which it sorts. If it compares none, an index by its order lets it stop after its limit. ok is
// false where that does not follow from the text: it reads several tables, or not all of its conditions apply.
func Keys(text string) (table string, columns []string, ok bool) {
	normal := unquoted(Normal(text))
	_, rows, ok := strings.Cut(normal, " from ")
	if !ok || Verb(normal) != "SELECT" || strings.Contains(normal, "(select") {
		return "", nil, false
	}
	for _, end := range ends {
		rows, _, _ = strings.Cut(rows, end)
	}
	table, condition, _ := strings.Cut(rows, " where ")
	table, _, _ = strings.Cut(table, " as ")
	if table == "" || strings.ContainsAny(table, " ,(") {
		return "", nil, false
	}
	parts, all := conjuncts(condition)
	for _, part := range parts {
		if m := compared.FindStringSubmatch(part); m != nil && all {
			columns = append(columns, m[1])
		}
	}
	limited := strings.Contains(normal, " limit ") && !strings.Contains(normal, " group by ")
	if len(columns) == 0 && !limited {
		return "", nil, false
	}
	columns = append(columns, orderOf(normal)...)
	return table, columns, len(columns) > 0
}

// conjuncts splits a condition at its ANDs, outside of parentheses; all is false if they do not all apply, because an OR joins them.
func conjuncts(condition string) (parts []string, all bool) {
	depth, from := 0, 0
	for i := range len(condition) {
		switch rest := condition[i:]; {
		case rest[0] == '(':
			depth++
		case rest[0] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(rest, " or "):
			return nil, false
		case depth == 0 && strings.HasPrefix(rest, " and "):
			parts, from = append(parts, condition[from:i]), i+len(" and ")
		}
	}
	return append(parts, condition[from:]), depth == 0
}

// orderOf returns the columns that a statement sorts by first, in one direction: an index runs in one.
func orderOf(normal string) (columns []string) {
	_, order, _ := strings.Cut(normal, " order by ")
	for _, end := range ends {
		order, _, _ = strings.Cut(order, end)
	}
	down := false
	for part := range strings.SplitSeq(order, ", ") {
		m, descends := sorted.FindStringSubmatch(part), strings.HasSuffix(part, " desc")
		if m == nil || len(columns) > 0 && descends != down {
			break
		}
		columns, down = append(columns, m[1]), descends
	}
	return columns
}
