package database_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/diagnose/passes/database/slow"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
)

// TestStatisticsOfAnotherServer: pg_stat_statements is PostgreSQL's.
func TestStatisticsOfAnotherServer(t *testing.T) {
	const text = "SELECT count(*) FROM lists WHERE status = ?"
	for inner, settles := range map[string]bool{"github.com/microsoft/go-mssqldb.(*Stmt).processQueryResponse": false,
		"github.com/lib/pq.(*conn).recvMessage": true} {
		stack := []string{"internal/poll.runtime_pollWait", "net.(*conn).Read", inner, "database/sql.(*DB).QueryContext", List}
		b := New(8, 181*ms).CPU(2, 0.4, 0.2, 0.05, -1).Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateNetwork, 180*ms, 1, stack...)
		b.Asks(operation.Query, text, int64(b.Requests()), 180*ms, 1, Caller(1, 180*ms, stack[3:]...)).Within(0, 180*ms, 1)
		found := Expect(t, slow.Query, b, "db-slow-query at orders.go:41")
		if len(found) == 1 && has(found[0], "pg_stat_statements") != settles {
			t.Errorf("%s: %v", inner, found[0].Evidence)
		}
	}
}

// TestRemedyOfAnyDatabase: arrays, COPY and unnest are PostgreSQL's, and nobody else can use them.
func TestRemedyOfAnyDatabase(t *testing.T) {
	for name, client := range map[string]struct{ read, exec string }{
		"MySQL":      {"github.com/go-sql-driver/mysql.(*mysqlConn).readPacket", "github.com/go-sql-driver/mysql.(*mysqlConn).Exec"},
		"SQL Server": {"github.com/microsoft/go-mssqldb.(*Stmt).processQueryResponse", "github.com/microsoft/go-mssqldb.(*Stmt).Exec"},
	} {
		service := func(inner string, call ...string) *Builder {
			stack := append([]string{"internal/poll.runtime_pollWait", "net.(*conn).Read", inner}, call...)
			return New(16, 40*ms).CPU(4, 0.8, 0.2, 0.1, -1).Wait(breakdown.StateRunning, 4*ms, 20).
				Wait(breakdown.StateNetwork, 36*ms, 20, append(stack, List)...)
		}
		const query, exec = "database/sql.(*DB).QueryContext", "database/sql.(*DB).ExecContext"
		asked := func(kind operation.Kind, text string) *Builder {
			b := service(client.read, query)
			return b.Asks(kind, text, int64(20*b.Requests()), 18*ms/10, 1, Caller(1, 18*ms/10, query, List)).Within(0, 36*ms, 20)
		}
		for _, c := range []struct {
			b     *Builder
			cause string
		}{
			{service(client.read, query), "db-n-plus-one"}, {service(client.exec, exec), "db-unbatched-write"},
			{asked(operation.Query, "SELECT name FROM items WHERE id = ?"), "db-n-plus-one"},
			{asked(operation.Exec, "INSERT INTO items (name) VALUES (?)"), "db-unbatched-write"},
			{asked(operation.Exec, "UPDATE items SET name = ? WHERE id = ?"), "db-unbatched-write"},
			{asked(operation.Exec, "DELETE FROM items WHERE id = ?"), "db-unbatched-write"},
		} {
			found := Expect(t, database.NPlusOne, c.b, c.cause)
			for _, word := range []string{"ANY(", "COPY", "unnest", "pgx"} {
				if len(found) == 1 && strings.Contains(found[0].Remedy, word) {
					t.Errorf("%s: %s", name, found[0].Remedy)
				}
			}
		}
	}
}
