package database_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
)

// A library makes its pool for each request and prepares its tables: those statements go with the pool's
// connections, the request's own stay.
func TestPoolOfEachRequest(t *testing.T) {
	library := []string{"github.com/acme/rules.(*Adapter).open", "github.com/acme/rules.NewAdapter", List}
	query := []string{"net.(*conn).Read", "github.com/lib/pq.(*conn).simpleQuery", "database/sql.(*DB).QueryContext"}
	dial := []string{"net.(*netFD).connect", "github.com/lib/pq.(*Connector).open", "database/sql.(*DB).conn"}
	churn := func(opener ...string) []string {
		b := New(64, 64*ms).CPU(2, 0.6, 0.2, 0.1, 0.2).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateNetwork, 30*ms, 1, slices.Concat(dial, opener, library)...).
			Wait(breakdown.StateNetwork, 20*ms, 4, slices.Concat(query, library)...).
			Wait(breakdown.StateNetwork, 10*ms, 1, slices.Concat(query, []string{List})...)
		found := Expect(t, database.PoolChurn, b.Counter(series.DBSessions, "", b.Requests()), "db-pool-churn at orders.go:41")
		if len(found) != 1 {
			return nil
		}
		return []string{found[0].Remedy, fmt.Sprintf("%.2f", found[0].Share)}
	}
	if got := churn("gorm.io/gorm.Open"); len(got) == 2 && (!strings.Contains(got[0], "empty each time") || got[1] != "0.82") {
		t.Errorf("a pool per request, and 30 and 20 ms of 61: %q", got)
	}
	if got := churn(); len(got) == 2 && (!strings.Contains(got[0], "SetMaxIdleConns") || got[1] != "0.49") {
		t.Errorf("a pool that keeps too few connections: %q", got)
	}
}

// The first statement of a session costs more than its execution, and that goes with the session. Where most
// statements find a session that is in use, little of it does.
func TestFirstStatementsOfSessions(t *testing.T) {
	dial := []string{"net.(*netFD).connect", "github.com/lib/pq.(*Connector).open", "database/sql.(*DB).conn", List}
	query := []string{"net.(*conn).Read", "github.com/lib/pq.(*conn).simpleQuery", "database/sql.(*DB).QueryContext", List}
	churn := func(statements int64) float64 {
		b := New(16, 64*ms).CPU(2, 1.2, 0.2, 0.1, 0.8).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateNetwork, 30*ms, 1, dial...).Wait(breakdown.StateNetwork, 30*ms, 1, query...)
		n := int64(b.Requests())
		b.Statement("SELECT 1", statements*n, 2*ms, 1, 1, "").Counter(series.DBSessions, "", b.Requests())
		found := Expect(t, database.PoolChurn, b, "db-pool-churn at orders.go:41")
		if len(found) != 1 {
			return 0
		}
		return found[0].Share
	}
	if one, ten := churn(1), churn(10); one < ten+0.3 {
		t.Errorf("share %.2f where each statement is the first of its session, %.2f where one in ten is", one, ten)
	}
}
