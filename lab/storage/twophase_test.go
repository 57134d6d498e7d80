package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/experiment/servers"
	"github.com/redline-go/redline/lab/micro"
)

// step is one after which a coordinator may die.
type step int

const (
	begun      step = iota // nothing is prepared
	oneReady               // the first database has prepared
	bothReady              // so has the second
	decided                // the first has committed: the transfer stands
	bothStand              // the second has committed
	posted                 // Redis has it
	closed                 // the first database knows that nothing is left to do
	afterSteps             // no step
)

var errCrash = errors.New("the coordinator dies")

// coordinator moves money from a shard to another and posts it in Redis, all or nothing.
//
// The first shard's transaction holds the decision as a row, so that its commit is the
// decision. Redis cannot prepare: its part is done after the decision, and may be done again.
type coordinator struct {
	from, to *pgx.Conn
	redis    *redisConn
	crash    step // after which it dies; afterSteps for never
}

// shardTables are those of either shard.
const shardTables = `
	CREATE TABLE IF NOT EXISTS purse (id int PRIMARY KEY, cents bigint NOT NULL CHECK (cents >= 0));
	CREATE TABLE IF NOT EXISTS decisions (id text PRIMARY KEY, cents bigint NOT NULL, open boolean NOT NULL);
	TRUNCATE purse, decisions;
	INSERT INTO purse VALUES (1, 1000000000), (2, 0)`

// postings is this process's hash in Redis: a field per transfer, and their total.
func postings() string { return own.name() }

// post counts a transfer once, however often it is asked to.
const post = `if redis.call('HSETNX', KEYS[1], ARGV[1], 1) == 1 then redis.call('HINCRBY', KEYS[1], 'total', ARGV[2]) end return 0`

// transfer is the two-phase commit.
func (c coordinator) transfer(ctx context.Context, id string, cents int64) error {
	steps := []struct {
		on   *pgx.Conn
		text string
	}{
		oneReady: {c.from, fmt.Sprintf(`BEGIN; UPDATE purse SET cents = cents - %d WHERE id = 1;
			INSERT INTO decisions VALUES ('%s', %[1]d, true); PREPARE TRANSACTION '%[2]s'`, cents, id)},
		bothReady: {c.to, fmt.Sprintf(`BEGIN; UPDATE purse SET cents = cents + %d WHERE id = 2; PREPARE TRANSACTION '%s'`, cents, id+second)},
		decided:   {c.from, "COMMIT PREPARED '" + id + "'"},
		bothStand: {c.to, "COMMIT PREPARED '" + id + second + "'"},
		posted:    {},
		closed:    {c.from, "UPDATE decisions SET open = false WHERE id = '" + id + "'"},
	}
	for at, s := range steps {
		var err error
		switch {
		case s.on != nil:
			_, err = s.on.Exec(ctx, s.text)
		case step(at) == posted:
			err = c.post(id, cents)
		}
		if err != nil {
			return errors.Join(err, c.abandon(ctx, id, step(at)))
		}
		if c.crash == step(at) {
			return errCrash
		}
	}
	return nil
}

// second ends the name of what the second shard prepares: names are one server's, whose two
// databases the shards may be.
const second = "/2"

// abandon ends a transfer whose step has failed before the decision. After it, recovery goes on.
func (c coordinator) abandon(ctx context.Context, id string, at step) error {
	if at >= decided {
		return nil
	}
	_, errFrom := c.from.Exec(ctx, "ROLLBACK")
	_, errTo := c.to.Exec(ctx, "ROLLBACK")
	return errors.Join(errFrom, errTo, c.recover(ctx))
}

func (c coordinator) post(id string, cents int64) error {
	_, err := c.redis.do("EVAL", post, "1", postings(), id, strconv.FormatInt(cents, 10))
	return err
}

// recover finishes what a dead coordinator began: what its first shard has not committed is undone, the rest
// is done. It must not run while a coordinator of the same shards lives.
func (c coordinator) recover(ctx context.Context) error {
	ready, err := preparedOn(ctx, c.from)
	if err != nil {
		return err
	}
	for _, id := range ready {
		if _, err := c.from.Exec(ctx, "ROLLBACK PREPARED '"+id+"'"); err != nil {
			return err
		}
	}
	if ready, err = preparedOn(ctx, c.to); err != nil {
		return err
	}
	for _, name := range ready {
		var stands bool
		id := strings.TrimSuffix(name, second)
		if err := c.from.QueryRow(ctx, "SELECT EXISTS (SELECT FROM decisions WHERE id = $1)", id).Scan(&stands); err != nil {
			return err
		}
		end := "ROLLBACK PREPARED '"
		if stands {
			end = "COMMIT PREPARED '"
		}
		if _, err := c.to.Exec(ctx, end+name+"'"); err != nil {
			return err
		}
	}
	return c.repost(ctx)
}

