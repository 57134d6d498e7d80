package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/service/guard"
)

// pgbenchDatabase is a database of pgbench's own; pgbenchScale makes it 1,000,000
// accounts, which shared memory holds.
const (
	pgbenchDatabase = "redline_pgbench"
	pgbenchScale    = "10"
)

// pgbench returns how many point reads by primary key per second the server answers over
// prepared statements; 0 where there is no pgbench.
func (c *climb) pgbench(ctx context.Context) (float64, error) {
	binary := findPgbench()
	if binary == "" {
		c.phase("no pgbench found, so nothing to hold the rate against")
		return 0, nil
	}
	c.phase("pgbench -S -M prepared on the same server")
	conn, err := c.databases.connect(ctx, "postgres")
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	name := pgx.Identifier{pgbenchDatabase}.Sanitize()
	drop := "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"
	for _, statement := range []string{drop, "CREATE DATABASE " + name} { // one that was killed leaves its own
		if _, err := conn.Exec(ctx, statement); err != nil {
			return 0, fmt.Errorf("pgbench: %w", err)
		}
	}
	defer conn.Exec(context.WithoutCancel(ctx), drop)
	at := conn.Config()
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(binary, append(args, pgbenchDatabase)...)
		cmd.Env = append(os.Environ(), "PGHOST="+at.Host, "PGPORT="+strconv.Itoa(int(at.Port)),
			"PGUSER="+at.User, "PGPASSWORD="+at.Password)
		out, err := guard.CombinedOutput(ctx, cmd, syscall.SIGTERM)
		if err != nil {
			return nil, fmt.Errorf("pgbench: %w: %.500s", err, out)
		}
		return out, nil
	}
	if _, err := run("-i", "-q", "-s", pgbenchScale); err != nil {
		return 0, err
	}
	out, err := run("-S", "-M", "prepared", "-c", "16", "-j", "2", "-T", "5")
	if err != nil {
		return 0, err
	}
	return pgbenchRate(out)
}

// rateLine is what pgbench prints at its end.
var rateLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

func pgbenchRate(out []byte) (float64, error) {
	found := rateLine.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("pgbench: no rate in %.500q", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// findPgbench returns pgbench of the PATH, else of the newest server; "" for none.
func findPgbench() string {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}
