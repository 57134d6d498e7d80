package cast

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestTypesAreTakenFromRefusals(t *testing.T) {
	cases := []struct {
		name, text string
		refusal    pgconn.PgError
		want       string
	}{
		{"no type", "SELECT f($1, $12)", pgconn.PgError{Code: indeterminateType, Message: "could not determine data type of parameter $1"},
			"SELECT f($1::pg_catalog.text, $12)"},
		{"right of the operator", "SELECT é WHERE id = $2", pgconn.PgError{Code: undefinedFunction, Position: 19,
			Message: "operator does not exist: bigint = text"}, "SELECT é WHERE id = $2::pg_catalog.int8"},
		{"left of it", "SELECT $2 = id", pgconn.PgError{Code: undefinedFunction, Position: 11,
			Message: "operator does not exist: text = bigint"}, "SELECT $2::pg_catalog.int8 = id"},
		{"within quotes", `SELECT "a $1", $1`, pgconn.PgError{Code: indeterminateType, Message: "... $1"}, `SELECT "a $1", $1::pg_catalog.text`},
		{"interval", "SELECT interval $1, $2", pgconn.PgError{Code: syntaxError}, "SELECT $1::pg_catalog.interval, $2"},
		{"a sum of branches", "SELECT é, sum(case when (s = $1) then $2 else $3 end) + f(case when a then $4 end)", pgconn.PgError{
			Code: undefinedFunction, Position: 11, Message: "function sum(text) does not exist"},
			"SELECT é, sum(case when (s = $1) then $2::pg_catalog.int4 else $3::pg_catalog.int4 end) + f(case when a then $4 end)"},
		{"another function", "SELECT sun(case when a then $2 end)", pgconn.PgError{Code: undefinedFunction, Position: 8,
			Message: "function sun(text) does not exist"}, ""},
		{"a type of their own", "SELECT a = $1", pgconn.PgError{Code: undefinedFunction, Position: 10,
			Message: "operator does not exist: evil = text"}, ""},
		{"a position beyond the text", "SELECT a = $1", pgconn.PgError{Code: undefinedFunction, Position: 99,
			Message: "operator does not exist: bigint = text"}, ""},
		{"another error", "SELECT a", pgconn.PgError{Code: "42P01", Message: "relation $1 does not exist"}, ""},
	}
	for _, c := range cases {
		types, got := Types{}, ""
		if types.Learn(c.text, &c.refusal) {
			got = types.Apply(c.text)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever a statement's text and the server's message are, a learnt type adds casts and nothing else.
func FuzzLearn(f *testing.F) {
	f.Add("SELECT a = $1", undefinedFunction, "operator does not exist: bigint = text", int32(10))
	f.Add("SELECT f($1)", indeterminateType, "could not determine data type of parameter $1", int32(0))
	f.Add("SELECT sum(case when a then $1 else $2 end)", undefinedFunction, "function sum(text) does not exist", int32(8))
	f.Add("SELECT interval $1", syntaxError, "", int32(0))
	f.Fuzz(func(t *testing.T, text, code, message string, at int32) {
		types := Types{}
		if !types.Learn(text, &pgconn.PgError{Code: code, Message: message, Position: at}) {
			return
		}
		got, want := types.Apply(text), typeBefore.ReplaceAllString(text, "$2")
		for _, kind := range types {
			got = strings.ReplaceAll(got, "::pg_catalog."+kind, "")
			want = strings.ReplaceAll(want, "::pg_catalog."+kind, "")
		}
		if got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}
