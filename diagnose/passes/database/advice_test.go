package database_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/database"
	"github.com/redline-go/redline/record/breakdown"
)

// TestAdviceIsForTheDriver: no advice relies on something that the service does not have.
func TestAdviceIsForTheDriver(t *testing.T) {
	asked := func(stack ...string) *Builder {
		return New(16, 20*time.Millisecond).CPU(4, 1, 0.3, 0.1, 0.3).Wait(breakdown.StateRunning, time.Millisecond, 3).
			Wait(breakdown.StateNetwork, 10*time.Millisecond, 10, stack...)
	}
	pq := asked("internal/poll.(*FD).Read", "github.com/lib/pq.(*conn).recvMessage",
		"github.com/lib/pq.(*conn).prepareTo", "github.com/lib/pq.(*conn).query",
		"database/sql.(*DB).QueryContext", "shop/store.Find@store.go:9")
	gorm := asked("internal/poll.(*FD).Read", "github.com/jackc/pgx/v5/pgconn.(*PgConn).Prepare",
		"github.com/jackc/pgx/v5.(*Conn).Prepare", "github.com/jackc/pgx/v5/stdlib.(*Conn).QueryContext",
		"database/sql.(*DB).QueryContext", "gorm.io/gorm.(*DB).Find", "shop/store.Find@store.go:9")
	own := asked("internal/poll.(*FD).Read", "github.com/jackc/pgx/v5/pgconn.(*PgConn).Prepare", "database/sql.(*DB).prepare",
		"database/sql.(*DB).PrepareContext", "shop/store.Find@store.go:9")
	for _, c := range []struct {
		b         *Builder
		says, not string
	}{
		{pq, "lib/pq prepares every query", "GORM"}, {gorm, "PrepareStmt", "lib/pq"},
		{own, "prepare it once and keep the *sql.Stmt", "exec mode"},
	} {
		found := Expect(t, database.Unprepared, c.b, "db-unprepared at store.go:9")
		if len(found) == 1 && (!strings.Contains(found[0].Remedy, c.says) || strings.Contains(found[0].Remedy, c.not)) {
			t.Errorf("remedy: %s", found[0].Remedy)
		}
	}
}

// TestAdviceIsForTheBinary: the modules of the binary decide, whether seen running or not.
func TestAdviceIsForTheBinary(t *testing.T) {
	asked := func(modules ...string) *Builder {
		return New(16, 20*time.Millisecond).CPU(4, 1, 0.3, 0.1, 0.3).Modules(modules...).Wait(breakdown.StateRunning, time.Millisecond, 3).
			Wait(breakdown.StateNetwork, 10*time.Millisecond, 10, "internal/poll.(*FD).Read",
				"github.com/jackc/pgx/v5/pgconn.(*PgConn).Prepare",
				"github.com/jackc/pgx/v5.(*Conn).Prepare", "database/sql.(*DB).QueryContext", "shop/store.Find@store.go:9")
	}
	for modules, want := range map[string]bool{"gorm.io/gorm": true, "gorm.io/gormother": false, "github.com/jackc/pgx/v5": false} {
		found := Expect(t, database.Unprepared, asked(modules), "db-unprepared at store.go:9")
		if len(found) == 1 && strings.Contains(found[0].Remedy, "GORM") != want {
			t.Errorf("%s: %s", modules, found[0].Remedy)
		}
	}
}
