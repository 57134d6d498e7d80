// Package cast finds the types that a normalised statement lacks. pg_stat_statements replaces constants by parameters, and a
// constant had a type: PostgreSQL cannot plan $1 IS NULL, json_build_object($1, id) or INTERVAL $2 as they stand.
package cast

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs of texts whose parameters lack a type, from appendix A of PostgreSQL's manual.
const (
	syntaxError       = "42601"
	indeterminateType = "42P18"
	undefinedFunction = "42883" // of an operator too
)

var (
	// castable are the types that a message names, by the name in pg_catalog.
	castable = map[string]string{"smallint": "int2", "integer": "int4", "bigint": "int8", "numeric": "numeric", "real": "float4",
		"double precision": "float8", "boolean": "bool", "uuid": "uuid", "date": "date", "interval": "interval", "json": "json",
		"jsonb": "jsonb", "bytea": "bytea", "inet": "inet", "timestamp with time zone": "timestamptz",
		"timestamp without time zone": "timestamp", "character varying": "varchar", "text": "text"}

	// A name in quotes may contain a dollar sign; it is matched so that nothing within it is.
	parameterOrName = regexp.MustCompile(`"[^"]*"|\$[0-9]+`)
	// A question mark in quotes belongs to a name or a constant.
	markOrQuoted = regexp.MustCompile(`"[^"]*"|'[^']*'|\?`)
	// INTERVAL '1 day' is normalised to INTERVAL $1, which is no SQL.
	typeBefore = regexp.MustCompile(`(?i)\b(interval|date|timestamptz|timestamp)\s+(\$[0-9]+)`)

	indeterminate = regexp.MustCompile(`\$([0-9]+)`)
	noOperator    = regexp.MustCompile(`^operator does not exist: (.+) (\S+) (.+)$`)
	endsWith      = regexp.MustCompile(`\$([0-9]+)(?:::pg_catalog\.[a-z0-9]+)?\s*$`)
	beginsWith    = regexp.MustCompile(`^\s*\$([0-9]+)`)
	// SUM(CASE WHEN ... THEN 1 ELSE 0 END) is normalised to branches that are parameters, and those are taken for text.
	noSum  = regexp.MustCompile(`^function (sum|avg)\(text\) does not exist$`)
	branch = regexp.MustCompile(`(?i)\b(?:then|else)\s+\$([0-9]+)`)
)

// Types are the types of a statement's parameters by number, named as in pg_catalog: the server's own types, so that a cast
// runs no code that the statement's author could not run.
type Types map[int]string

// Learn takes from the server's refusal of a text, which Apply returned, what type a parameter needs; false if it says nothing new.
func (types Types) Learn(text string, refusal *pgconn.PgError) bool {
	var parameter, kind string
	switch refusal.Code {
	case syntaxError:
		before := len(types)
		for _, m := range typeBefore.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[2][1:])
			types[n] = strings.ToLower(m[1])
		}
		return len(types) > before
	case indeterminateType:
		if m := indeterminate.FindStringSubmatch(refusal.Message); m != nil {
			parameter, kind = m[1], "text" // what a constant in quotes is without a context
		}
	case undefinedFunction:
		before := len(types)
		for _, n := range summed(text, refusal) {
			types[n] = "int4"
		}
		if len(types) > before {
			return true
		}
		parameter, kind = operand(text, refusal)
	}
	n, err := strconv.Atoi(parameter)
	if err != nil || types[n] == kind {
		return false
	}
	types[n] = kind
	return true
}

// operand finds the parameter on one side of an operator that does not exist, and the type on the other side.
func operand(text string, refusal *pgconn.PgError) (parameter, kind string) {
	m := noOperator.FindStringSubmatch(refusal.Message)
	runes, at := []rune(text), int(refusal.Position)-1
	if m == nil || at < 0 || at+len([]rune(m[2])) > len(runes) {
		return "", ""
	}
	before, after := string(runes[:at]), string(runes[at+len([]rune(m[2])):])
	if p := endsWith.FindStringSubmatch(before); p != nil && castable[m[3]] != "" {
		return p[1], castable[m[3]]
	}
	if p := beginsWith.FindStringSubmatch(after); p != nil && castable[m[1]] != "" {
		return p[1], castable[m[1]]
	}
	return "", ""
}

// summed finds the parameters that are branches of a CASE which a sum of text adds up: they were numbers.
func summed(text string, refusal *pgconn.PgError) (numbers []int) {
	runes, at := []rune(text), int(refusal.Position)-1
	if !noSum.MatchString(refusal.Message) || at < 0 || at >= len(runes) {
		return nil
	}
	argument, depth := string(runes[at:]), 0
	for i, c := range argument {
		if c == '(' {
			depth++
		} else if c == ')' {
			if depth--; depth == 0 {
				argument = argument[:i]
				break
			}
		}
	}
	for _, m := range branch.FindAllStringSubmatch(argument, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// Apply returns the text with its parameters cast.
func (types Types) Apply(text string) string {
	text = typeBefore.ReplaceAllString(text, "$2")
	return parameterOrName.ReplaceAllStringFunc(text, func(token string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "$"))
		if err != nil || types[n] == "" {
			return token
		}
		return token + "::pg_catalog." + types[n]
	})
}

// Number returns a text whose parameters are question marks with numbered ones instead.
func Number(text string) string {
	n := 0
	return markOrQuoted.ReplaceAllStringFunc(text, func(token string) string {
		if token != "?" {
			return token
		}
		n++
		return "$" + strconv.Itoa(n)
	})
}
