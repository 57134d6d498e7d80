// Package servers starts the databases that experiments of lab/storage need: PostgreSQL, a
// replica of it, Redis. Each is started when it is first asked for, listens on loopback or
// on a socket in a folder of its user, and is gone with its Set or with this process,
// however that ends (service/guard).
//
// A launch of a benchmark is a process of its own, and a server takes a second or two to
// start: so the lab's session starts what an experiment needs once, and hands the addresses
// to all launches by variables. A test binary that finds none starts its own.
package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/redline-go/redline/service/postgres"
)

// Variables that hold the address of a server that runs already.
const (
	Postgres = "REDLINE_LAB_POSTGRES" // a DSN that may create and drop databases
	Replica  = "REDLINE_LAB_REPLICA"  // the DSN of its replica
	Redis    = "REDLINE_LAB_REDIS"    // the path of a Unix socket
)

// ErrMissing says that this machine lacks a server; the error names the remedy.
var ErrMissing = errors.New("not on this machine")

// missing is an ErrMissing in words.
type missing string

func (m missing) Error() string      { return string(m) }
func (missing) Is(target error) bool { return target == ErrMissing }

// Set is the servers of one experiment, or of the tests of a package. The zero value has
// none yet; its methods may be called concurrently.
type Set struct {
	mu      sync.Mutex
	primary *postgres.Server
	replica *postgres.Server
	redis   *redis
}

// Address returns where the server of a variable is, and starts it unless the variable
// says or this Set has it. Where it is not installed, the error is ErrMissing.
func (s *Set) Address(ctx context.Context, variable string) (string, error) {
	if given := os.Getenv(variable); given != "" {
		return given, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch variable {
	case Postgres:
		if err := s.startPrimary(ctx); err != nil {
			return "", err
		}
		return s.primary.DSN, nil
	case Replica:
		return s.startReplica(ctx)
	case Redis:
		return s.startRedis(ctx)
	}
	return "", fmt.Errorf("no server has the variable %q", variable)
}

// startPrimary starts PostgreSQL as a production has it: durable, with a log that replicas
// follow, and with prepared transactions.
func (s *Set) startPrimary(ctx context.Context) (err error) {
	if s.primary != nil {
		return nil
	}
	if _, err := postgres.Installed(); err != nil {
		return missing("PostgreSQL is not installed: apt-get install postgresql")
	}
	settings := map[string]string{"max_prepared_transactions": "64"}
	maps.Copy(settings, postgres.Replicating())
	s.primary, err = postgres.Start(ctx, postgres.Options{NoDownload: true, Durable: true, Settings: settings})
	return err
}

func (s *Set) startReplica(ctx context.Context) (_ string, err error) {
	if os.Getenv(Postgres) != "" {
		return "", missing("a given PostgreSQL has no replica here: " + Replica + " names one")
	}
	if err := s.startPrimary(ctx); err != nil {
		return "", err
	}
	if s.replica == nil {
		if s.replica, err = s.primary.Replica(ctx); err != nil {
			return "", err
		}
	}
	return s.replica.DSN, nil
}

func (s *Set) startRedis(ctx context.Context) (_ string, err error) {
	if s.redis == nil {
		if s.redis, err = startRedis(ctx); err != nil {
			return "", err
		}
	}
	return s.redis.socket, nil
}

// closeWithin bounds the end of all servers.
const closeWithin = 10 * time.Second

// Close ends the servers that this Set started.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	var errs []error
	if s.redis != nil {
		errs = append(errs, s.redis.close())
	}
	for _, server := range []*postgres.Server{s.replica, s.primary} { // who follows ends first
		if server != nil {
			errs = append(errs, server.Stop(ctx))
		}
	}
	s.primary, s.replica, s.redis = nil, nil, nil
	return errors.Join(errs...)
}
