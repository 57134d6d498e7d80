package statement

import (
	"regexp"
	"slices"
	"strings"
)

// shuffles are functions that return another value for each row, in SQLite, PostgreSQL,
// MySQL and SQL Server.
var shuffles = []string{"random()", "rand()", "gen_random_uuid()", "uuid()", "newid()"}

// Shuffles reports whether a statement sorts its rows first by a random value. No index has
// that order, so all rows of the condition are read and sorted to return any of them.
func Shuffles(text string) bool {
	_, order, ok := strings.Cut(Normal(text), " order by ")
	return ok && slices.ContainsFunc(shuffles, func(f string) bool { return strings.HasPrefix(order, f) })
}

// Ranks reports whether a statement numbers the rows of groups by a window function, as those do that keep the newest of each. All rows
// are numbered before a condition on the number is asked.
func Ranks(text string) bool {
	normal := Normal(text)
	return strings.Contains(normal, "row_number() over (partition by ") || strings.Contains(normal, "rank() over (partition by ")
}

// TakesValues reports whether a statement has a value in it, as a parameter or a constant. The same rows answer every run of one that
// has none, until they change.
func TakesValues(text string) bool { return strings.ContainsAny(Normal(text), "?$") }

// Skips reports whether a statement skips rows by OFFSET and a number. They are read and discarded.
func Skips(text string) bool { return strings.Contains(Normal(text), " offset ?") }

// Lists reports whether a statement takes a list of keys, by IN or by ANY of an array. How many it was given is not
// known: the normal form has one.
func Lists(text string) bool {
	normal := Normal(text)
	return strings.Count(normal, " in (?)") > strings.Count(normal, " not in (?)") || strings.Contains(normal, "= any (?")
}

// Matches reports whether a statement searches by LIKE for a pattern that it is given.
func Matches(text string) bool { return like.MatchString(Normal(text)) }

var like = regexp.MustCompile(` i?like \?`)

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
