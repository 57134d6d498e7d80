package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Queries hold the SQL that depends on the versions of the server and the extension. Each
// contains Marker, which identifies redline's own statements in pg_stat_statements.
type Queries struct {
	// Statements reads the counts without texts; empty when there is no extension.
	Statements string
	// Texts reads the texts of query ids, once per statement.
	Texts string
	// own finds the ids of our own statements, by their comment.
	own string
	// Authors reads texts by the role that ran them: one id may have several.
	Authors string
	keeping string // empty before version 1.9 of the extension
	// Planning says that pg_stat_statements.track_planning is on: planning time is
	// 0 without it, which must not be read as no planning.
	Planning bool
}

// Marker is the comment in each of redline's statements.
const Marker = "/* redline */"

// sessionsSQL reads at most 20,000 sessions, including our own, so that a server with a
// runaway pool cannot fill our memory (PostgreSQL manual, "pg_stat_activity").
//
// Ours is recognised by its pid. Background processes are read for their pids.
// Calling the function below pg_stat_activity avoids that view's joins.
const sessionsSQL = `SELECT /* redline */ pid, pid = pg_backend_pid(),
	backend_type = 'client backend' AND datid = $1 AND application_name <> '` + Application + `',
	coalesce(state, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), coalesce(application_name, ''), backend_start,
	coalesce(extract(epoch FROM clock_timestamp() - backend_start), 0)::float8,
	coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)::float8
	FROM pg_stat_get_activity(NULL) LIMIT 20000`

// DatabaseSQL reads the counters of the database; version 13 counts no sessions. It calls
// the functions below pg_stat_database, because planning that view each time costs more.
func DatabaseSQL(version int) string {
	sessions := "pg_stat_get_db_sessions($1)"
	if version < 140000 {
		sessions = "NULL::bigint"
	}
	return "SELECT /* redline */ statement_timestamp(), clock_timestamp(), pg_stat_get_db_xact_commit($1), " +
		"pg_stat_get_db_xact_rollback($1), " + sessions +
		", pg_stat_get_db_deadlocks($1)::float8, pg_stat_get_db_temp_files($1)::float8, pg_stat_get_db_temp_bytes($1)::float8" +
		", (pg_stat_get_db_blocks_fetched($1) - pg_stat_get_db_blocks_hit($1))::float8, pg_stat_get_db_blocks_hit($1)::float8"
}

// findExtension looks up pg_stat_statements and its settings. A missing extension
// is no error: sessions and waits are visible without it.
func (s *Session) findExtension(ctx context.Context) error {
	var schema, setting string
	var columns []string
	err := s.Ask(ctx, Query{`SELECT /* redline */ n.nspname, coalesce(current_setting('pg_stat_statements.track', true), ''), p.proargnames
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = 'pg_stat_statements'
		WHERE e.extname = 'pg_stat_statements'`, nil, One(&schema, &setting, &columns)})
	const create, preload = "run CREATE EXTENSION pg_stat_statements in database %s",
		"ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements' (append it to the present value), restart the server"
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		enable := fmt.Sprintf(create, pgx.Identifier{s.Name}.Sanitize())
		var loaded bool
		if s.Ask(ctx, Query{"SELECT /* redline */ current_setting('pg_stat_statements.max', true) IS NOT NULL", nil,
			One(&loaded)}) == nil && !loaded {
			enable = "run " + preload + ", then " + enable
		}
		s.Blind = append(s.Blind, "no statement figures, because pg_stat_statements is not installed: "+enable)
		return nil
	case err != nil:
		return fmt.Errorf("look for pg_stat_statements: %w", err)
	}
	function := pgx.Identifier{schema, "pg_stat_statements"}.Sanitize()
	s.Queries = StatementQueries(function, columns)
	if slices.Contains(columns, "toplevel") { // pg_stat_statements_info came in the same version
		s.Queries.keeping = "SELECT /* redline */ dealloc, stats_reset FROM " +
			pgx.Identifier{schema, "pg_stat_statements_info"}.Sanitize() + "()"
	}
	// The library may be missing although the extension was created.
	if err := s.Ask(ctx, Query{SQL: "SELECT /* redline */ 1 FROM " + function + "(false) LIMIT 1"}); err != nil {
		s.Queries = Queries{}
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) {
			return fmt.Errorf("read pg_stat_statements: %w", err)
		}
		enable := "run " + preload
		if refusal.Code == "42501" {
			enable = "run GRANT EXECUTE ON FUNCTION " + function + "(boolean) TO " + pgx.Identifier{s.Conn.Config().User}.Sanitize()
		}
		s.Blind = append(s.Blind, fmt.Sprintf("no statement figures, because pg_stat_statements fails (%s): %s", refusal.Message, enable))
		return nil
	}
	s.Nested = !slices.Contains(columns, "toplevel") && setting == "all"
	s.Queries.Planning = s.Queries.Planning && s.setting(ctx, "pg_stat_statements.track_planning") == "on"
	return nil
}

