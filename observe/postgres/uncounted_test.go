package postgres

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/timebase"
)

// A server without pg_stat_statements plans what the hooks counted, with the rights of its only client's role.
func TestPlansOfCountedStatements(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	for _, sql := range []string{"DROP EXTENSION IF EXISTS pg_stat_statements",
		"CREATE TABLE notes (id bigint PRIMARY KEY, owner int, body text)",
		"INSERT INTO notes SELECT g, g % 100, 'x' FROM generate_series(1, 20000) g", "ANALYZE"} {
		exec(t, conn, sql)
	}
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	explained := func() *operation.ServerPlans {
		ops := &operation.Operations{Operations: []operation.Operation{
			{ID: 1, Kind: operation.Query, Text: `SELECT body AS "a?" FROM notes WHERE owner = ?`},
			{ID: 2, Kind: operation.Exec, Text: "DELETE FROM nothing WHERE id = ?"},
			{ID: 3, Kind: operation.Exec, Text: "VACUUM notes"},
			{ID: 4, Kind: operation.Query, Text: "SELECT id FROM notes WHERE id IN ..."},
			{ID: 5, Kind: operation.HTTP, Text: "GET shop/{}"},
		}}
		Explain(t.Context(), observe.Subject{Clock: clock, DSN: server.DSN}, ops)
		return ops.Postgres
	}
	got := explained()
	if got == nil || got.Why != "" || len(got.Plans) != 2 || got.Trip <= 0 || len(got.Tables) != 1 || got.Planner == nil {
		t.Fatalf("%+v", got)
	}
	root, err := index.Parse(got.Plans[0].Plan)
	if err != nil || len(root.Relations()) != 1 || root.Relations()[0] != "notes" {
		t.Errorf("%s: %v", got.Plans[0].Plan, err)
	}
	if got.Plans[1].Plan != nil || !strings.Contains(got.Plans[1].Error, "does not exist") {
		t.Errorf("%+v", got.Plans[1])
	}
	exec(t, conn, "CREATE ROLE other LOGIN PASSWORD 'o'")
	config := conn.Config()
	second := connectTo(t, dsnOf(config, "other", "o", config.Database, config.Port))
	if got := explained(); got == nil || len(got.Plans) > 0 || !strings.Contains(got.Why, "several roles") {
		t.Errorf("%+v", got)
	}
	exec(t, conn, "CREATE EXTENSION pg_stat_statements")
	if got := explained(); got != nil {
		t.Errorf("the server counts: %+v", got)
	}
	_ = second
}
