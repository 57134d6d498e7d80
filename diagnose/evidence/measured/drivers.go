package measured

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
)

// Drivers returns the database drivers on the stacks of the requests and of the CPU
// profile, sorted by name; nil if none was seen.
func (p *Run) Drivers() []callstack.Driver {
	return p.drivers.Get(p.readDrivers)
}

func (p *Run) readDrivers() (found []callstack.Driver) {
	look := func(stack []code.Frame) {
		for _, f := range stack {
			if d := callstack.DriverOf(f.Function); d != "" && !slices.Contains(found, d) {
				found = append(found, d)
			}
		}
	}
	p.stacks(look)
	slices.Sort(found)
	return found
}

// Imports reports whether the target's binary contains a module, in any major version. If
// the binary could not be read, it reports whether stacks show code of the module.
func (p *Run) Imports(module string) bool {
	if modules := p.Record.Run.Target.Modules; len(modules) > 0 {
		return slices.ContainsFunc(modules, func(path string) bool { return path == module || strings.HasPrefix(path, module+"/") })
	}
	for pkg := range p.packages.Get(p.readPackages) {
		if pkg == module || strings.HasPrefix(pkg, module+"/") {
			return true
		}
	}
	return false
}

// MayQuery reports whether the target may use an SQL database: false only if its binary contains no module that
// looks like a driver or what sits on one, or if redline's hooks counted no statement in it, and no stack shows any of that. It errs
// towards true.
func (p *Run) MayQuery() bool {
	for pkg := range p.packages.Get(p.readPackages) {
		if pkg == "database/sql" || ofDatabase(pkg) {
			return true
		}
	}
	if ops := p.Operations(); ops != nil {
		return slices.ContainsFunc(ops.Operations, func(o operation.Operation) bool { return o.Kind.Statement() })
	}
	t := p.Record.Run.Target
	return t.GoVersion == "" || slices.ContainsFunc(t.Modules, ofDatabase)
}

// databaseWords are parts of the module paths of drivers and of what sits on them, as far as these do not contain "sql".
var databaseWords = []string{"sql", "pgx", "lib/pq", "go-pg/", "gorm", "entgo.io", "xorm", "uptrace/bun", "upper/db", "goqu", "squirrel",
	"clickhouse", "snowflake", "duckdb", "godror", "go-ora", "oci8", "ibm_db", "go-hdb", "odbc", "presto", "trino", "spanner", "firebird",
	"cockroach-go", "vertica", "databricks", "dolthub", "avatica"}

// ofDatabase reports whether a module's path looks like that of a driver or of what sits on one.
func ofDatabase(module string) bool {
	module = strings.ToLower(module)
	return slices.ContainsFunc(databaseWords, func(word string) bool { return strings.Contains(module, word) })
}

// readPackages returns the packages of all functions on the stacks.
func (p *Run) readPackages() map[string]bool {
	packages := map[string]bool{}
	p.stacks(func(stack []code.Frame) {
		for _, f := range stack {
			pkg, _ := callstack.Split(f.Function)
			packages[pkg] = true
		}
	})
	return packages
}

// stacks calls look with each stack of the requests and of the CPU profile.
func (p *Run) stacks(look func([]code.Frame)) {
	if p.Anatomy != nil {
		for _, part := range p.Anatomy.All {
			look(part.Stack)
		}
	}
	if prof, err := p.Profile("cpu", "cpu"); err == nil {
		for _, s := range prof.Samples {
			look(s.Stack)
		}
	}
}

// Uses reports whether a driver was seen.
func (p *Run) Uses(d callstack.Driver) bool { return slices.Contains(p.Drivers(), d) }

// UsesOnly reports whether a driver was seen, and no other.
func (p *Run) UsesOnly(d callstack.Driver) bool { return p.Uses(d) && len(p.Drivers()) == 1 }
