package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
)

// Who may be explained, and as whom.
//
// Hazard: EXPLAIN runs code. The planner calls immutable functions of constants,
// and stable ones for its estimates, with the rights of the session: those that
// a statement names, and those behind its operators, casts, domains, views,
// policies and indexes. A read-only transaction stops neither COPY TO PROGRAM nor
// a function's actions with the rights that it finds. SET LOCAL ROLE is no cage:
// code in it can call set_config('role', 'none') and regain the session's rights,
// and RESET undoes SET SESSION AUTHORIZATION likewise.
//
// So a statement is explained in one of three cases only. S is the role that
// redline connects as, U the one that ran the statement, and a role holds S's
// rights if it can become S or is a superuser.
//
//	own     U is S, and S is no superuser. The target plans the same text with
//	        the same rights. A name may mean something else here only if the
//	        target sets its search_path and a third party defines the name in
//	        ours: either every function belongs to a role that holds S's rights,
//	        or no schema of the path lets PUBLIC create.
//	above   U holds S's rights, so that its text can do nothing that U cannot.
//	        Every function belongs to a role that holds S's rights, so that
//	        there is no foreign code to run.
//	become  S may become U: the statement is planned with U's rights. U chose the
//	        text, so there must be no code that could leave U again: no function
//	        but the server's own, those in C (an administrator's), and those of
//	        triggers, which the planner cannot call.
//
// All user code is in pg_proc: operators, casts, constraints, policies and
// languages have no other. Of the server's own functions, those that write, run SQL
// from their arguments or change settings are volatile, so the planner does not
// call them. table_to_xml and the like are stable and read tables, with the rights
// of the cases above.
//
// The text must be U's as well: ids are no proof, because 64 bits can be made to
// collide, and statements run by functions are left out, because their text may be
// their caller's.
type basis int

const (
	refused basis = iota
	own
	above
	become
)

// author is a statement's text and the role that ran it.
type author struct {
	id    int64 // of the statement
	user  uint32
	text  string
	role  string
	path  string // the search path with which the role's sessions begin; "" for the server's default
	basis basis
	why   string // why there is no basis
}

// path is the SQL of the search path that is set for a role, with its id as $1 and the database's as $2. SET ROLE does not apply it.
const path = "(SELECT pg_catalog.substr(c, 13) FROM pg_catalog.pg_db_role_setting r, pg_catalog.unnest(r.setconfig) c " +
	"WHERE r.setrole OPERATOR(pg_catalog.=) $1 AND (r.setdatabase OPERATOR(pg_catalog.=) 0 OR r.setdatabase OPERATOR(pg_catalog.=) $2) " +
	"AND c OPERATOR(pg_catalog.~~) 'search_path=%' ORDER BY r.setdatabase DESC LIMIT 1)"

// settings are those of a role's sessions under which its names mean what they mean to it. The role's own session has them; in
// another, no function can come with the path, because the basis is that there are none.
func (a author) settings() [][2]string {
	if a.path == "" || a.basis == own {
		return nil
	}
	return [][2]string{{"search_path", a.path}}
}

// as is the role to set; none means the session's own.
func (a author) as() string {
	if a.basis == become {
		return a.role
	}
	return "none"
}

// holds is the SQL that tests whether a role holds the rights of session_user.
// Since version 16 a membership may lack the right to become the role.
func (s *session) holds(role string) string { return s.canBecome(role, sessionRole) }

// canBecome is the SQL that tests whether a role may SET ROLE to another.
func (s *session) canBecome(role, other string) string {
	mode := "MEMBER"
	if s.Version >= 160000 {
		mode = "SET"
	}
	return "pg_catalog.pg_has_role(" + role + ", " + other + ", '" + mode + "')"
}

// These are qualified down to the last operator, because they run with the
// application's search path.
const (
	sessionRole = "(SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) session_user)"
	superuser   = "(SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname OPERATOR(pg_catalog.=) session_user)"
	// 2279 and 3838 are trigger and event_trigger: PL/pgSQL refuses calls of such
	// functions.
	notTrigger = "NOT (p.prorettype OPERATOR(pg_catalog.=) ANY (ARRAY[2279, 3838]::pg_catalog.oid[]) AND p.prolang " +
		"OPERATOR(pg_catalog.=) " +
		"(SELECT l.oid FROM pg_catalog.pg_language l WHERE l.lanname OPERATOR(pg_catalog.=) 'plpgsql'))"
	// 16384 is the first id that is not the server's own; 12 and 13 are the
	// languages internal and C.
	code = " FROM pg_catalog.pg_proc p WHERE p.oid OPERATOR(pg_catalog.>=) 16384 " +
		"AND NOT p.prolang OPERATOR(pg_catalog.=) ANY (ARRAY[12, 13]::pg_catalog.oid[]) AND " + notTrigger
	openPath = "EXISTS (SELECT FROM pg_catalog.pg_namespace n, LATERAL pg_catalog.aclexplode(n.nspacl) a " +
		"WHERE n.nspname OPERATOR(pg_catalog.=) ANY (pg_catalog.current_schemas(false)) " +
		"AND a.grantee OPERATOR(pg_catalog.=) 0 AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE')"
)

// foreign is the SQL for functions whose owners do not hold our rights.
func (s *session) foreign() string {
	return " FROM pg_catalog.pg_proc p WHERE NOT " + s.holds("p.proowner") + " AND " + notTrigger
}