// repost has Redis do what it may not have done.
func (c coordinator) repost(ctx context.Context) error {
	found, err := c.from.Query(ctx, "SELECT id, cents FROM decisions WHERE open")
	if err != nil {
		return err
	}
	type decision struct {
		ID    string
		Cents int64
	}
	open, err := pgx.CollectRows(found, pgx.RowToStructByPos[decision])
	if err != nil {
		return err
	}
	for _, d := range open {
		if err := c.post(d.ID, d.Cents); err != nil {
			return err
		}
		if _, err := c.from.Exec(ctx, "UPDATE decisions SET open = false WHERE id = $1", d.ID); err != nil {
			return err
		}
	}
	return nil
}

// preparedOn lists what a shard has prepared.
func preparedOn(ctx context.Context, shard *pgx.Conn) ([]string, error) {
	found, err := shard.Query(ctx, "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() ORDER BY gid")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowTo[string])
}

// oneTransaction moves the money within one database, and then posts it.
func (c coordinator) oneTransaction(ctx context.Context, id string, cents int64) error {
	if _, err := c.from.Exec(ctx, fmt.Sprintf(`BEGIN; UPDATE purse SET cents = cents - %d WHERE id = 1; UPDATE purse SET cents = cents + %[1]d WHERE id = 2;
		INSERT INTO decisions VALUES ('%s', %[1]d, true); COMMIT`, cents, id)); err != nil {
		return err
	}
	if err := c.post(id, cents); err != nil {
		return err
	}
	_, err := c.from.Exec(ctx, "UPDATE decisions SET open = false WHERE id = '"+id+"'")
	return err
}

// shards are two databases of this process, made once.
var shards struct {
	sync.Mutex
	dsn   string // of the server; empty before they are made
	names []string
}

func shardNames() []string { return []string{own.name() + "_1", own.name() + "_2"} }

// shardDSNs returns the databases with their tables as they were at first.
func shardDSNs(tb testing.TB) (dsns [2]string) {
	tb.Helper()
	server := address(tb, servers.Postgres)
	shards.Lock()
	defer shards.Unlock()
	if shards.dsn == "" {
		shards.dsn = server
		for _, name := range shardNames() {
			must(tb, do(tb.Context(), server, "CREATE DATABASE "+name))
			shards.names = append(shards.names, name)
		}
	}
	for i, name := range shardNames() {
		dsns[i] = with(server, "dbname", name)
		must(tb, do(tb.Context(), dsns[i], shardTables))
	}
	return dsns
}

// dropShards removes the databases, and what a failed test left prepared in them.
func dropShards() (err error) {
	for _, name := range shards.names {
		ctx := context.Background()
		shard, connectErr := pgx.Connect(ctx, with(shards.dsn, "dbname", name))
		if connectErr != nil {
			return connectErr
		}
		left, listErr := preparedOn(ctx, shard)
		for _, id := range left {
			_, rollbackErr := shard.Exec(ctx, "ROLLBACK PREPARED '"+id+"'")
			err = errors.Join(err, rollbackErr)
		}
		err = errors.Join(err, listErr, shard.Close(ctx), do(ctx, shards.dsn, "DROP DATABASE "+name+" WITH (FORCE)"))
	}
	return err
}

func coordinate(tb testing.TB, dsns [2]string, crash step) coordinator {
	return coordinator{connect(tb, dsns[0]), connect(tb, dsns[1]), dialRedis(tb), crash}
}

// BenchmarkTwoPhase moves money and posts it in Redis: within one database, or between two.
func BenchmarkTwoPhase(b *testing.B) {
	c := coordinate(b, shardDSNs(b), afterSteps)
	move, n := micro.Of(coordinator.oneTransaction, coordinator.transfer), 0
	for b.Loop() {
		n++
		if err := move(c, b.Context(), fmt.Sprintf("%s/%d", own.name(), n), 1); err != nil {
			b.Fatal(err)
		}
	}
	_, err := c.redis.do("DEL", postings())
	must(b, err)
}

