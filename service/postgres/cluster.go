package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/port"
	"github.com/redline-go/redline/service/scratch"
)

const (
	superuser    = "redline"
	databaseName = "redline"
	// defaultReady is what initdb and a start may take on a busy host: they need seconds of
	// CPU, which may be minutes at worst.
	defaultReady = 2 * time.Minute
)

// deathSignal makes postgres shut down immediately, and initdb remove what it began.
// SIGINT would first make postgres checkpoint data that no one will read; SIGKILL would
// leave its shared memory behind.
const deathSignal = syscall.SIGQUIT

var errPortTaken = errors.New("another process took the port")

// cluster is one data directory and the server on it.
type cluster struct {
	bin      binaries
	id       identity
	dir      *scratch.Folder
	log      *logTail
	version  string
	password string
	port     int
	server   *guard.Process

	arguments, environment []string // of the server, in addition to the common ones
}

// startCluster makes a cluster and returns once it accepts connections.
func startCluster(ctx context.Context, bin binaries, o Options) (*cluster, error) {
	timeout := o.ReadyTimeout
	if timeout <= 0 {
		timeout = defaultReady
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conf, err := configuration(o.Durable, o.Settings)
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: bin, log: newLogTail(o.Log)}
	if err := c.chooseIdentity(ctx); err != nil {
		return nil, err
	}
	if err := c.launch(ctx, conf); err != nil {
		c.abandon(ctx)
		return nil, err
	}
	return c, nil
}

// abandon is close after a failed start, within a time of its own.
func (c *cluster) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), guard.Grace)
	defer cancel()
	_ = c.close(ctx)
}

// chooseIdentity decides as whom the server runs, by running `postgres --version` as
// each candidate, and makes the run directory for that identity.
func (c *cluster) chooseIdentity(ctx context.Context) error {
	var failures []error
	for _, id := range identities() {
		dir, err := newRunDir(id)
		if err != nil {
			return err
		}
		c.id, c.dir = id, dir
		if err = c.reachBinaries(); err == nil {
			var out []byte
			if out, err = c.output(ctx, "postgres", "--version"); err == nil {
				c.version = strings.TrimSpace(string(out))
				return nil
			}
		}
		failures = append(failures, fmt.Errorf("%s: %w", id, err))
		_ = dir.Remove()
	}
	return fmt.Errorf("cannot run %s: %w", filepath.Join(c.bin.dir, "postgres"), errors.Join(failures...))
}

// reachBinaries unpacks downloaded binaries again, into the run directory, when
// the cache lies in a home that the server's user may not enter.
func (c *cluster) reachBinaries() error {
	if c.bin.archive == "" || c.id.reaches(c.bin.dir) {
		return nil
	}
	dest := filepath.Join(c.dir.Path, "server")
	if err := unpackArchive(c.bin.archive, dest); err != nil {
		return err
	}
	c.bin.dir = filepath.Join(dest, "bin")
	return nil
}

