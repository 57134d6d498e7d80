//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5" // makes and drops databases

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/service/postgres"
)

// needs holds what cases need in addition to their service.
type needs struct {
	dsn     string           // of a server; empty without one
	server  *postgres.Server // nil if it was not started here
	backend string           // binary
	scratch string
}

// outfit provides everything that any of the cases needs.
func (b *bench) outfit(ctx context.Context, cases []corpus.Case) (n *needs, err error) {
	n = &needs{dsn: b.postgres}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	wanted := func(need string) bool {
		return slices.ContainsFunc(cases, func(c corpus.Case) bool { return c.Wants(need) })
	}
	if wanted(corpus.NeedPostgres) && n.dsn == "" {
		if n.server, err = postgres.Start(ctx, postgres.Options{}); err != nil {
			return n, err
		}
		n.dsn = n.server.DSN
	}
	if wanted(corpus.NeedBackend) {
		if n.scratch, err = os.MkdirTemp("", "bench-diagnose-"); err != nil {
			return n, err
		}
		n.backend = filepath.Join(n.scratch, "backend")
		cmd := exec.CommandContext(ctx, "go", "build", "-o", n.backend, "./backend")
		cmd.Dir = b.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return n, fmt.Errorf("build the backend: %w\n%s", err, tail(out))
		}
	}
	return n, nil
}

func (n *needs) close() {
	if n.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = n.server.Stop(ctx) // it dies with this process anyway
	}
	if n.scratch != "" {
		os.RemoveAll(n.scratch)
	}
}

// provide returns the environment in which a case runs; release ends the processes
// that were started for it.
func (n *needs) provide(ctx context.Context, c corpus.Case) (env []string, release func(), err error) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains([]string{"DATABASE_URL", "BACKEND_URL", "BACKEND_CA"}, name) {
			env = append(env, v)
		}
	}
	var ends []func()
	release = func() {
		for _, end := range ends {
			end()
		}
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if c.Wants(corpus.NeedRoot) && os.Geteuid() != 0 {
		return nil, release, errors.New("it needs root")
	}
	if c.Wants(corpus.NeedPostgres) {
		dsn, drop, err := n.database(ctx, c)
		if err != nil {
			return nil, release, err
		}
		ends, env = append(ends, drop), append(env, "DATABASE_URL="+dsn)
	}
	if c.Wants(corpus.NeedBackend) {
		more, end, err := n.serve(ctx, c.Backend)
		if err != nil {
			return nil, release, fmt.Errorf("backend: %w", err)
		}
		ends, env = append(ends, end), append(env, more...)
	}
	return env, release, nil
}

// database makes a fresh database for a case.
func (n *needs) database(ctx context.Context, c corpus.Case) (dsn string, drop func(), err error) {
	name := fmt.Sprintf("corpus_%d_%s", os.Getpid(), strings.ReplaceAll(c.Name, "-", "_"))
	if err := n.execute(ctx, n.dsn, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)",
		"CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		return "", nil, err
	}
	drop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = n.execute(ctx, n.dsn, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	}
	at, err := url.Parse(n.dsn)
	if err != nil || at.Scheme == "" {
		return "", nil, errors.New("-postgres must be a URL: postgres://user:password@host/database")
	}
	at.Path = "/" + name
	if err := n.execute(ctx, at.String(), "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		drop()
		return "", nil, err
	}
	return at.String(), drop, nil
}

func (n *needs) execute(ctx context.Context, dsn string, statements ...string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// serve starts the backend and returns the variables that name it.
func (n *needs) serve(ctx context.Context, args []string) (env []string, end func(), err error) {
	cmd := exec.CommandContext(ctx, n.backend, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	end = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		giveUp := time.AfterFunc(farewell, func() { _ = cmd.Process.Kill() })
		defer giveUp.Stop()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // ended by a signal, as it should be
	}
	lines := bufio.NewScanner(out)
	for _, name := range []string{"BACKEND_URL", "BACKEND_CA"} {
		if !lines.Scan() {
			end()
			return nil, nil, errors.New("it did not start")
		}
		env = append(env, name+"="+lines.Text())
		if !strings.HasPrefix(lines.Text(), "https:") {
			break
		}
	}
	return env, end, nil
}
