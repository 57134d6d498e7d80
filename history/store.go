package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5" // PostgreSQL, through the driver of the rest of redline
	_ "github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite" // SQLite without cgo, so that redline stays one static binary
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/redline-go/redline/redact"
)

// Variable is the environment variable that names the history where no flag
// does. A DSN with a password belongs there: arguments show in lists of
// processes.
const Variable = "REDLINE_HISTORY"

// ErrNone says that there is no history yet at the place that was named.
var ErrNone = errors.New("no history yet")

// busy is how long a writer waits for another one; each holds the file for
// milliseconds.
const busy = 10 * time.Second

// reachable is how long a PostgreSQL server has to answer.
const reachable = 10 * time.Second

// Store is an open history. Any number of processes may have one open at a time.
type Store struct {
	db      *sql.DB
	name    string
	dialect dialect
	hide    *redact.Redactor // of the DSN
}

// dialect holds the differences of the two databases.
type dialect struct {
	// serialize keeps other migrations out until the transaction ends.
	serialize string
	// tables counts the tables of the database, whoever made them.
	tables string
	// ours is 1 where the schema's version is kept.
	ours string
}

var (
	// The transactions of sqlite begin as writers (_txlock).
	sqliteDialect = dialect{
		tables: `SELECT count(*) FROM sqlite_master WHERE type = 'table'`,
		ours:   `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'redline_schema'`,
	}
	postgresDialect = dialect{
		serialize: `SELECT pg_advisory_xact_lock(7236833601)`, // any number that others are unlikely to choose
		tables:    `SELECT 0`,                                 // a shared database may hold tables of others
		ours:      `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'redline_schema'`,
	}
)

// Open opens the history in a SQLite file, which it makes if need be, or in the
// PostgreSQL database of a DSN ("postgres://..." or "host=... dbname=..."), and
// brings its schema up to date. Errors never hold the DSN's password.
func Open(ctx context.Context, where string) (*Store, error) { return open(ctx, where, true) }

// Read is Open for those who only look: where there is no history, the error is
// ErrNone, and none is made. It refuses an older schema rather than change it.
func Read(ctx context.Context, where string) (*Store, error) { return open(ctx, where, false) }

func open(ctx context.Context, where string, create bool) (*Store, error) {
	connect := openFile
	if isDSN(where) {
		connect = openServer
	}
	s, err := connect(where, create)
	if err != nil {
		return nil, err
	}
	if create {
		err = s.migrate(ctx, schema)
	} else {
		err = s.current(ctx)
	}
	switch {
	case errors.Is(err, ErrNone):
		s.db.Close()
		return nil, fmt.Errorf("%w in %s", ErrNone, s.name)
	case err != nil:
		s.db.Close()
		return nil, s.explain("open", err)
	}
	if create {
		// Better before the measurement than after it: a file may be read-only, a role without the right.
		if _, err := s.db.ExecContext(ctx, `INSERT INTO redline_results (result) SELECT '' WHERE 1 = 0`); err != nil {
			s.db.Close()
			return nil, s.explain("write to", err)
		}
	}
	return s, nil
}

// Close closes the history. A nil one, of a command that keeps nothing, has nothing to close.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.db.Close()
}

// Name describes where the history is, without secrets.
func (s *Store) Name() string { return s.name }

// keywords is how a DSN of keywords begins; a file named like that is reached
// with "./" before it.
var keywords = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)

func isDSN(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") || keywords.MatchString(where)
}

func openServer(dsn string, _ bool) (*Store, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The parser's own words quote the offending text.
		return nil, errors.New("history: the PostgreSQL DSN is not valid (hint: postgres://user@host:5432/database)")
	}
	if config.ConnectTimeout == 0 {
		dsn = withTimeout(dsn)
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, errors.New("history: the PostgreSQL DSN is not valid")
	}
	db.SetMaxOpenConns(2)
	hide := redact.New()
	hide.LearnText(dsn)
	hide.Learn(config.Password)
	name := fmt.Sprintf("database %s on %s:%d", config.Database, config.Host, config.Port)
	return &Store{db: db, name: name, dialect: postgresDialect, hide: hide}, nil
}

// withTimeout adds a limit to a DSN that has none: a server that does not answer
// must not hold a finished run up.
func withTimeout(dsn string) string {
	seconds := fmt.Sprint(int(reachable.Seconds()))
	if !strings.Contains(dsn, "://") {
		return dsn + " connect_timeout=" + seconds
	}
	if strings.Contains(dsn, "?") {
		return dsn + "&connect_timeout=" + seconds
	}
	return dsn + "?connect_timeout=" + seconds
}

func openFile(path string, create bool) (*Store, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return nil, fmt.Errorf("%w in %s", ErrNone, path)
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("history: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("history: %s is not a file (hint: --history history.db)", path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	// As a URL, because a path may hold a question mark.
	dsn := url.URL{Scheme: "file", Path: absolute, RawQuery: url.Values{
		"_busy_timeout": {fmt.Sprint(busy.Milliseconds())},
		// Readers and a writer at the same time, as in a watched build.
		"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("history: open %s: %w", path, err)
	}
	return &Store{db: db, name: path, dialect: sqliteDialect}, nil
}

// explain wraps an error of the database with the place and, for errors that users
// meet, a hint. No secret is left in it.
func (s *Store) explain(doing string, err error) error {
	text := err.Error()
	hint := ""
	switch code := resultCode(err); {
	case code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_CORRUPT:
		hint = " (hint: the file is damaged or not a history: move it away, and redline history add fills a new one from kept bundles)"
	case strings.Contains(text, "readonly"), strings.Contains(text, "read-only"), strings.Contains(text, "permission denied"):
		hint = " (hint: another file with --history, or a role that may insert)"
	case code == sqlite3.SQLITE_BUSY:
		hint = fmt.Sprintf(" (hint: another process has held the file for %s)", busy)
	}
	clean := s.hide.Text(text)
	if clean == text {
		return fmt.Errorf("history: %s %s: %w%s", doing, s.name, err, hint)
	}
	// The chain is cut: it may hold what the text no longer does.
	return fmt.Errorf("history: %s %s: %s%s", doing, s.name, clean, hint)
}

// resultCode returns SQLite's primary result code (sqlite.org/rescode.html), the low byte of the extended one;
// 0 for an error that is not SQLite's.
func resultCode(err error) int {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return 0
	}
	return refused.Code() & 0xff
}
