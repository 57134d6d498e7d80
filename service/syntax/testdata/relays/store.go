package store

import (
	"context"
	"database/sql"
	"fmt"
)

const byID = "SELECT name FROM users WHERE id = $1"

type Store struct {
	db    *sql.DB
	ctx   context.Context
	query string
	stmt  *sql.Stmt
}

type request struct {
	SQL  string
	Args []any
}

type builder interface{ ToSql() (string, []any, error) }

func (s *Store) Select(dest any, command string, args ...any) error {
	_, err := s.db.QueryContext(s.ctx, command, args...) // given
	return err
}

func (s *Store) Tagged(ctx context.Context, q string) {
	text := s.tag(q)
	s.db.ExecContext(ctx, text) // given, with what the handle adds
}

func (s *Store) Named(ctx context.Context, dest interface{}, q string, named string) {
	s.get(dest, q, named) // given
}

func (s *Store) Run(ctx context.Context, r *request) {
	s.db.Query(r.SQL, r.Args...) // given
}

func (s *Store) Built(b builder) error {
	text, args, err := b.ToSql()
	if err != nil {
		return err
	}
	_, err = s.db.Query(text, args...) // given
	return err
}

func (s *Store) Retried(q string, args ...any) error {
	return s.retry(func() error {
		_, err := s.db.Exec(q, args...) // given: by the function around
		return err
	})
}

func (s *Store) retry(op func() error) (err error) {
	for range 3 {
		if err = op(); err == nil { // given
			break
		}
	}
	return err
}

func (s *Store) again(op func() error) error {
	return s.retry(op) // given
}

func (s *Store) Split(
	ctx context.Context,
	q string,
) {
	s.db.QueryContext( // given
		ctx, // given
		q,   // given
	)
}

func (s *Store) User(ctx context.Context, id string) *sql.Row {
	return s.db.QueryRowContext(ctx, byID, id) // own: a constant of the package
}

func (s *Store) Literal(id string) *sql.Row {
	return s.db.QueryRow("SELECT name FROM users WHERE id = $1", id) // own
}

func (s *Store) Table(table, id string) *sql.Row {
	q := fmt.Sprintf("SELECT * FROM %s WHERE id = ?", table)
	return s.db.QueryRow(q, id) // own: all but the table
}

func (s *Store) Joined(table, id string) *sql.Row {
	return s.db.QueryRow("SELECT * FROM "+table+" WHERE id = ?", id) // own: all but the table
}

func (s *Store) Counted(schema, table, where string) *sql.Row {
	q := fmt.Sprintf(`SELECT COUNT(1) FROM "%s"."%s"`, schema, table)
	if where != "" {
		q += " WHERE " + where
	}
	return s.db.QueryRow(q) // own
}

func (s *Store) Set(table, id string) {
	s.db.Exec("UPDATE "+table+" SET seen = 1 WHERE id = ?", id) // own
}

func (s *Store) Built(columns, table, where string) *sql.Row {
	return s.db.QueryRow("SELECT " + columns + " FROM " + table + " WHERE " + where) // given
}

func (s *Store) Formatted(table, where string) *sql.Row {
	return s.db.QueryRow(fmt.Sprintf("SELECT * FROM %s WHERE %s", table, where)) // given
}

func (s *Store) Commented(q string) {
	s.db.Exec("/* shop */ " + q) // given
}

func (s *Store) Ordered(order string) *sql.Row {
	q := fmt.Sprintf("SELECT * FROM users ORDER BY %s", order)
	return s.db.QueryRow(q) // own: it says which table
}

func (s *Store) One() {
	s.db.Exec("SELECT 1") // own
}

func (s *Store) Concatenated(order string) *sql.Row {
	q := "SELECT * FROM users ORDER BY "
	q += order
	return s.db.QueryRow(q) // own
}

func (s *Store) Direct(order string) *sql.Row {
	return s.db.QueryRow("SELECT * FROM users ORDER BY " + order) // own
}

func (s *Store) Field(id string) *sql.Row {
	return s.db.QueryRow(s.query, id) // own: the receiver's
}

func (s *Store) Filtered(filter request) {
	s.db.Query(s.build(filter)) // own: it is made here
}

func (s *Store) OwnBuilder(id int) {
	b := s.from("users")
	text, args, _ := b.ToSql()
	s.db.Query(text, args...) // own
}

func (s *Store) Counted(ids []int) {
	s.one(&ids, "SELECT count(*) FROM users", len(ids)) // own
}

func (s *Store) Closed(q string) {
	each(func(id string) {
		s.db.QueryRow(byID, id) // own, in a function with a text that it does not pass on
	})
}

func (s *Store) Loop() {
	q := byID
	q = q + s.suffix(q)
	s.db.Query(q) // own
}

func (s *Store) Prepared(ctx context.Context, tx *sql.Tx, stmt *sql.Stmt, args ...any) {
	tx.StmtContext(ctx, stmt).ExecContext(ctx, args...) // mapped: given
	stmt.ExecContext(ctx, args...)                      // mapped: given
	s.stmt.ExecContext(ctx, args...)                    // mapped: own
}

func (s *Store) Mapped(db *orm, dest any) error {
	return db.Offset(1).Find(dest).Error // mapped: given
}

func Find[T any](db *orm, id string) (list []T, err error) {
	var one T
	return list, db.First(&one, id).Error // mapped: own, as what is declared here is not followed
}

func Save[T any](db *orm, row *T) error {
	return db.Create(row).Error // mapped: given
}

type Repository[K comparable, V any] struct{ db *orm }

func (r *Repository[K, V]) Save(row V, key K) {
	r.db.Create(row) // mapped: given
}

func (s *Store) Created(db *orm, u *User) error {
	return db.Create(u).Error // mapped: own: it knows what it stores
}

func (s *Store) First(db *orm, dest any, email string) error {
	return db.Where("email = ?", email).First(dest).Error // mapped: own: it states a condition
}

func (s *Store) ByKey(db *orm, id string) (u User, err error) {
	return u, db.First(&u, id).Error // mapped: own
}

func (s *Store) Count() (int64, error) {
	return s.inner.Count() // mapped: given: a decorator states nothing
}

func (s *Store) Rename(ctx context.Context, id, name string) {
	s.inner.Rename(ctx, id, name) // mapped: given
}

func (s *Store) CountAll() (int64, error) {
	return s.inner.Count() // mapped: own: it says what is counted
}

func (s *Store) Limit() *orm {
	return s.db.Limit(100) // mapped: own: it states a limit
}

func (s *Store) Table() *orm {
	return s.db.Table(usersTable()) // mapped: own
}

func (s *Store) Flush() error {
	s.before()
	return s.inner.Flush() // mapped: own: it does something else too
}

func (s *Store) Jobs(base string, args []any) {
	rows(s.db, base, args)       // given: a handle says nothing of the statement
	rows(s.readDB(), base, args) // given
	rows(s.db, byID, args)       // own
	s.db.Query(adb, base)        // own: no handle's name
}

func (s *Store) Kept(q string, args ...interface{}) (*sql.Row, error) {
	st, _ := s.prepare(q) // given
	if st != nil {
		return st.QueryRow(args...), nil // given: what it was prepared to
	}
	return s.db.QueryRow(q, args...), nil // given
}

func (s *Store) KeptOwn(args ...interface{}) *sql.Row {
	st, _ := s.prepare("SELECT name FROM users WHERE id = ?") // own
	return st.QueryRow(args...)                               // own
}
