package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe/postgres/planlog"
	"github.com/redline-go/redline/observe/postgres/server"
	normal "github.com/redline-go/redline/record/statement"
)

// The plans that auto_explain logs are those of the executions themselves, with their
// own values and, with log_analyze, their actual rows. They are read from the server's
// log, from its end when the run began, and need none of the rights of which rights.go
// is wary: nothing is planned for them.

// planLog is auto_explain's log: how to reach it, its format, and how far it had been
// written when the run began. Older entries belong to another run.
type planLog struct {
	files  planlog.Files // nil if it is off or cannot be read
	format planlog.Format
	from   planlog.Mark
}

// fromLog is a statement's plan there.
type fromLog struct {
	planlog.Entry
	seen int // executions that were logged
}

// findPlanLog finds out whether auto_explain is on, and where its plans go.
func (s *Source) findPlanLog(ctx context.Context) error {
	var least, collector, destination string
	var roles, views bool
	err := s.session.Ask(ctx, server.Query{SQL: `SELECT /* redline */ coalesce(current_setting('auto_explain.log_min_duration', true), ''),
		EXISTS (SELECT FROM pg_db_role_setting r, unnest(r.setconfig) c
			WHERE c LIKE 'auto_explain.%' OR c LIKE '%preload_libraries=%auto_explain%'),
		current_setting('logging_collector'), current_setting('log_destination'),
		EXISTS (SELECT FROM pg_extension WHERE extname IN ('pg_store_plans', 'pg_stat_plans'))`,
		Read: server.One(&least, &roles, &collector, &destination, &views)})
	if err != nil && s.session.Conn.IsClosed() {
		return fmt.Errorf("look for auto_explain: %w", err)
	} else if err != nil {
		s.say("auto_explain: state unknown: " + inWords(err))
		return nil
	}
	if views {
		s.say("the plans of pg_store_plans and pg_stat_plans are not read: redline runs EXPLAIN itself, or uses the plans of auto_explain")
	}
	if (least == "" || least == "-1") && !roles {
		return nil
	}
	format := planlog.Stderr
	for _, one := range []planlog.Format{planlog.CSV, planlog.JSON} {
		if strings.Contains(destination, string(one)) && collector == "on" {
			format = one
		}
	}
	s.planLog.format = format
	if format == planlog.Stderr && !strings.Contains(destination, "stderr") {
		s.say("auto_explain is on, but redline did not read its plans: the server logs to " + destination)
		return nil
	}
	return s.openPlanLog(ctx, collector == "on")
}

// openPlanLog finds a way to the log: through the server, else on this host.
func (s *Source) openPlanLog(ctx context.Context, collected bool) error {
	var ways []planlog.Files
	if collected {
		ways = append(ways, served{s.session, s.planLog.format})
	}
	if s.session.CPU != nil && s.session.Owned {
		ways = append(ways, planlog.LocalFiles{PID: int(s.session.PID), Format: s.planLog.format, Collected: collected})
	}
	why := errors.New("the log goes to the server's standard error, which redline cannot read: set logging_collector = on")
	for i, way := range ways {
		name, size, err := way.Current(ctx)
		if err == nil {
			_, err = way.Read(ctx, name, size, 1)
		}
		if err == nil {
			s.planLog.files, s.planLog.from = way, planlog.Mark{Name: name, Offset: size}
			return nil
		}
		if s.session.Conn.IsClosed() {
			return err
		}
		if i == 0 {
			why = err
		}
	}
	text := inWords(why)
	var refusal *pgconn.PgError
	if errors.As(why, &refusal) && refusal.Code == "42501" {
		text += ": run GRANT pg_monitor, pg_read_server_files TO redline's role, and GRANT EXECUTE ON FUNCTION pg_stat_file(text), " +
			"pg_read_binary_file(text, bigint, bigint), pg_ls_dir(text) TO it"
	}
	s.say("auto_explain is on, but redline did not read its plans: " + text)
	return nil
}

// logged returns the plans that auto_explain logged during the run, per statement
// that of the slowest execution. They are joined by the statement's id if it is
// logged, or else by the text without constants.
func (w *watch) logged(ctx context.Context, top []*statement) map[int64]fromLog {
	found := map[int64]fromLog{}
	if w.planLog.files == nil {
		return found
	}
	files := w.planLog.files
	switch way := files.(type) { // of the present session
	case served:
		files = served{w.session, way.format}
	case planlog.LocalFiles:
		way.PID = int(w.session.PID)
		files = way
	}
	pieces, more, err := planlog.Since(ctx, files, w.planLog.from)
	if err != nil {
		w.say("redline did not read auto_explain's plans: " + inWords(err))
		return found
	}
	if more {
		w.say(fmt.Sprintf("auto_explain logged more than %d MB during the run: the plans of the first are used", planlog.MaxLog>>20))
	}
	keys, ids := map[string]int64{}, map[int64]bool{}
	for _, s := range top {
		ids[s.id] = true
		if s.text != "" {
			keys[normal.Key(s.text)] = s.id
		}
	}
	for _, piece := range pieces {
		for _, e := range planlog.Read(piece, w.planLog.format) {
			id, known := e.QueryID, ids[e.QueryID]
			if e.QueryID == 0 {
				id, known = keys[e.Key], keys[e.Key] != 0
			}
			if !known || len(e.Plan) > maxPlan {
				continue
			}
			best := found[id]
			if best.seen == 0 || e.Duration > best.Duration {
				best.Entry = e
			}
			best.seen++
			found[id] = best
		}
	}
	return found
}

// source says where the plan comes from.
func (f fromLog) source() string {
	return fmt.Sprintf("auto_explain: the slowest of %d executions logged, %s", f.seen, notation.Span(1e6*f.Duration))
}

// served are files that the server itself reads for us, with the rights of
// redline's role.
type served struct {
	session *session
	format  planlog.Format
}

// Current queries pg_current_logfile, which is NULL without the logging collector.
func (f served) Current(ctx context.Context) (name string, size int64, err error) {
	var found *string
	err = f.session.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " pg_current_logfile($1)",
		Args: []any{string(f.format)}, Read: server.One(&found)})
	if err == nil && found == nil {
		err = fmt.Errorf("the server names no file of %s", f.format)
	}
	if err != nil {
		return "", 0, err
	}
	err = f.session.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " (pg_stat_file($1)).size",
		Args: []any{*found}, Read: server.One(&size)})
	return *found, size, err
}

// List calls pg_ls_dir, which needs superuser unless it was granted.
func (f served) List(ctx context.Context, dir string) (names []string, err error) {
	err = f.session.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " pg_ls_dir($1)", Args: []any{dir},
		Read: func(rows pgx.Rows) (err error) {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}})
	return names, err
}

// Read calls pg_read_binary_file: bytes, because the log's encoding may differ from the
// database's.
func (f served) Read(ctx context.Context, name string, offset int64, n int) (data []byte, err error) {
	err = f.session.Ask(ctx, server.Query{SQL: "SELECT " + server.Marker + " pg_read_binary_file($1, $2, $3)",
		Args: []any{name, offset, int64(n)}, Read: server.One(&data)})
	return data, err
}
