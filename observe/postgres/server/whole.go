package server

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Whole holds the figures of the whole server. They are read once a second, because
// backends do not report more often.
//
// All are totals since a reset; nil means unknown.
type Whole struct {
	At Bracketed
	// WAL is the log's position in bytes; nil on a standby, which writes none.
	WAL *float64
	// Timed counts checkpoints due by checkpoint_timeout, Requested those caused by
	// max_wal_size or a command. Write and Sync are their total times in ms.
	Timed, Requested, Write, Sync *float64
	// Blocks of 8 kB written by the checkpointer, by the background writer, and by
	// the backends themselves, which then wait for them.
	ByCheckpointer, ByWriter, ByBackends *float64
	// IO is empty before version 16.
	IO []IORow
}

// IORow is pg_stat_io of one kind of process. Times are in ms.
type IORow struct {
	By         string     // backend_type: "client backend", "autovacuum worker"
	Operations [4]float64 // as IOOps
	Times      [4]float64 // all 0 unless track_io_timing is on
}

// IOOps are the operations of an IORow, in the order of its figures.
var IOOps = [4]string{"read", "write", "extend", "fsync"}

// serverSQL reads the log's position and the checkpoints. Version 17 moved the
// checkpointer's figures to a separate view, and those of backends to pg_stat_io.
func serverSQL(version int) string {
	columns, from := "checkpoints_timed, checkpoints_req, checkpoint_write_time, checkpoint_sync_time, "+
		"buffers_checkpoint, buffers_clean, buffers_backend::float8",
		"pg_stat_bgwriter"
	if version >= 170000 {
		columns = "num_timed, num_requested, write_time, sync_time, buffers_written, buffers_clean, NULL::float8"
		from = "pg_stat_checkpointer, pg_stat_bgwriter"
	}
	return "SELECT /* redline */ statement_timestamp(), clock_timestamp(), " +
		"CASE WHEN pg_is_in_recovery() THEN NULL ELSE (pg_current_wal_lsn() - '0/0')::float8 END, " + columns + " FROM " + from
}

// ioSQL reads pg_stat_io, which came with version 16. Version 18 also counts the
// write-ahead log there, which is left out so that the figures mean the same in all
// versions.
const ioSQL = `SELECT /* redline */ coalesce(backend_type, ''), coalesce(sum(reads), 0)::float8, coalesce(sum(writes), 0)::float8,
	coalesce(sum(extends), 0)::float8, coalesce(sum(fsyncs), 0)::float8,
	coalesce(sum(read_time), 0)::float8, coalesce(sum(write_time), 0)::float8, coalesce(sum(extend_time), 0)::float8,
	coalesce(sum(fsync_time), 0)::float8
	FROM pg_stat_io WHERE object <> 'wal' GROUP BY 1 LIMIT 100`

// ReadWhole reads the figures of the whole server.
func (s *Session) ReadWhole(ctx context.Context) (*Whole, error) {
	w := &Whole{}
	queries := []Query{{serverSQL(s.Version), nil,
		One(&w.At.Before, &w.At.After, &w.WAL, &w.Timed, &w.Requested, &w.Write, &w.Sync, &w.ByCheckpointer, &w.ByWriter, &w.ByBackends)}}
	if s.Version >= 160000 {
		queries = append(queries, Query{ioSQL, nil, w.readIO})
	}
	if err := s.Ask(ctx, queries...); err != nil {
		return nil, fmt.Errorf("read the server's checkpoints and I/O: %w", err)
	}
	return w, nil
}

// readIO reads pg_stat_io, summed per kind of process (PostgreSQL manual, "pg_stat_io").
// From version 17 on the writes of client backends are only there.
func (w *Whole) readIO(rows pgx.Rows) error {
	for rows.Next() {
		var r IORow
		o, t := &r.Operations, &r.Times
		if err := rows.Scan(&r.By, &o[0], &o[1], &o[2], &o[3], &t[0], &t[1], &t[2], &t[3]); err != nil {
			return err
		}
		if r.By == "client backend" {
			w.ByBackends = &r.Operations[1]
		}
		w.IO = append(w.IO, r)
	}
	return rows.Err()
}
