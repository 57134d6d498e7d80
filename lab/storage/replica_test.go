package storage

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/redline-go/redline/experiment/servers"
	"github.com/redline-go/redline/lab/micro"
)

// position is one in the primary's write-ahead log, as text; empty is before everything.
type position string

// split reads on a replica what it has, and the rest on the primary. Without a replica all
// goes to the primary.
type split struct{ primary, replica *pgxpool.Pool }

// write sets an account and returns the position from which on the write is to be seen.
func (s split) write(ctx context.Context, id, cents int64) (p position, err error) {
	if _, err := s.primary.Exec(ctx, "UPDATE accounts SET cents = $2 WHERE id = $1", id, cents); err != nil || s.replica == nil {
		return "", err
	}
	// In a statement of its own: within the write's, the commit would be behind it.
	err = s.primary.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&p)
	return p, err
}

// read returns an account as of the position or later. onReplica says where it was read.
//
// Hazard: the position that a replica has reached must be asked for by a statement before
// the one that reads. Within that one it is newer than the snapshot.
func (s split) read(ctx context.Context, id int64, since position) (cents int64, onReplica bool, err error) {
	if s.replica == nil {
		cents, err = poolReader(s.primary)(ctx, id)
		return cents, false, err
	}
	if since == "" {
		cents, err = poolReader(s.replica)(ctx, id)
		return cents, true, err
	}
	var both pgx.Batch
	both.Queue("SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn",
		string(since)).QueryRow(func(r pgx.Row) error { return r.Scan(&onReplica) })
	both.Queue(readAccount, id).QueryRow(func(r pgx.Row) error { return r.Scan(&cents) })
	if err := s.replica.SendBatch(ctx, &both).Close(); err != nil || onReplica {
		return cents, onReplica, err
	}
	cents, err = poolReader(s.primary)(ctx, id)
	return cents, false, err
}

// Each of the writers sets one account of its own, reads it, and reads others.
const (
	writers     = 8
	otherReads  = 8
	firstOthers = 1_000 // accounts from here on keep what they opened with
)

// round has all writers do so once, and returns how many reads of an own write the replica
// was too late for.
func (s split) round(ctx context.Context, cents int64) (late int, err error) {
	group, ctx := errgroup.WithContext(ctx)
	behind := make([]int, writers)
	for w := range int64(writers) {
		group.Go(func() error {
			at, err := s.write(ctx, w, cents)
			if err != nil {
				return err
			}
			got, onReplica, err := s.read(ctx, w, at)
			if err != nil || got != cents {
				return errors.Join(err, fmt.Errorf("account %d holds %d after %d was written", w, got, cents))
			}
			if s.replica != nil && !onReplica {
				behind[w] = 1
			}
			for n := range int64(otherReads) {
				id := firstOthers + w*otherReads + n
				if got, _, err := s.read(ctx, id, ""); err != nil || got != opening(id) {
					return errors.Join(err, fmt.Errorf("account %d holds %d", id, got))
				}
			}
			return nil
		})
	}
	err = group.Wait()
	for _, n := range behind {
		late += n
	}
	return late, err
}

// BenchmarkReplica has eight callers write, read what they wrote, and read eight others: all on the
// primary, or reads on a replica where it has them.
func BenchmarkReplica(b *testing.B) {
	s := micro.Of(onPrimary, withReplica)(b)
	late, rounds := 0, 0
	for b.Loop() {
		rounds++
		n, err := s.round(b.Context(), int64(rounds))
		if err != nil {
			b.Fatal(err)
		}
		late += n
	}
	b.ReportMetric(float64(late)/float64(rounds*writers), "late-reads")
}

func onPrimary(tb testing.TB) split {
	address(tb, servers.Replica) // it runs in both sides: streaming costs the primary, too
	return split{primary: pool(tb, accounts(tb), writers, readAccount)}
}

func withReplica(tb testing.TB) split {
	replica := address(tb, servers.Replica)
	s := split{primary: pool(tb, accounts(tb), writers, readAccount)}
	// The commit returns once the replica has replayed it, and the accounts before it.
	must(tb, do(tb.Context(), with(accounts(tb), "synchronous_commit", "remote_apply"),
		"CREATE TABLE IF NOT EXISTS here (); DROP TABLE here"))
	s.replica = pool(tb, with(replica, "search_path", own.name()), writers, readAccount)
	return s
}

// TestSplitReadsAnswerAlike: the round itself compares what each reads.
func TestSplitReadsAnswerAlike(t *testing.T) {
	defer reset(t)
	for _, s := range []split{onPrimary(t), withReplica(t)} {
		for n := range int64(20) {
			if _, err := s.round(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// reset gives the accounts back that a test wrote.
func reset(t *testing.T) {
	must(t, do(context.Background(), accounts(t), fmt.Sprintf("UPDATE accounts SET cents = 1000 + id WHERE id < %d", firstOthers)))
}

// TestReplicaLags: while the replica replays nothing, it answers with what was there before the
// write, and a read that names the write's position goes to the primary. Once it has caught up, it
// answers such a read itself.
func TestReplicaLags(t *testing.T) {
	s := withReplica(t)
	defer reset(t)
	pause := func(how string) {
		_, err := s.replica.Exec(context.Background(), "SELECT pg_wal_replay_"+how+"()")
		must(t, err)
	}
	pause("pause")
	resumed := false
	defer func() {
		if !resumed {
			pause("resume")
		}
	}()
	// A pause is asked for, and holds from the replica's next record on.
	for state := ""; state != "paused"; {
		_, err := s.primary.Exec(t.Context(), "SELECT pg_logical_emit_message(false, 'lab', 'a record')")
		must(t, err)
		must(t, s.replica.QueryRow(t.Context(), "SELECT pg_get_wal_replay_pause_state()").Scan(&state))
	}
	const id, cents = 7, 123_456
	at, err := s.write(t.Context(), id, cents)
	must(t, err)
	if got, onReplica, err := s.read(t.Context(), id, ""); err != nil || !onReplica || got != opening(id) {
		t.Errorf("the replica that lags: %d, on it %v, %v; want the %d of before", got, onReplica, err, opening(id))
	}
	if got, onReplica, err := s.read(t.Context(), id, at); err != nil || onReplica || got != cents {
		t.Errorf("a read that names its write: %d, on the replica %v, %v", got, onReplica, err)
	}
	pause("resume")
	resumed = true
	must(t, do(t.Context(), with(accounts(t), "synchronous_commit", "remote_apply"), "CREATE TABLE caught_up (); DROP TABLE caught_up"))
	if got, onReplica, err := s.read(t.Context(), id, at); err != nil || !onReplica || got != cents {
		t.Errorf("the replica that caught up: %d, on it %v, %v", got, onReplica, err)
	}
}
