// Package db is made from queries/ by the query compiler.
package db

import (
	"context"
	"database/sql"
	"fmt"
)

type DBTX interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func New(db DBTX) *Queries {
	return &Queries{db: db}
}

func Prepare(ctx context.Context, db DBTX) (*Queries, error) {
	q := Queries{db: db}
	var err error
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
		name string
	}{
		{&q.bookingsOfDayStmt, bookingsOfDay, "BookingsOfDay"},
		{&q.bookingsBetweenStmt, bookingsBetween, "BookingsBetween"},
		{&q.memberByEmailStmt, memberByEmail, "MemberByEmail"},
		{&q.upcomingOfMemberStmt, upcomingOfMember, "UpcomingOfMember"},
		{&q.createMemberStmt, createMember, "CreateMember"},
		{&q.createBookingStmt, createBooking, "CreateBooking"},
	} {
		if *s.stmt, err = db.PrepareContext(ctx, s.text); err != nil {
			return nil, fmt.Errorf("error preparing query %s: %w", s.name, err)
		}
	}
	return &q, nil
}

func (q *Queries) exec(ctx context.Context, stmt *sql.Stmt, query string, args ...any) (sql.Result, error) {
	switch {
	case stmt != nil && q.tx != nil:
		return q.tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	case stmt != nil:
		return stmt.ExecContext(ctx, args...)
	default:
		return q.db.ExecContext(ctx, query, args...)
	}
}

func (q *Queries) query(ctx context.Context, stmt *sql.Stmt, query string, args ...any) (*sql.Rows, error) {
	switch {
	case stmt != nil && q.tx != nil:
		return q.tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	case stmt != nil:
		return stmt.QueryContext(ctx, args...)
	default:
		return q.db.QueryContext(ctx, query, args...)
	}
}

func (q *Queries) queryRow(ctx context.Context, stmt *sql.Stmt, query string, args ...any) *sql.Row {
	switch {
	case stmt != nil && q.tx != nil:
		return q.tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
	case stmt != nil:
		return stmt.QueryRowContext(ctx, args...)
	default:
		return q.db.QueryRowContext(ctx, query, args...)
	}
}

type Queries struct {
	db                   DBTX
	tx                   *sql.Tx
	bookingsOfDayStmt    *sql.Stmt
	bookingsBetweenStmt  *sql.Stmt
	memberByEmailStmt    *sql.Stmt
	upcomingOfMemberStmt *sql.Stmt
	createMemberStmt     *sql.Stmt
	createBookingStmt    *sql.Stmt
}

func (q *Queries) WithTx(tx *sql.Tx) *Queries {
	c := *q
	c.db, c.tx = tx, tx
	return &c
}