// launch initialises the data directory, starts the server and makes the
// database.
func (c *cluster) launch(ctx context.Context, conf string) error {
	secret := make([]byte, 24)
	if _, err := rand.Read(secret); err != nil {
		return fmt.Errorf("make a password: %w", err)
	}
	c.password = hex.EncodeToString(secret)
	if err := c.initdb(ctx); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(c.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	_, err = f.WriteString("\n# set by redline\n" + conf)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	if c.port, err = freePort(); err != nil {
		return err
	}
	if err := c.serve(ctx); err != nil {
		return err
	}
	if err := c.createDatabase(ctx); err != nil {
		return fmt.Errorf("%w; the server's log:\n%s", err, c.log)
	}
	return nil
}

// serve starts the server on the data directory and returns once it is ready.
func (c *cluster) serve(ctx context.Context) (err error) {
	ready := c.log.awaitReady()
	cmd := c.command("postgres", append([]string{"-D", c.data(), "-c", "port=" + strconv.Itoa(c.port)}, c.arguments...)...)
	cmd.Env = append(cmd.Env, c.environment...)
	cmd.Stdout, cmd.Stderr = c.log, c.log
	if c.server, err = guard.Start(cmd, deathSignal); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	select {
	case <-ready:
		if strings.Contains(c.log.String(), movedLine) {
			return c.answer(ctx)
		}
	case <-c.server.Done():
		if strings.Contains(c.log.String(), "Address already in use") {
			return errPortTaken
		}
		return fmt.Errorf("the server ended at once (%v); its log:\n%s", c.server.State(), c.log)
	case <-ctx.Done():
		return fmt.Errorf("the server is not ready: %w; its log:\n%s", ctx.Err(), c.log)
	}
	return nil
}

// answer waits until a server answers whose log cannot be read.
func (c *cluster) answer(ctx context.Context) error {
	for {
		conn, err := pgx.Connect(ctx, c.dsnOf("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.server.Done():
			return fmt.Errorf("the server ended at once (%v)", c.server.State())
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// restart ends the server as an administrator would (sessions are cut off) and
// starts it again on the same data and port.
func (c *cluster) restart(ctx context.Context) error {
	c.server.Signal(syscall.SIGINT)
	select {
	case <-c.server.Done():
	case <-ctx.Done():
		return fmt.Errorf("the server does not stop: %w; its log:\n%s", ctx.Err(), c.log)
	}
	return c.serve(ctx)
}

// initdb makes the data directory. The password goes through a pipe, so that it is
// never in a file.
func (c *cluster) initdb(ctx context.Context) error {
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	defer read.Close()
	// initdb opens /dev/stdin by name, which checks the pipe's owner.
	if c.id.foreign() {
		if err := read.Chown(c.id.uid, c.id.gid); err != nil {
			write.Close()
			return fmt.Errorf("initdb: hand over the password pipe: %w", err)
		}
	}
	_, err = write.WriteString(c.password + "\n") // far below a pipe's capacity: does not block
	if err = errors.Join(err, write.Close()); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	cmd := c.command("initdb", "-D", c.data(), "-U", superuser, "--pwfile=/dev/stdin",
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, c.log, c.log
	if err := c.wait(ctx, cmd); err != nil {
		return fmt.Errorf("initdb: %w; its output:\n%s", err, c.log)
	}
	return nil
}

// createDatabase makes the database and the statistics extension in it.
func (c *cluster) createDatabase(ctx context.Context) error {
	for _, step := range []struct{ database, statement string }{
		{"postgres", "CREATE DATABASE " + databaseName},
		{databaseName, "CREATE EXTENSION pg_stat_statements"},
	} {
		conn, err := pgx.Connect(ctx, c.dsnOf(step.database))
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		_, err = conn.Exec(ctx, step.statement)
		_ = conn.Close(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", step.statement, err)
		}
	}
	return nil
}

func (c *cluster) dsn() string { return c.dsnOf(databaseName) }

func (c *cluster) dsnOf(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, c.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// close ends the server and removes its directory. When ctx ends first, the
// postmaster is killed; its children notice and follow.
func (c *cluster) close(ctx context.Context) error {
	if c.server != nil {
		c.server.Signal(deathSignal)
		select {
		case <-c.server.Done():
		case <-ctx.Done():
			c.server.End(0)
		}
	}
	if err := c.dir.Remove(); err != nil {
		return fmt.Errorf("postgres: remove the run directory: %w", err)
	}
	return nil
}

// command prepares one of the server's programs. It gets a new environment: PGPORT and
// the like would affect the cluster.
func (c *cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin.dir, program), args...)
	cmd.Dir = c.dir.Path
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + c.bin.dir + ":/usr/bin:/bin", "HOME=" + c.dir.Path}
	attr := *c.id.attr
	cmd.SysProcAttr = &attr
	return cmd
}

func (c *cluster) output(ctx context.Context, program string, args ...string) ([]byte, error) {
	var out strings.Builder
	cmd := c.command(program, args...)
	cmd.Stdout = &out
	err := c.wait(ctx, cmd)
	return []byte(out.String()), err
}

// wait runs cmd to its end, or kills it when ctx ends.
func (c *cluster) wait(ctx context.Context, cmd *exec.Cmd) error {
	p, err := guard.Start(cmd, deathSignal)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
		return p.State().Err()
	case <-ctx.Done():
		p.End(0)
		return ctx.Err()
	}
}

func freePort() (int, error) {
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		return 0, err
	}
	_, number, err := net.SplitHostPort(address)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(number)
}
