package statement

import (
	"regexp"
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

// Reads reports whether a statement returns rows that it reads, judging by its verb, and changes none.
func Reads(text string) bool {
	switch Verb(text) {
	case "SELECT", "VALUES", "TABLE":
		return true
	case "WITH":
		return Change(text) == ""
	}
	return false
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
