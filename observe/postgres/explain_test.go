package postgres

import "testing"

// Constants whose types only they knew are parameters in pg_stat_statements; the plan is had all the same.
func TestPlansOfUntypedParameters(t *testing.T) {
	server := start(t, nil)
	conn := connectTo(t, server.DSN)
	for _, sql := range []string{"CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
		`CREATE TABLE notes (id bigint PRIMARY KEY, body text, at timestamptz)`} {
		exec(t, conn, sql)
	}
	statements := map[string][]any{
		"SELECT json_build_object('id', id, 'body', body) FROM notes":                                                      nil,
		"SELECT count(*), sum(CASE WHEN id = 1 THEN 1 ELSE 0 END) odd, sum(CASE WHEN id = 2 THEN 1 ELSE 0 END) FROM notes": nil,
		"SELECT count(1) FROM notes WHERE at > now() - INTERVAL '1 day' AND id = $1":                                       {1},
		"SELECT body FROM notes WHERE at > DATE '2020-01-01' AND id > 3":                                                   nil,
		"SELECT id FROM notes WHERE 1 IS NOT NULL AND body = 'x'":                                                          nil,
		`SELECT at AS "a $1" FROM notes WHERE ($1 > 0 AND notes.id = $1) OR $1 IS NULL`:                                    {1},
		"SELECT concat(body, '-', 'x', 5) FROM notes WHERE json_build_array('a', id) IS NULL":                              nil,
	}
	all := stored(t, server.DSN, conn, statements)
	planned := 0
	for _, s := range all.Statements {
		if len(s.Plan) == 0 {
			t.Errorf("%s: %s", s.Text, s.PlanError)
			continue
		}
		planned++
	}
	if planned != len(statements) {
		t.Errorf("%d statements have a plan, want %d", planned, len(statements))
	}
}
