package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/redact"
)

// Bounds on the kept part of the catalogue.
const (
	maxTables  = 40
	maxColumns = 100 // of a table
	maxIndexes = 50  // of a table
	maxTable   = 1 << 20
)

// plannerSQL reads the planner's cost settings.
const plannerSQL = `SELECT /* redline */ current_setting('seq_page_cost')::float8, current_setting('random_page_cost')::float8,
	current_setting('cpu_tuple_cost')::float8, current_setting('cpu_index_tuple_cost')::float8, current_setting('cpu_operator_cost')::float8`

// tablesSQL describes the tables of given names, those of the schemas $2 first. It
// reads only the catalogue, and runs no user's function.
//
// Text is ordered by bytes with the classes *_pattern_ops, with the collations C
// and POSIX, and with those of the built-in provider.
//
// In pg_index, indkey is indexed from 0 and holds 0 for an expression; in indoption, 1
// means DESC and 2 NULLS FIRST; the first indnkeyatts attributes are keys, the rest
// INCLUDE (src/include/catalog/pg_index.h). From PostgreSQL 14 on, reltuples is -1 until
// the first VACUUM or ANALYZE.
const tablesSQL = `SELECT /* redline */ json_build_object('schema', n.nspname, 'name', c.relname,
	'rows', c.reltuples::float8, 'pages', greatest(c.relpages, pg_relation_size(c.oid) / current_setting('block_size')::int),
	'rows_counted', coalesce(pg_stat_get_live_tuples(c.oid), 0), 'rows_changed', coalesce(pg_stat_get_mod_since_analyze(c.oid), 0),
	'columns', (SELECT coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
			'distinct', coalesce(s.n_distinct, 0), 'nulls', coalesce(s.null_frac, 0),
			'correlation', coalesce(s.correlation, 0), 'known', s.attname IS NOT NULL) ORDER BY a.attnum), '[]')
		FROM pg_attribute a LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
		AND s.attname = a.attname AND NOT s.inherited
		WHERE a.attrelid = c.oid AND a.attnum BETWEEN 1 AND $4 AND NOT a.attisdropped),
	'indexes', (SELECT coalesce(json_agg(json_build_object('name', i.relname, 'definition', pg_get_indexdef(i.oid), 'method', m.amname,
			'keys', (SELECT json_agg(json_build_object('column', coalesce(a.attname, ''),
					'expression', CASE WHEN a.attname IS NULL THEN pg_get_indexdef(i.oid, k::int, true) ELSE '' END,
					'class', o.opcname, 'collation', coalesce(l.collname, ''),
					'bytewise', o.opcname LIKE '%\_pattern\_ops' OR coalesce(coalesce(nullif(l.collcollate, ''),
					CASE WHEN l.collprovider = 'd' THEN d.datcollate END) IN ('C', 'POSIX')
						AND l.collprovider IN ('c', 'd') OR l.collprovider = 'b', false),
					'desc', x.indoption[k - 1] & 1 = 1, 'nulls_first', x.indoption[k - 1] & 2 = 2) ORDER BY k)
				FROM generate_series(1, x.indnkeyatts) k
				LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[k - 1] AND a.attnum > 0
				JOIN pg_opclass o ON o.oid = x.indclass[k - 1] LEFT JOIN pg_collation l ON l.oid = x.indcollation[k - 1]),
			'include', (SELECT coalesce(json_agg(a.attname ORDER BY k), '[]') FROM generate_series(x.indnkeyatts + 1, x.indnatts) k
				JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[k - 1]),
			'predicate', coalesce(pg_get_expr(x.indpred, c.oid), ''), 'unique', x.indisunique, 'valid', x.indisvalid,
			'bytes', pg_relation_size(i.oid), 'scans', coalesce(pg_stat_get_numscans(i.oid), 0)) ORDER BY i.oid), '[]')
		FROM (SELECT * FROM pg_index WHERE indrelid = c.oid ORDER BY indexrelid LIMIT $5) x
		JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam),
	'references', (SELECT coalesce(json_agg(json_build_object('schema', rn.nspname, 'table', r.relname,
			'rows', r.reltuples::float8, 'pages', r.relpages,
			'cascade', f.confdeltype IN ('c', 'n', 'd'),
			'columns', (SELECT json_agg(a.attname ORDER BY k) FROM unnest(f.conkey) WITH ORDINALITY u(num, k)
			JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = u.num),
			'indexed', EXISTS (SELECT FROM pg_index y WHERE y.indrelid = r.oid AND y.indisvalid AND y.indpred IS NULL
			AND y.indnkeyatts >= cardinality(f.conkey)
				AND f.conkey @> (string_to_array(y.indkey::text, ' ')::int2[])[1:cardinality(f.conkey)]
				AND f.conkey <@ (string_to_array(y.indkey::text, ' ')::int2[])[1:cardinality(f.conkey)])) ORDER BY f.oid), '[]')
		FROM (SELECT * FROM pg_constraint WHERE contype = 'f' AND confrelid = c.oid ORDER BY oid LIMIT $5) f
		JOIN pg_class r ON r.oid = f.conrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace))
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, pg_database d
	WHERE d.datname = current_database() AND c.relname = ANY ($1) AND c.relkind IN ('r', 'm', 'p')
	AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
	ORDER BY array_position($2, n.nspname) NULLS LAST, n.nspname LIMIT $3`

