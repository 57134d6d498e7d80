package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/lab/micro"
)

// payment is a row of the experiments on batches.
type payment struct {
	ID     int64 `gorm:"primaryKey;autoIncrement:false"`
	UserID int64
	Cents  int64
	Status string
	Note   string
	PaidAt time.Time
}

const (
	paymentTable = `CREATE TABLE IF NOT EXISTS payments (id bigint PRIMARY KEY, user_id bigint NOT NULL,
		cents bigint NOT NULL, status text NOT NULL, note text NOT NULL, paid_at timestamptz NOT NULL);
		TRUNCATE payments`
	// allRows is as many as the claim has, batchRows what it puts into a statement.
	allRows   = 10_000
	batchRows = 1_000
)

var columns = []string{"id", "user_id", "cents", "status", "note", "paid_at"}

func (p payment) values() []any { return []any{p.ID, p.UserID, p.Cents, p.Status, p.Note, p.PaidAt} }

func payments(n int) []payment {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := make([]payment, n)
	for i := range all {
		all[i] = payment{int64(i), int64(i % 977), int64(i%5000) + 1, "captured", fmt.Sprintf("payment %d's note",
			i), first.Add(time.Duration(i) * time.Second)}
	}
	return all
}

// insert writes all rows.
type insert func(ctx context.Context, rows []payment) error

// inserting makes an insert on a connection to the database.
type inserting func(tb testing.TB, dsn string) insert

func mapper(tb testing.TB, dsn string) *gorm.DB {
	db, err := gorm.Open(postgres.New(postgres.Config{Conn: standard(tb, dsn)}), &gorm.Config{Logger: logger.Discard})
	must(tb, err)
	return db
}

func rowByRow(tb testing.TB, dsn string) insert {
	db := mapper(tb, dsn)
	return func(ctx context.Context, rows []payment) error {
		for i := range rows {
			if err := db.WithContext(ctx).Create(&rows[i]).Error; err != nil {
				return err
			}
		}
		return nil
	}
}

func inBatches(tb testing.TB, dsn string) insert {
	db := mapper(tb, dsn)
	return func(ctx context.Context, rows []payment) error {
		return db.WithContext(ctx).CreateInBatches(rows, batchRows).Error
	}
}

// rawRows writes batches as one statement each, its text built by hand.
func rawRows(tb testing.TB, dsn string) insert {
	conn := connect(tb, dsn)
	return func(ctx context.Context, rows []payment) error {
		for batch := range slices.Chunk(rows, batchRows) {
			var text strings.Builder
			text.WriteString("INSERT INTO payments (" + strings.Join(columns, ", ") + ") VALUES ")
			var values []any
			for i, row := range batch {
				if i > 0 {
					text.WriteByte(',')
				}
				n := len(values)
				fmt.Fprintf(&text, "($%d,$%d,$%d,$%d,$%d,$%d)", n+1, n+2, n+3, n+4, n+5, n+6)
				values = append(values, row.values()...)
			}
			if _, err := conn.Exec(ctx, text.String(), values...); err != nil {
				return err
			}
		}
		return nil
	}
}

// unnested writes all rows by one statement whose text does not depend on their number: each
// parameter is a column.
func unnested(tb testing.TB, dsn string) insert {
	conn := connect(tb, dsn)
	const text = `INSERT INTO payments (id, user_id, cents, status, note, paid_at)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[])`
	return func(ctx context.Context, rows []payment) error {
		var ids, users, cents []int64
		var statuses, notes []string
		var times []time.Time
		for _, r := range rows {
			ids, users, cents = append(ids, r.ID), append(users, r.UserID), append(cents, r.Cents)
			statuses, notes, times = append(statuses, r.Status), append(notes, r.Note), append(times, r.PaidAt)
		}
		_, err := conn.Exec(ctx, text, ids, users, cents, statuses, notes, times)
		return err
	}
}

func copied(tb testing.TB, dsn string) insert {
	conn := connect(tb, dsn)
	return func(ctx context.Context, rows []payment) error {
		_, err := conn.CopyFrom(ctx, pgx.Identifier{"payments"}, columns, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
			return rows[i].values(), nil
		}))
		return err
	}
}

// The time of a benchmark's operation is a row's: one side would else take seconds where the
// other takes milliseconds.
func BenchmarkBatches(b *testing.B) { insertRows(b, micro.Of[inserting](rowByRow, inBatches)) }
func BenchmarkRawRows(b *testing.B) { insertRows(b, micro.Of[inserting](rowByRow, rawRows)) }
func BenchmarkUnnest(b *testing.B)  { insertRows(b, micro.Of[inserting](rowByRow, unnested)) }
func BenchmarkCopy(b *testing.B)    { insertRows(b, micro.Of[inserting](rowByRow, copied)) }

func insertRows(b *testing.B, way inserting) {
	dsn := database(b)
	must(b, do(b.Context(), dsn, paymentTable))
	write, rows := way(b, dsn), payments(b.N)
	b.ResetTimer()
	for some := range slices.Chunk(rows, allRows) {
		if err := write(b.Context(), some); err != nil {
			b.Fatal(err)
		}
	}
}

// TestInsertsLeaveTheSameRows: each way leaves in the table what was asked for, the last
// batch included, which is not full.
func TestInsertsLeaveTheSameRows(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	want := payments(batchRows + 234)
	for name, way := range map[string]inserting{
		"row by row": rowByRow, "batches": inBatches, "raw": rawRows, "unnest": unnested, "copy": copied,
	} {
		must(t, do(t.Context(), dsn, paymentTable))
		must(t, way(t, dsn)(t.Context(), slices.Clone(want)))
		found, err := conn.Query(t.Context(), "SELECT * FROM payments ORDER BY id")
		must(t, err)
		got, err := pgx.CollectRows(found, pgx.RowToStructByPos[payment])
		must(t, err)
		same := slices.EqualFunc(got, want, func(a, b payment) bool {
			equal := a.PaidAt.Equal(b.PaidAt)
			a.PaidAt = b.PaidAt
			return equal && a == b
		})
		if !same {
			t.Errorf("%s: %d rows, want %d; or another value", name, len(got), len(want))
		}
	}
}

// TestBatchesFailWhole: of rows that hold a key twice, a way by statements leaves none; row
// by row leaves those before.
func TestBatchesFailWhole(t *testing.T) {
	dsn := database(t)
	conn := connect(t, dsn)
	for name, c := range map[string]struct {
		way  inserting
		left int
	}{
		"row by row": {rowByRow, 10}, "batches": {inBatches, 0}, "raw": {rawRows, 0}, "unnest": {unnested, 0}, "copy": {copied, 0},
	} {
		must(t, do(t.Context(), dsn, paymentTable))
		rows := payments(20)
		rows[10].ID = 0
		if err := c.way(t, dsn)(t.Context(), rows); err == nil {
			t.Errorf("%s: a key came twice, and no error", name)
		}
		var left int
		must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM payments").Scan(&left))
		if left != c.left {
			t.Errorf("%s: %d rows are left, want %d", name, left, c.left)
		}
	}
}
