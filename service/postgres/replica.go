package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Replicating are the settings of a server that will have replicas, for Options.Settings. A
// commit waits for these only in a session that asks for it by synchronous_commit.
func Replicating() map[string]string {
	return map[string]string{
		"wal_level": "replica", "max_wal_senders": "4", "synchronous_standby_names": "*", "synchronous_commit": "local",
	}
}

// Replica starts a server that follows s by streaming replication, and returns once it
// answers queries: a copy made by pg_basebackup, as the same user, on a port of its own.
// It is behind by what it has not replayed yet. Stop it before s. The server s must have been
// started here, with the settings of Replicating.
func (s *Server) Replica(ctx context.Context) (*Server, error) {
	if s.cluster == nil {
		return nil, errors.New("postgres: a server given by DSN gets no replica")
	}
	ctx, cancel := context.WithTimeout(ctx, defaultReady)
	defer cancel()
	const attempts = 4 // for a port, as in Start
	for try := 1; ; try++ {
		c, err := s.cluster.follow(ctx)
		if err == nil {
			return &Server{DSN: c.dsn(), Origin: "replica of " + s.Origin, Version: c.version, cluster: c}, nil
		}
		if try == attempts || !errors.Is(err, errPortTaken) {
			return nil, fmt.Errorf("postgres: replica: %w", err)
		}
	}
}

// follow makes a cluster that follows c.
func (c *cluster) follow(ctx context.Context) (*cluster, error) {
	dir, err := newRunDir(c.id)
	if err != nil {
		return nil, err
	}
	replica := &cluster{bin: c.bin, id: c.id, dir: dir, log: newLogTail(nil), version: c.version, password: c.password}
	if err := replica.copyOf(ctx, c); err != nil {
		replica.abandon(ctx)
		return nil, err
	}
	return replica, nil
}

// copyOf fills the data directory from a running server, and serves it. The password goes
// through the environment, so that it is never in a file.
func (c *cluster) copyOf(ctx context.Context, primary *cluster) (err error) {
	address := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(primary.port), "-U", superuser}
	backup := c.command("pg_basebackup", append(address, "-D", c.data(), "--checkpoint=fast", "--wal-method=stream", "--no-sync")...)
	backup.Env = append(backup.Env, "PGPASSWORD="+c.password)
	backup.Stdout, backup.Stderr = c.log, c.log
	if err := c.wait(ctx, backup); err != nil {
		return fmt.Errorf("pg_basebackup: %w; its output:\n%s", err, c.log)
	}
	signal := filepath.Join(c.data(), "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		return err
	}
	if err := c.id.own(signal); err != nil {
		return err
	}
	c.environment = []string{"PGPASSWORD=" + c.password}
	c.arguments = []string{"-c", fmt.Sprintf("primary_conninfo=host=127.0.0.1 port=%d user=%s", primary.port, superuser)}
	if c.port, err = freePort(); err != nil {
		return err
	}
	return c.serve(ctx)
}
