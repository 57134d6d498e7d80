package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/experiment/servers"
	"github.com/redline-go/redline/service/guard"
)

// set holds the servers that the environment did not name.
var set servers.Set

func TestMain(m *testing.M) {
	guard.Main()
	code := m.Run()
	if err := errors.Join(dropShards(), own.drop(), set.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// address returns where a server is, and skips where it is not installed.
func address(tb testing.TB, variable string) string {
	tb.Helper()
	at, err := set.Address(tb.Context(), variable)
	if errors.Is(err, servers.ErrMissing) {
		tb.Skip(err)
	}
	must(tb, err)
	return at
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// own is the schema of this process.
var own schema

type schema struct {
	mu     sync.Mutex
	dsn    string // of the server; empty before the schema is made
	seeded bool
}

// name is another one for each process: a killed one may have left its schema on a server
// that goes on.
func (*schema) name() string { return fmt.Sprintf("redline_lab_%d", os.Getpid()) }

// database returns the DSN of this process's schema, empty at first.
func database(tb testing.TB) string {
	tb.Helper()
	dsn := address(tb, servers.Postgres)
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.dsn == "" {
		must(tb, do(tb.Context(), dsn, "DROP SCHEMA IF EXISTS "+own.name()+" CASCADE; CREATE SCHEMA "+own.name()))
		own.dsn = dsn
	}
	return with(dsn, "search_path", own.name())
}

func (s *schema) drop() error {
	if s.dsn == "" {
		return nil
	}
	return do(context.Background(), s.dsn, "DROP SCHEMA "+s.name()+" CASCADE")
}

// with adds a parameter of the session to a DSN of either form.
func with(dsn, name, value string) string {
	switch {
	case !strings.Contains(dsn, "://"):
		return dsn + " " + name + "=" + value
	case strings.Contains(dsn, "?"):
		return dsn + "&" + name + "=" + value
	}
	return dsn + "?" + name + "=" + value
}

// do runs statements without parameters on a connection of its own.
func do(ctx context.Context, dsn, statements string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statements)
	return err
}

func connect(tb testing.TB, dsn string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), dsn)
	must(tb, err)
	tb.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// pool returns a pgx pool of a size that is connected already, each connection having run the statements
// that take an account's number.
func pool(tb testing.TB, dsn string, size int, statements ...string) *pgxpool.Pool {
	tb.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	must(tb, err)
	config.MaxConns = int32(size)
	p, err := pgxpool.NewWithConfig(tb.Context(), config)
	must(tb, err)
	tb.Cleanup(p.Close)
	must(tb, hold(size, func() (func(), error) {
		c, err := p.Acquire(tb.Context())
		if err != nil {
			return nil, err
		}
		for _, text := range statements {
			if _, err := c.Exec(tb.Context(), text, 0); err != nil {
				return c.Release, err
			}
		}
		return c.Release, nil
	}))
	return p
}

// standard returns a pool of database/sql.
func standard(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	config, err := pgx.ParseConfig(dsn)
	must(tb, err)
	db := stdlib.OpenDB(*config)
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// hold takes n connections of a pool, all at once, and gives them back. A take may fail with a connection
// in hand.
func hold(n int, take func() (giveBack func(), err error)) error {
	var held []func()
	defer func() {
		for _, giveBack := range held {
			giveBack()
		}
	}()
	for range n {
		giveBack, err := take()
		if giveBack != nil {
			held = append(held, giveBack)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// accountRows is how many accounts there are; number i holds opening(i).
const accountRows = 10_000

func opening(i int64) int64 { return 1_000 + i }

// accounts returns the DSN of a schema with the table of accounts, as they were opened.
func accounts(tb testing.TB) string {
	tb.Helper()
	dsn := database(tb)
	own.mu.Lock()
	defer own.mu.Unlock()
	if !own.seeded {
		must(tb, do(tb.Context(), dsn, fmt.Sprintf(`
			CREATE TABLE accounts (id bigint PRIMARY KEY, owner text NOT NULL, cents bigint NOT NULL);
			INSERT INTO accounts SELECT i, 'owner ' || i, 1000 + i FROM generate_series(0, %d) i;
			ANALYZE accounts`, accountRows-1)))
		own.seeded = true
	}
	return dsn
}

// readAccount is the statement of the experiments that read.
const readAccount = "SELECT cents FROM accounts WHERE id = $1"

// reader reads the cents of an account.
type reader func(ctx context.Context, id int64) (cents int64, err error)

func standardReader(db *sql.DB) reader {
	return func(ctx context.Context, id int64) (cents int64, err error) {
		err = db.QueryRowContext(ctx, readAccount, id).Scan(&cents)
		return cents, err
	}
}

func poolReader(p *pgxpool.Pool) reader {
	return func(ctx context.Context, id int64) (cents int64, err error) {
		err = p.QueryRow(ctx, readAccount, id).Scan(&cents)
		return cents, err
	}
}

// burst has callers read at once, each so many accounts in turn, and compares what they get.
func burst(ctx context.Context, callers, each int, read reader) error {
	group, ctx := errgroup.WithContext(ctx)
	for caller := range callers {
		group.Go(func() error {
			for n := range each {
				id := int64((caller*each + n) * 7919 % accountRows)
				cents, err := read(ctx, id)
				if err == nil && cents != opening(id) {
					err = fmt.Errorf("account %d holds %d, not %d", id, cents, opening(id))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
