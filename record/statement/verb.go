package statement

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Verb returns the first word of a statement in upper case; "" if it starts with
// anything else, such as a comment.
func Verb(text string) string {
	text = strings.TrimLeft(text, " \t\r\n(")
	i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if i < 0 {
		i = len(text)
	}
	return strings.ToUpper(text[:i])
}

// Writes reports whether a statement changes rows, judging by its verb: a SELECT of a
// function that writes counts as a read.
func Writes(text string) bool { return Change(text) != "" }

// Change returns the verb by which a statement changes rows, in upper case; "" if it changes
// none. After WITH it is the first that changes any, be it that of a table expression or of
// the statement behind them.
func Change(text string) string {
	verb := Verb(text)
	if verb == "WITH" {
		if m := changesWithin.FindStringSubmatch(Normal(text)); m != nil {
			verb = strings.ToUpper(m[1])
		}
	}
	switch verb {
	case "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE":
		return verb
	}
	return ""
}

// changesWithin is a verb where a statement begins after WITH: at the bracket of a table
// expression, or behind the last of them. FOR UPDATE is at neither, and a call of replace()
// has no blank behind its name.
var changesWithin = regexp.MustCompile(`(?:\(|\) )(insert|update|delete|merge|replace) `)

// Table returns the table that a statement is about, in the normal form: the first name after FROM, INTO,
// UPDATE or JOIN; "" if there is none.
func Table(text string) string {
	words := strings.FieldsFunc(Normal(text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(),;", r) })
	for i, word := range words[:max(0, len(words)-1)] {
		switch word {
		case "from", "into", "update", "join":
			if next := strings.Trim(words[i+1], "\"`[]"); next != "only" && next != "select" && next != "?" {
				return next
			}
		}
	}
	return ""
}

// Utility reports whether a statement only begins, ends or marks something, or sets
// or shows a setting.
func Utility(text string) bool {
	switch Verb(text) {
	case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "DEALLOCATE", "DISCARD", "SET",
		"RESET", "SHOW", "CLOSE", "":
		return true
	}
	return false
}

// shuffles are functions that return another value for each row, in SQLite, PostgreSQL,
// MySQL and SQL Server.
var shuffles = []string{"random()", "rand()", "gen_random_uuid()", "uuid()", "newid()"}

// Shuffles reports whether a statement sorts its rows first by a random value. No index has
// that order, so all rows of the condition are read and sorted to return any of them.
func Shuffles(text string) bool {
	_, order, ok := strings.Cut(Normal(text), " order by ")
	return ok && slices.ContainsFunc(shuffles, func(f string) bool { return strings.HasPrefix(order, f) })
}

// Skips reports whether a statement skips rows by OFFSET and a number. They are read and discarded.
func Skips(text string) bool { return strings.Contains(Normal(text), " offset ?") }

// Lists reports whether a statement takes a list of keys, by IN or by ANY of an array. How many it was given is not
// known: the normal form has one.
func Lists(text string) bool {
	normal := Normal(text)
	return strings.Contains(normal, " in (?)") || strings.Contains(normal, "= any (?")
}

// Counts reports whether a statement counts rows and returns one. A window function returns all of them.
func Counts(text string) bool {
	normal := Normal(text)
	return strings.HasPrefix(normal, "select count(") && !strings.Contains(normal, " group by ") && !strings.Contains(normal, " over")
}

// Sums reports whether a statement sums up all rows that it reads: an aggregate or GROUP BY without a condition.
func Sums(text string) bool {
	normal := Normal(text)
	return Verb(normal) == "SELECT" && !Filters(text) && !strings.Contains(normal, " over") &&
		!strings.Contains(normal, " limit ") && (strings.Contains(normal, " group by ") || aggregate.MatchString(normal))
}

// aggregate is a statement whose first result is one of SQL's aggregates.
var aggregate = regexp.MustCompile(`^select (count|sum|avg|total|min|max)\(`)

// Filters reports whether a statement has a condition.
func Filters(text string) bool { return strings.Contains(Normal(text), " where ") }