// findOwn finds the ids of our own statements if the server counts them, which a
// superuser can forbid. It first runs each once.
func (s *Session) findOwn(ctx context.Context) error {
	s.Own = map[int64]bool{}
	if s.Queries.Statements == "" || s.hidden {
		return nil
	}
	if err := s.seldom(ctx, s); err != nil {
		return err
	}
	// A server that refuses these (some hosted ones do) is reported in the run.
	_, _ = s.ReadWhole(ctx)
	if err := s.Ask(ctx, Query{SQL: s.Queries.Texts, Args: []any{s.DB, []int64{}, 1}}); err != nil {
		return fmt.Errorf("try the query for texts: %w", err)
	}
	err := s.Ask(ctx, Query{s.Queries.own, []any{s.DB, "%" + Marker + "%"}, func(rows pgx.Rows) error {
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, id := range ids {
			s.Own[id] = true
		}
		return err
	}})
	if err != nil {
		return fmt.Errorf("find redline's own statements: %w", err)
	}
	return nil
}

// setting returns one of the server's settings, "" if there is none with that name.
func (s *Session) setting(ctx context.Context, name string) (value string) {
	_ = s.Ask(ctx, Query{"SELECT /* redline */ coalesce(current_setting($1, true), '')", []any{name}, One(&value)})
	return value
}

// StatementQueries returns the queries for the columns of the extension's version: version
// 1.8 (PostgreSQL 13) renamed total_time and added planning, 1.9 added toplevel, 1.10 (PostgreSQL 15) compiling. A server
// that was upgraded may still have an older extension.
func StatementQueries(function string, columns []string) Queries {
	has := func(name string) bool { return slices.Contains(columns, name) }
	exec, plan, wal, jit, toplevel := "total_time", "0::float8", "0::float8", "0::float8", ""
	if has("total_exec_time") {
		exec = "total_exec_time"
	}
	if has("total_plan_time") {
		plan = "total_plan_time"
	}
	if has("wal_bytes") {
		wal = "wal_bytes::float8"
	}
	if has("jit_generation_time") { // deforming, counted since PostgreSQL 17, is a part of these
		jit = "jit_generation_time + jit_inlining_time + jit_optimization_time + jit_emission_time"
	}
	if has("toplevel") {
		toplevel = " AND toplevel"
	}
	return Queries{
		Statements: "SELECT /* redline */ statement_timestamp(), clock_timestamp(), userid, queryid, calls::float8, rows::float8, " +
			"shared_blks_read::float8, shared_blks_hit::float8, shared_blks_dirtied::float8, " +
			"(temp_blks_read + temp_blks_written)::float8, " + wal + ", " + exec + ", " + plan + ", " + jit +
			" FROM " + function + "(false) WHERE dbid = $1 AND queryid IS NOT NULL AND calls > 0" + toplevel,
		Authors: "SELECT /* redline */ queryid, userid, left(query, $3) FROM " + function +
			"(true) WHERE dbid = $1 AND queryid = ANY($2) AND calls > 0" + toplevel + " ORDER BY queryid, userid LIMIT 2000",
		// A longer text is truncated, and then gets no plan.
		Texts: "SELECT /* redline */ DISTINCT ON (queryid) queryid, left(query, $3) FROM " + function +
			"(true) WHERE dbid = $1 AND queryid = ANY($2) ORDER BY queryid",
		own: "SELECT /* redline */ DISTINCT queryid FROM " + function +
			"(true) WHERE dbid = $1 AND queryid IS NOT NULL AND query LIKE $2",
		Planning: has("total_plan_time"),
	}
}