// describeTables reads the catalogue's entries for the tables in the plans.
func (w *watch) describeTables(ctx context.Context, top []*statement) (err error) {
	var plans [][]byte
	for _, s := range top {
		plans = append(plans, s.plan)
	}
	w.store.Tables, w.store.Planner, err = w.session.describe(ctx, plans, w.say)
	return err
}

// describe reads the catalogue's entries for the tables in plans, and the planner's settings; nil for no table.
func (s *session) describe(ctx context.Context, plans [][]byte, say func(string)) ([]database.Table, *database.Planner, error) {
	var names []string
	for _, plan := range plans {
		root, err := index.Parse(plan)
		if err != nil {
			continue // there is none, or it belongs to the server
		}
		for _, name := range root.Relations() {
			if !slices.Contains(names, name) && len(names) < maxTables {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil, nil
	}
	// Names in a plan depend on the application's search path; ours is the best
	// known approximation.
	var path []string
	if err := s.AskAfter(ctx, s.planning("none"), server.Query{SQL: "SELECT " + server.Marker +
		" pg_catalog.current_schemas(false)::pg_catalog.text[]", Read: server.One(&path)}); err != nil {
		return nil, nil, fmt.Errorf("read the search path: %w", err)
	}
	var p database.Planner
	var tables []database.Table
	err := s.Ask(ctx,
		server.Query{SQL: plannerSQL, Read: server.One(&p.SeqPage, &p.RandomPage, &p.Tuple, &p.IndexTuple, &p.Operator)},
		server.Query{SQL: tablesSQL, Args: []any{names, path, 2 * maxTables, maxColumns, maxIndexes},
			Read: func(rows pgx.Rows) (err error) {
				tables, err = readTables(rows)
				return err
			}})
	if err != nil {
		return nil, nil, fmt.Errorf("read the tables' indexes: %w", err)
	}
	return unambiguous(tables, path, say), &p, nil
}

// readTables reads one JSON document per table. If a document exceeds the bound or
// does not parse, only that table is lost.
func readTables(rows pgx.Rows) (tables []database.Table, err error) {
	for rows.Next() {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		var t database.Table
		if len(text) > maxTable || json.Unmarshal(text, &t) != nil {
			continue
		}
		for i := range t.Indexes {
			one := &t.Indexes[i]
			one.Definition, _ = redact.SQL(one.Definition)
			one.Predicate, _ = redact.SQL(one.Predicate)
		}
		tables = append(tables, t)
	}
	return tables, rows.Err()
}

// unambiguous keeps one table per name: the first in the search path, or else the
// only one.
func unambiguous(tables []database.Table, path []string, say func(string)) []database.Table {
	var kept []database.Table
	for i, t := range tables {
		first := slices.IndexFunc(tables, func(u database.Table) bool { return u.Name == t.Name })
		count := 0
		for _, u := range tables {
			if u.Name == t.Name {
				count++
			}
		}
		switch {
		case first != i:
		case count > 1 && !slices.Contains(path, t.Schema):
			say(fmt.Sprintf("redline did not read the indexes of %q: several schemas have a table of that name", t.Name))
		case len(kept) < maxTables:
			kept = append(kept, t)
		}
	}
	return kept
}
