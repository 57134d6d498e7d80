package driver

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
)

// mapper is GORM's import path. Some remedies have a GORM name of their own.
const mapper = "gorm.io/gorm"

// GORM returns text, the remedy in GORM's terms with its separator, if the
// service is built with GORM; otherwise "".
func GORM(p *diagnose.Pass, text string) string {
	if p.Imports(mapper) {
		return text
	}
	return ""
}

// mappers are the import paths of object mappers, and writing how the names of their functions that write begin.
var (
	mappers = []string{mapper, "github.com/jinzhu/gorm", "xorm.io/xorm", "github.com/go-xorm/xorm", "github.com/uptrace/bun",
		"github.com/go-pg/pg", "entgo.io/ent/dialect/sql/sqlgraph"}
	writing = []string{"Create", "Insert", "Save", "Update", "Delete", "Upsert", "BatchCreate", "(*InsertQuery)", "(*UpdateQuery)",
		"(*DeleteQuery)"}
)

// MapperWrites reports whether a function is one by which an object mapper writes.
func MapperWrites(function string) bool {
	if !slices.ContainsFunc(mappers, func(path string) bool {
		rest, ok := strings.CutPrefix(function, path)
		return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/"))
	}) {
		return false
	}
	_, name := callstack.Split(callstack.Enclosing(function))
	_, method, _ := strings.Cut(name, ").")
	return slices.ContainsFunc(writing, func(verb string) bool { return strings.HasPrefix(name, verb) || strings.HasPrefix(method, verb) })
}
