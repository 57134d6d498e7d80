package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/record/series"
)

// whole are the figures of the whole server. They are read once a second:
// backends report no oftener than that, so more readings would add nothing.
type whole struct {
	at bracketed
	// wal is nil on a standby, which writes none.
	wal, timed, requested, write, sync, byCheckpointer, byWriter, byBackends *float64
	io                                                                       []ioRow
}

// ioRow is pg_stat_io of one kind of process. Times are in ms.
type ioRow struct {
	by         string
	operations [4]float64 // as ioOps
	times      [4]float64
}

var ioOps = [4]string{"read", "write", "extend", "fsync"}

// serverSQL reads the log's position and the checkpoints. Version 17 moved the
// checkpointer's figures to a view of its own, and those of backends to
// pg_stat_io.
func serverSQL(version int) string {
	columns, from := "checkpoints_timed, checkpoints_req, checkpoint_write_time, checkpoint_sync_time, buffers_checkpoint, buffers_clean, buffers_backend::float8",
		"pg_stat_bgwriter"
	if version >= 170000 {
		columns = "num_timed, num_requested, write_time, sync_time, buffers_written, buffers_clean, NULL::float8"
		from = "pg_stat_checkpointer, pg_stat_bgwriter"
	}
	return "SELECT /* redline */ statement_timestamp(), clock_timestamp(), " +
		"CASE WHEN pg_is_in_recovery() THEN NULL ELSE (pg_current_wal_lsn() - '0/0')::float8 END, " + columns + " FROM " + from
}

// ioSQL reads pg_stat_io, which came with version 16. Version 18 counts the log
// there too, which is left out so that the figures mean the same everywhere.
const ioSQL = `SELECT /* redline */ coalesce(backend_type, ''), coalesce(sum(reads), 0)::float8, coalesce(sum(writes), 0)::float8,
	coalesce(sum(extends), 0)::float8, coalesce(sum(fsyncs), 0)::float8,
	coalesce(sum(read_time), 0)::float8, coalesce(sum(write_time), 0)::float8, coalesce(sum(extend_time), 0)::float8, coalesce(sum(fsync_time), 0)::float8
	FROM pg_stat_io WHERE object <> 'wal' GROUP BY 1 LIMIT 100`

// readWhole asks for the figures of the whole server.
func (s *session) readWhole(ctx context.Context) (*whole, error) {
	w := &whole{}
	queries := []query{{serverSQL(s.version), nil,
		one(&w.at.before, &w.at.after, &w.wal, &w.timed, &w.requested, &w.write, &w.sync, &w.byCheckpointer, &w.byWriter, &w.byBackends)}}
	if s.version >= 160000 {
		queries = append(queries, query{ioSQL, nil, w.readIO})
	}
	if err := s.ask(ctx, queries...); err != nil {
		return nil, fmt.Errorf("read the server's checkpoints and I/O: %w", err)
	}
	return w, nil
}

func (w *whole) readIO(rows pgx.Rows) error {
	for rows.Next() {
		var r ioRow
		o, t := &r.operations, &r.times
		if err := rows.Scan(&r.by, &o[0], &o[1], &o[2], &o[3], &t[0], &t[1], &t[2], &t[3]); err != nil {
			return err
		}
		if r.by == "client backend" {
			w.byBackends = &r.operations[1]
		}
		w.io = append(w.io, r)
	}
	return rows.Err()
}

// deliverWhole hands the server's figures on.
func (w *watch) deliverWhole(r *whole) {
	meter := &w.ledger.meter
	from, to := w.session.clock.bracket(r.at.before, r.at.after)
	at := from + (to-from)/2
	count := func(name, labels string, value *float64, unit float64) {
		if value != nil {
			meter.Count(name, labels, at, *value*unit)
		}
	}
	const ms = float64(time.Millisecond)
	count(series.DBWAL, "", r.wal, 1)
	count(series.DBCheckpoints, "kind=timed", r.timed, 1)
	count(series.DBCheckpoints, "kind=requested", r.requested, 1)
	count(series.DBCheckpointTime, "phase=write", r.write, ms)
	count(series.DBCheckpointTime, "phase=sync", r.sync, ms)
	count(series.DBBuffersWritten, "by=checkpointer", r.byCheckpointer, 1)
	count(series.DBBuffersWritten, "by=bgwriter", r.byWriter, 1)
	count(series.DBBuffersWritten, "by=backend", r.byBackends, 1)
	for _, row := range r.io {
		for i, op := range ioOps {
			labels := series.Labels("by", row.by, "op", op)
			count(series.DBIO, labels, &row.operations[i], 1)
			if w.session.timing {
				count(series.DBIOTime, labels, &row.times[i], ms)
			}
		}
	}
}