// condition is the SQL condition that must hold for a basis, with the role's id as $1.
func (s *session) condition(b basis) string {
	none := func(of string) string { return "NOT EXISTS (SELECT" + of + ")" }
	switch b {
	case own:
		return "$1 OPERATOR(pg_catalog.=) " + sessionRole + " AND NOT " + superuser + " AND (" + none(s.foreign()) +
			" OR NOT " + openPath + ")"
	case above:
		return s.holds("$1::pg_catalog.oid") + " AND " + none(s.foreign())
	case become:
		return s.canBecome(sessionRole, "$1::pg_catalog.oid") + " AND " + none(s.foreign()) + " AND " + none(code)
	}
	return "false"
}

// findAuthors gets the texts of statements by the roles that ran them, and chooses
// for each the one that can best be explained.
func (s *session) findAuthors(ctx context.Context, top []*statement) (map[int64]author, error) {
	found := map[int64]author{}
	if s.Queries.Authors == "" || len(top) == 0 {
		return found, nil
	}
	ids, users := []int64{}, map[int64]map[uint32]bool{}
	for _, one := range top {
		ids = append(ids, one.id)
		users[one.id] = one.users
	}
	var texts []author
	err := s.Ask(ctx, server.Query{SQL: s.Queries.Authors, Args: []any{s.DB, ids, maxText + 1}, Read: func(rows pgx.Rows) error {
		var id int64
		var user uint32
		var text *string
		_, err := pgx.ForEachRow(rows, []any{&id, &user, &text}, func() error {
			if text != nil && users[id][user] {
				texts = append(texts, author{id: id, user: user, text: *text})
			}
			return nil
		})
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the texts of statements by role: %w", err)
	}
	bases := map[uint32]author{}
	for _, a := range texts {
		j, known := bases[a.user]
		if !known {
			if j, err = s.basisOf(ctx, a.user); err != nil {
				return nil, fmt.Errorf("read the rights of roles: %w", err)
			}
			bases[a.user] = j
		}
		a.role, a.path, a.basis, a.why = j.role, j.path, j.basis, j.why
		if before, there := found[a.id]; !there || before.basis == refused && a.basis != refused {
			found[a.id] = a
		}
	}
	return found, nil
}

// basisOf finds the basis on which statements of a role can be explained.
func (s *session) basisOf(ctx context.Context, user uint32) (author, error) {
	a := author{user: user}
	var session string
	var isOwn, isSuper, mayBecome bool
	var bases [3]bool
	var foreignName, codeName, searchPath *string
	sample := func(of string) string {
		return "(SELECT p.proname::pg_catalog.text" + of + " ORDER BY p.oid DESC LIMIT 1)"
	}
	err := s.AskAfter(ctx, s.planning("none"), server.Query{
		SQL: "SELECT " + server.Marker + " pg_catalog.pg_get_userbyid($1), session_user, $1 OPERATOR(pg_catalog.=) " +
			sessionRole + ", " + superuser +
			", " + s.canBecome(sessionRole, "$1::pg_catalog.oid") + ", " + s.condition(own) + ", " + s.condition(above) +
			", " + s.condition(become) +
			", " + sample(s.foreign()) + ", " + sample(code) + ", " + path,
		Args: []any{user, s.DB},
		Read: server.One(&a.role, &session, &isOwn, &isSuper, &mayBecome, &bases[0], &bases[1], &bases[2], &foreignName, &codeName,
			&searchPath),
	})
	if searchPath != nil {
		a.path = *searchPath
	}
	for i, holds := range bases {
		if holds && a.basis == refused {
			a.basis = own + basis(i)
		}
	}
	const enable = ": give redline the DSN of a role with no more rights than the application's own"
	switch {
	case a.basis != refused || err != nil:
	case !isOwn && !mayBecome:
		a.why = fmt.Sprintf("it is a statement of role %q, with whose rights %q may not plan it: give redline a DSN of "+
			"role %q, or grant that role to %q", a.role, session, a.role, session)
	case foreignName != nil && isOwn && !isSuper:
		a.why = fmt.Sprintf("function %q is another role's, and PUBLIC may create more in the search path: revoke CREATE "+
			"there from PUBLIC", *foreignName)
	case foreignName != nil:
		a.why = fmt.Sprintf("planning could run function %q, another role's, with the rights of %q", *foreignName, session) + enable
	case codeName != nil:
		a.why = fmt.Sprintf("it is a statement of role %q, and planning could run function %q, which can leave that role "+
			"for %q: give redline a DSN of role %q", a.role, *codeName, session, a.role)
	default:
		a.why = fmt.Sprintf("it is a statement of role %q", a.role) + enable
	}
	return a, err
}

// refusal says why a statement must not be explained; "" if it may.
func (s *session) refusal(a author) string {
	if a.basis == refused {
		return a.why
	}
	// Before version 1.9 the extension did not separate clients' statements from
	// those inside functions.
	if s.Nested {
		return "pg_stat_statements before 1.9 does not separate it from statements inside functions: run ALTER EXTENSION " +
			"pg_stat_statements UPDATE"
	}
	return ""
}

// planning returns the settings of a transaction that plans. They leave the
// application's search path and planner settings as they are.
func (s *session) planning(role string, more ...[2]string) server.Query {
	list := [][2]string{}
	for _, setting := range server.Local {
		if strings.HasPrefix(setting[0], "transaction") || strings.HasSuffix(setting[0], "timeout") {
			list = append(list, setting)
		}
	}
	return s.Preamble(append(append(list, more...), [2]string{"role", role})...)
}
