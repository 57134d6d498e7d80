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
// value, in that order, and then those by which it sorts. ok is false where that does not follow from the text: it reads several tables,
// or not all of its conditions apply.
func Keys(text string) (table string, columns []string, ok bool) {
	rows := unquoted(Rows(text))
	table, condition, _ := strings.Cut(rows, " where ")
	table, _, _ = strings.Cut(table, " as ")
	if table == "" || strings.ContainsAny(table, " ,(") || strings.Contains(condition, " or ") {
		return "", nil, false
	}
	for part := range strings.SplitSeq(condition, " and ") {
		if m := compared.FindStringSubmatch(part); m != nil {
			columns = append(columns, m[1])
		}
	}
	if len(columns) == 0 {
		return "", nil, false
	}
	_, order, _ := strings.Cut(unquoted(Normal(text)), " order by ")
	for _, end := range ends {
		order, _, _ = strings.Cut(order, end)
	}
	for part := range strings.SplitSeq(order, ", ") {
		m := sorted.FindStringSubmatch(part)
		if m == nil {
			break
		}
		columns = append(columns, m[1])
	}
	return table, columns, true
}
