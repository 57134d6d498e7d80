package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Query is one statement of a transaction.
type Query struct {
	// SQL is one statement with $1, $2 for Args, and holds Marker.
	SQL string
	// Args are sent in the binary format where pgx knows their type.
	Args []any
	// Read reads the rows, which it need not drain or close; nil drops them. The
	// transaction returns the first error of a Read, after all queries were answered.
	Read func(pgx.Rows) error
}

// prepare returns the named statement of a query that runs in every window, or nil
// if it must be unnamed: planning costs more than running most of them, but a name
// would stay behind in a session that is not ours alone.
//
// Its names are resolved again at the first use, because the search path differs.
func (s *Session) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	prepared, often := s.prepared[sql]
	if prepared != nil || !often || !s.Owned {
		return prepared, nil
	}
	s.Transactions++
	prepared, err := s.Conn.PgConn().Prepare(ctx, "redline_"+strconv.FormatInt(s.Transactions, 10), sql, nil)
	s.prepared[sql] = prepared
	return prepared, err
}

// Local are the settings of each of redline's transactions, local to it.
var Local = [...][2]string{
	{"transaction_read_only", "on"},
	{"statement_timeout", "1s"},
	{"lock_timeout", "100ms"},
	// So that no user can shadow the system's functions in our queries.
	{"search_path", "pg_catalog"},
}

// openingTimeout is the statement_timeout before the run: the server's caches may be cold, no
// load waits for redline yet, and without these answers there is no source at all.
const openingTimeout = "4s"

// hideSetting keeps our statements out of pg_stat_statements, if the role may
// change it. The statement that changes it is not counted either.
const hideSetting = "pg_stat_statements.track"

// settings returns the statement that makes settings for its transaction. The
// values are parameters: constants would leave an entry in pg_stat_statements.
func settings(list [][2]string) Query {
	var b strings.Builder
	b.WriteString("SELECT " + Marker)
	args := []any{true}
	for i, setting := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		args = append(args, setting[0], setting[1])
		fmt.Fprintf(&b, " pg_catalog.set_config($%d, $%d, $1)", len(args)-1, len(args))
	}
	return Query{SQL: b.String(), Args: args}
}

// Preamble returns the settings that a transaction begins with, own last.
func (s *Session) Preamble(own ...[2]string) Query {
	var list [][2]string
	if s.hidden {
		list = append(list, [2]string{hideSetting, "none"})
	}
	return settings(append(list, own...))
}

// Ask sends queries in one round trip, after the settings of local. They form one
// transaction, which the protocol's Sync ends, also after an error. It leaves nothing in
// the session: the settings are local and the statements unnamed.
//
// Hazard: a pooler between redline and the server may share its server connections with
// the target's transactions. A session setting or prepared statement left there breaks
// the target. So only prepare names statements, and only in sessions known to be
// redline's own.
func (s *Session) Ask(ctx context.Context, queries ...Query) error {
	return s.AskAfter(ctx, s.local(), queries...)
}

// local returns the settings of a reading: Local, and before the run a longer timeout after it.
func (s *Session) local() Query {
	if s.opening {
		return s.Preamble(append(slices.Clone(Local[:]), [2]string{"statement_timeout", openingTimeout})...)
	}
	return s.Preamble(Local[:]...)
}

// AskAfter is Ask with other settings than Local: a transaction that plans statements needs
// the application's search path.
func (s *Session) AskAfter(ctx context.Context, preamble Query, queries ...Query) error {
	s.Transactions++
	types := s.Conn.TypeMap()
	batch := &pgconn.Batch{}
	queries = append([]Query{preamble}, queries...)
	for _, q := range queries {
		prepared, err := s.prepare(ctx, q.SQL)
		if err != nil {
			return err
		}
		var parameters pgx.ExtendedQueryBuilder
		if err := parameters.Build(types, prepared, q.Args); err != nil {
			return err
		}
		if prepared != nil {
			batch.ExecStatement(prepared, parameters.ParamValues, parameters.ParamFormats, []int16{pgx.BinaryFormatCode})
			continue
		}
		batch.ExecParams(q.SQL, parameters.ParamValues, nil, parameters.ParamFormats, []int16{pgx.BinaryFormatCode})
	}
	results := s.Conn.PgConn().ExecBatch(ctx, batch)
	var failed error
	for _, q := range queries {
		if !results.NextResult() {
			break
		}
		rows := pgx.RowsFromResultReader(types, results.ResultReader())
		if q.Read != nil && failed == nil {
			failed = q.Read(rows)
		}
		rows.Close()
	}
	if err := results.Close(); err != nil {
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && refusal.Code == "26000" { // no such statement: another backend answers
			s.Owned, s.prepared = false, nil
		}
		return err
	}
	return failed
}

// One returns a reader of a single row. Without a row it returns pgx.ErrNoRows.
func One(into ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if !rows.Next() {
			if err := rows.Err(); err != nil {
				return err
			}
			return pgx.ErrNoRows
		}
		return rows.Scan(into...)
	}
}