// moved says where a transfer is seen. Whole is "out, in, posted" or nothing.
func (c coordinator) moved(t *testing.T, cents int64) string {
	t.Helper()
	read := func(shard *pgx.Conn, id int) (n int64) {
		t.Helper()
		must(t, shard.QueryRow(t.Context(), "SELECT cents FROM purse WHERE id = $1", id).Scan(&n))
		return n
	}
	var seen []string
	if read(c.from, 1) == 1_000_000_000-cents {
		seen = append(seen, "out")
	}
	if read(c.to, 2) == cents {
		seen = append(seen, "in")
	}
	count, err := c.redis.do("HGET", postings(), "total")
	must(t, err)
	if count == strconv.FormatInt(cents, 10) {
		seen = append(seen, "posted")
	}
	return strings.Join(seen, ", ")
}

const whole = "out, in, posted"

// TestNothingHalfDone has the coordinator die after each step, with and without a crash of the
// databases. Before recovery the transfer may be half done; after it, it is whole or not there,
// no lock is left, and a second recovery changes nothing.
func TestNothingHalfDone(t *testing.T) {
	dsns := shardDSNs(t)
	for crash, want := range map[step]struct{ before, after string }{
		begun: {"", ""}, oneReady: {"", ""}, bothReady: {"", ""},
		decided: {"out", whole}, bothStand: {"out, in", whole}, posted: {whole, whole}, closed: {whole, whole},
	} {
		for _, server := range []bool{false, true} {
			if server && (os.Getenv(servers.Postgres) != "" || crash != bothReady && crash != decided) {
				continue // somebody else's is not ours to kill; two steps are enough where it is
			}
			shardDSNs(t) // as at first
			dying := coordinate(t, dsns, crash)
			_, err := dying.redis.do("DEL", postings())
			must(t, err)
			const cents = 250
			if err := dying.transfer(t.Context(), "transfer", cents); !errors.Is(err, errCrash) {
				t.Fatalf("step %d: %v", crash, err)
			}
			if got := dying.moved(t, cents); got != want.before {
				t.Errorf("step %d, before recovery: %q, want %q", crash, got, want.before)
			}
			die(dying)
			if server {
				crashServer(t, dsns)
			}
			next := coordinate(t, dsns, afterSteps)
			for range 2 {
				must(t, next.recover(t.Context()))
				if got := next.moved(t, cents); got != want.after {
					t.Errorf("step %d, recovered (server crashed: %v): %q, want %q", crash, server, got, want.after)
				}
			}
			for _, shard := range []*pgx.Conn{next.from, next.to} {
				if left, err := preparedOn(t.Context(), shard); err != nil || len(left) > 0 {
					t.Fatalf("step %d: %v is prepared still, %v", crash, left, err) // its locks would stop the next step
				}
			}
		}
	}
}

// die closes the connections as the end of a process does: without a word.
func die(c coordinator) {
	_ = c.from.PgConn().Conn().Close()
	_ = c.to.PgConn().Conn().Close()
	_ = c.redis.Close()
}

// crashServer kills a process of the server that this one has started, upon which all of it ends and recovers
// from its log.
func crashServer(t *testing.T, dsns [2]string) {
	t.Helper()
	victim, witness := connect(t, dsns[0]), connect(t, dsns[0])
	must(t, syscall.Kill(int(victim.PgConn().PID()), syscall.SIGKILL))
	// Until the server has seen it and ends its other processes, it takes connections, which then end too.
	for witness.Ping(t.Context()) == nil {
	}
	for {
		conn, err := pgx.Connect(t.Context(), dsns[0])
		if err == nil {
			_ = conn.Close(t.Context())
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

// TestTransfersAnswerAlike: both forms move and post the same, and a transfer that a database
// refuses leaves nothing.
func TestTransfersAnswerAlike(t *testing.T) {
	dsns := shardDSNs(t)
	const refused = 2_000_000_000
	c := coordinate(t, dsns, afterSteps)
	_, err := c.redis.do("DEL", postings())
	must(t, err)
	must(t, c.transfer(t.Context(), "between", 100))
	if got := c.moved(t, 100); got != whole {
		t.Errorf("between two databases: %q", got)
	}
	if err := c.transfer(t.Context(), "too much", refused); err == nil {
		t.Error("more than there is was moved")
	}
	if got := c.moved(t, 100); got != whole {
		t.Errorf("after a refused transfer: %q", got)
	}
	shardDSNs(t)
	_, err = c.redis.do("DEL", postings())
	must(t, err)
	c.to = c.from
	must(t, c.oneTransaction(t.Context(), "within", 100))
	if got := c.moved(t, 100); got != whole {
		t.Errorf("within one database: %q", got)
	}
}
