package index

import (
	"strings"
)

// reserved are the words that PostgreSQL takes for a name only in quotes, see
// https://www.postgresql.org/docs/current/sql-keywords-appendix.html, and at the end more of SQLite's
// (https://www.sqlite.org/lang_keywords.html).
const reserved = " all analyse analyze and any array as asc asymmetric authorization binary both case cast check " +
	"collate collation column " +
	"concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp " +
	"current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having " +
	"ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not " +
	"notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar " +
	"some symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window with " +
	"add alter between commit delete drop escape exists index insert nothing set transaction update values "

// Quote writes a name in the form that SQL requires.
func Quote(name string) string {
	plain := name != "" && (name[0] == '_' || name[0] >= 'a' && name[0] <= 'z') &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && !strings.Contains(reserved, " "+name+" ")
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func unquote(name string) string {
	if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
		return strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	}
	return name
}
