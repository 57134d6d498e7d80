package storage

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/lab/micro"
)

const (
	// leastReuse and leastHits are the report's thresholds.
	leastReuse = 0.85
	leastHits  = 0.92
)

// reuse is the part of a pool's acquisitions that needed no new connection.
func reuse(s *pgxpool.Stat) float64 {
	return 1 - float64(s.NewConnsCount())/float64(s.AcquireCount())
}

// BenchmarkReuse reads an account: on a connection of its own, or on one from a pool.
func BenchmarkReuse(b *testing.B) {
	read := micro.Of(connectionPerCall, connectionFromPool)(b, accounts(b))
	readInTurn(b, read)
}

func readInTurn(b *testing.B, read reader) {
	id := int64(0)
	for b.Loop() {
		id = (id + 7919) % accountRows
		if cents, err := read(b.Context(), id); err != nil || cents != opening(id) {
			b.Fatalf("account %d holds %d: %v", id, cents, err)
		}
	}
}

func connectionPerCall(_ testing.TB, dsn string) reader {
	return func(ctx context.Context, id int64) (cents int64, err error) {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return 0, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		err = conn.QueryRow(ctx, readAccount, id).Scan(&cents)
		return cents, err
	}
}

func connectionFromPool(tb testing.TB, dsn string) reader {
	return poolReader(pool(tb, dsn, 4, readAccount))
}

// readRanked is a statement whose plan takes a while to find, compared with its execution.
const readRanked = `SELECT a.cents FROM accounts a JOIN accounts b ON b.id = a.id LEFT JOIN accounts c ON c.id = b.id
	WHERE a.id = $1 AND b.owner <> '' AND c.cents >= 0`

// BenchmarkPrepared reads through a join: as text with its value in it, or as a statement that each
// connection has prepared.
func BenchmarkPrepared(b *testing.B) {
	readInTurn(b, micro.Of(asText, prepared)(b, accounts(b)))
}

func asText(tb testing.TB, dsn string) reader {
	return ranked(pool(tb, with(dsn, "default_query_exec_mode", "simple_protocol"), 1, readRanked))
}

func prepared(tb testing.TB, dsn string) reader { return ranked(pool(tb, dsn, 1, readRanked)) }

func ranked(p *pgxpool.Pool) reader {
	return func(ctx context.Context, id int64) (cents int64, err error) {
		err = p.QueryRow(ctx, readRanked, id).Scan(&cents)
		return cents, err
	}
}

func TestReadersAnswerAlike(t *testing.T) {
	dsn := accounts(t)
	for name, way := range map[string]func(testing.TB, string) reader{
		"per call": connectionPerCall, "pool": connectionFromPool, "text": asText, "prepared": prepared,
	} {
		if err := burst(t.Context(), 4, 8, way(t, dsn)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReuseShowsTrouble: the ratio is high for a pool at work, and below the report's threshold
// for one whose connections live too short. A leak shows differently: the ratio stays, and the
// pool stands still.
func TestReuseShowsTrouble(t *testing.T) {
	dsn := accounts(t)
	work := func(p *pgxpool.Pool) {
		t.Helper()
		must(t, burst(t.Context(), 4, 32, poolReader(p)))
	}
	healthy := pool(t, dsn, 4)
	work(healthy)
	if r := reuse(healthy.Stat()); r < leastReuse {
		t.Errorf("a pool at work reuses %.2f", r)
	}

	config, err := pgxpool.ParseConfig(dsn)
	must(t, err)
	config.AfterRelease = func(*pgx.Conn) bool { return false } // as a pool of a moment's lifetime
	churning, err := pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	defer churning.Close()
	work(churning)
	if r := reuse(churning.Stat()); r >= leastReuse {
		t.Errorf("a pool that keeps nothing reuses %.2f", r)
	}

	leaking := pool(t, dsn, 2)
	work(leaking)
	for range 2 {
		c, err := leaking.Acquire(t.Context())
		must(t, err)
		defer c.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := poolReader(leaking)(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a pool without a free connection: %v", err)
	}
	if r := reuse(leaking.Stat()); r < leastReuse {
		t.Errorf("a pool that leaks reuses %.2f: the ratio shows a leak after all", r)
	}
}

// TestPreparedOnce: of the executions on a connection, one had to prepare.
func TestPreparedOnce(t *testing.T) {
	conn := connect(t, accounts(t))
	const times = 100
	for id := range int64(times) {
		var cents int64
		must(t, conn.QueryRow(t.Context(), readRanked, id).Scan(&cents))
	}
	var statements, executions int
	must(t, conn.QueryRow(t.Context(), "SELECT count(*), sum(generic_plans + custom_plans) FROM pg_prepared_statements "+
		"WHERE statement = $1",
		pgx.QueryExecModeExec, readRanked).Scan(&statements, &executions))
	if hits := 1 - float64(statements)/float64(executions); executions != times || hits < leastHits {
		t.Errorf("%d statements prepared for %d executions: %.2f hits", statements, executions, hits)
	}
}

// TestDeadlineReachesServer: a context that ends while a statement runs ends the statement, too,
// and the pool goes on with another connection.
func TestDeadlineReachesServer(t *testing.T) {
	dsn := with(accounts(t), "application_name", "lab_deadline")
	p := pool(t, dsn, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := p.Exec(ctx, "SELECT pg_sleep(3600)"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a statement beyond its deadline: %v", err)
	}
	if err := burst(t.Context(), 1, 1, poolReader(p)); err != nil {
		t.Error(err)
	}
	watch := connect(t, database(t))
	for running := -1; running != 0; {
		if err := watch.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lab_deadline' "+
				"AND query LIKE '%pg_sleep%'").Scan(&running); err != nil {
			t.Fatal(fmt.Errorf("the statement still runs: %w", err))
		}
	}
}
