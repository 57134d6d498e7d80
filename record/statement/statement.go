// Package statement brings SQL texts to one form, so that the statement of a span is
// found among those that the database counted.
//
// A client's text holds constants, blanks and comments as written; pg_stat_statements
// shows the text of the first call with $1, $2 instead of constants, and distinguishes
// statements by their parse tree, which knows neither case nor layout. The form here is
// close to that tree without a parser: words in lower case, constants and parameters as
// "?", no comments.
//
// The form has no constants, so it may be kept where the text may not.
//
// It understands little of a text: its verb, so whether it writes or is a utility
// command, the table that it is about, and whether it sorts by a random value.
//
// Rejected: PostgreSQL's own parser (libpg_query: cgo, or 10 MB of WebAssembly,
// and a millisecond per text).
package statement

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// maxText is how much of a text is read, in bytes.
const maxText = 64 << 10

// Normal returns the normal form of an SQL text in PostgreSQL's syntax. Lists of
// constants are shortened to one: texts that differ in the number of values in IN (...)
// or of rows after VALUES have one form.
//
// Hazard: whether a backslash escapes in a plain constant is a setting that the text
// does not show. If the end of a constant is in doubt the form ends with it, so that no
// part of a constant is ever taken for SQL.
func Normal(text string) string { return normal(text, true) }

// words are the constants that are words, and signs of constants: PostgreSQL counts statements without them.
var words = regexp.MustCompile(`(?i)\b(?:true|false|null)\b|- ?\?`)

// Counted returns the form under which PostgreSQL's counters keep a statement, given its normal form: without the words true, false
// and null, which say more to a reader than to a comparison. A statement that the service sends with them has this form in common
// with the one that the server counts.
func Counted(form string) string { return Normal(words.ReplaceAllString(form, placeholder)) }

// Foreign returns the form of a text for another database than PostgreSQL. Some quote
// constants as PostgreSQL quotes names, so both are hidden.
func Foreign(text string) string { return normal(text, false) }

// Key returns the key of a text's normal form: 16 hexadecimal digits. Texts that are one
// statement to PostgreSQL have one key; the reverse holds except for shortened lists. It
// is empty if the text holds nothing.
func Key(text string) string {
	form := Normal(text)
	if form == "" {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(form))
	return fmt.Sprintf("%016x", h.Sum64())
}

func normal(text string, quotesNames bool) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	s := scanner{rest: text, quotesNames: quotesNames}
	for s.next() {
	}
	for len(s.tokens) > 0 && s.tokens[len(s.tokens)-1] == ";" {
		s.tokens = s.tokens[:len(s.tokens)-1]
	}
	return layout(s.tokens)
}

// placeholder stands for a constant or a parameter.
const placeholder = "?"

// add appends a token and shortens the lists that it completes.
func (s *scanner) add(token string) {
	t := s.tokens
	switch {
	case token == placeholder && endsWith(t, "(", placeholder, ","):
		s.tokens = t[:len(t)-1]
		return
	case token == ")" && endsWith(t, "(", placeholder, ")", ",", "(", placeholder):
		s.tokens = t[:len(t)-3]
		return
	}
	s.tokens = append(t, token)
}

func endsWith(tokens []string, want ...string) bool {
	if len(tokens) < len(want) {
		return false
	}
	for i, token := range tokens[len(tokens)-len(want):] {
		if token != want[i] {
			return false
		}
	}
	return true
}

// layout writes tokens as people write SQL.
func layout(tokens []string) string {
	var b strings.Builder
	for i, token := range tokens {
		if i > 0 && spaced(tokens[i-1], token) {
			b.WriteByte(' ')
		}
		b.WriteString(token)
	}
	return b.String()
}

func spaced(before, token string) bool {
	switch before {
	case "(", ".", "::", "[":
		return false
	}
	switch token {
	case "::":
		return before == ":" // three colons are a cast and one, in this order
	case ")", ".", ",", "]", "[", ";":
		return false
	case "(":
		// A call's parenthesis follows its name without a blank. SQL's own words are
		// ambiguous, so only operators among them are set apart.
		return !word(before) || keyword[before]
	}
	return true
}

// keyword are the words that are followed by a blank before a parenthesis.
var keyword = map[string]bool{
	"in": true, "values": true, "and": true, "or": true, "not": true, "where": true, "from": true, "select": true,
	"as": true, "on": true, "using": true, "with": true, "exists": true, "over": true, "union": true, "all": true,
	"any": true, "by": true, "set": true, "into": true, "join": true, "case": true, "when": true, "then": true, "else": true,
}

func word(token string) bool { return token != "" && letter(token[0]) }
