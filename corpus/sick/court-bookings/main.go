// Command court-bookings keeps the bookings of a tennis club's courts.
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/court-bookings/db"
	"github.com/redline-go/redline/corpus/sick/court-bookings/web"
)

//go:embed queries/schema.sql
var schema string

const moment = "2006-01-02T15:04:05Z"

func main() {
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "court-bookings-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	conn, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "club.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(6)
	conn.SetMaxIdleConns(6)
	if _, err := conn.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	queries, err := db.Prepare(ctx, conn)
	if err != nil {
		return err
	}
	if err := season(ctx, conn, queries); err != nil {
		return fmt.Errorf("season: %w", err)
	}

	h := &web.Handler{Queries: queries, Day: func(ctx context.Context, day time.Time) ([]db.BookingsOfDayRow, error) {
		return queries.BookingsOfDay(ctx, day.Format(time.DateOnly))
	}}
	if os.Getenv("FIXED") == "1" {
		h.Day = func(ctx context.Context, day time.Time) ([]db.BookingsOfDayRow, error) {
			return queries.BookingsBetween(ctx, db.BookingsBetweenParams{From: day.Format(moment), To: day.AddDate(0, 0, 1).Format(moment)})
		}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	h.Register(e)
	go func() { <-ctx.Done(); _ = e.Close() }()
	if err := e.Start("127.0.0.1:9962"); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// season books the courts for two years.
func season(ctx context.Context, conn *sql.DB, q *db.Queries) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	q = q.WithTx(tx)
	const members = 300
	for i := int64(1); i <= members; i++ {
		if err := q.CreateMember(ctx, db.Member{ID: i, Email: fmt.Sprintf("m%d@club.example", i),
			Name: fmt.Sprintf("Member %d", i), Grade: i % 4}); err != nil {
			return err
		}
	}
	start := time.Date(2025, 1, 1, 8, 0, 0, 0, time.UTC)
	n := int64(0)
	for day := range 730 {
		for k := range 30 {
			n++
			b := db.CreateBookingParams{CourtID: n%8 + 1, MemberID: n*7%members + 1, Minutes: 45, State: "booked",
				StartsAt: start.AddDate(0, 0, day).Add(time.Duration(k/8*60) * time.Minute).Format(moment)}
			if n%9 == 0 {
				b.State = "cancelled"
			}
			if n%5 == 0 {
				b.Note = sql.NullString{String: "bring the ball machine", Valid: true}
			}
			if _, err := q.CreateBooking(ctx, b); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
