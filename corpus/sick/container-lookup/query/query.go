// Package query puts statements together from conditions.
package query

import (
	"fmt"
	"strings"
)

// Condition compares a column with the nth argument.
type Condition func(column string, n int) string

// Exact takes the argument as it is.
func Exact(column string, n int) string { return fmt.Sprintf("%s = $%d", column, n) }

// Caseless takes what users type in any case.
func Caseless(column string, n int) string { return fmt.Sprintf("upper(%s) = upper($%d)", column, n) }

// Select is a statement in the making.
type Select struct {
	columns, table, order string
	limit                 int
	where                 []string
	args                  []any
}

// From starts a statement.
func From(table string, columns ...string) *Select {
	return &Select{table: table, columns: strings.Join(columns, ", ")}
}

// Where adds a condition; all of them must hold.
func (s *Select) Where(c Condition, column string, value any) *Select {
	s.args = append(s.args, value)
	s.where = append(s.where, c(column, len(s.args)))
	return s
}

// Latest orders by a column, newest first, and bounds the result.
func (s *Select) Latest(column string, limit int) *Select {
	s.order, s.limit = column, limit
	return s
}

// SQL returns the statement and its arguments.
func (s *Select) SQL() (string, []any) {
	var b strings.Builder
	fmt.Fprintf(&b, "SELECT %s FROM %s", s.columns, s.table)
	if len(s.where) > 0 {
		b.WriteString(" WHERE " + strings.Join(s.where, " AND "))
	}
	if s.order != "" {
		fmt.Fprintf(&b, " ORDER BY %s DESC LIMIT %d", s.order, s.limit)
	}
	return b.String(), s.args
}
