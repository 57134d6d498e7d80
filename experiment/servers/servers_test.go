package servers

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/service/guard"
	"github.com/redline-go/redline/service/postgres"
	"github.com/redline-go/redline/service/scratch"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}

// unset takes addresses away that the environment may hold.
func unset(t *testing.T) {
	for _, variable := range []string{Postgres, Replica, Redis} {
		t.Setenv(variable, "")
	}
}

// TestServersEnd: each server answers, and none does after Close.
func TestServersEnd(t *testing.T) {
	if _, err := postgres.Installed(); err != nil {
		t.Skip("no PostgreSQL here: ", err)
	}
	unset(t)
	var set Set
	defer set.Close()
	replica, err := set.Address(t.Context(), Replica)
	if err != nil {
		t.Fatal(err)
	}
	primary, err := set.Address(t.Context(), Postgres)
	if err != nil || primary == replica {
		t.Fatal(primary == replica, err)
	}
	for dsn, want := range map[string]bool{primary: false, replica: true} {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		var follows bool
		if err := conn.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&follows); err != nil || follows != want {
			t.Errorf("follows: %v, want %v; %v", follows, want, err)
		}
		_ = conn.Close(t.Context())
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	for _, dsn := range []string{primary, replica} {
		if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
			_ = conn.Close(t.Context())
			t.Error("a server answers after Close")
		}
	}
}

func TestRedisEnds(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed (hint: REDLINE_SETUP=test scripts/setup.sh)")
	}
	unset(t)
	var set Set
	defer set.Close()
	socket, err := set.Address(t.Context(), Redis)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "PING\r\n")
	if answer, err := bufio.NewReader(conn).ReadString('\n'); answer != "+PONG\r\n" {
		t.Errorf("%q, %v", answer, err)
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// TestRedisThatDoesNotStart: the error says why, and one that never answers is not waited for.
func TestRedisThatDoesNotStart(t *testing.T) {
	for script, c := range map[string]struct {
		within time.Duration
		want   string
	}{
		"echo Starting; echo 'Bad directive' >&2; exit 1": {time.Minute, "Bad directive"},
		"exec sleep 600": {time.Millisecond, "not ready after 1ms"},
	} {
		path := filepath.Join(t.TempDir(), "redis-server")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		dir, err := scratch.New("redis")
		if err != nil {
			t.Fatal(err)
		}
		r := &redis{socket: filepath.Join(dir.Path, "socket"), dir: dir}
		if err := r.start(t.Context(), path, c.within); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", script, err, c.want)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGivenAddresses: an address of the environment is taken as it is, and nothing starts.
func TestGivenAddresses(t *testing.T) {
	unset(t)
	t.Setenv(Postgres, "postgres://elsewhere")
	var set Set
	if address, err := set.Address(t.Context(), Postgres); address != "postgres://elsewhere" || set.primary != nil {
		t.Errorf("%q, %v", address, err)
	}
	if _, err := set.Address(t.Context(), Replica); !errors.Is(err, ErrMissing) {
		t.Errorf("a replica of a given server: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := set.Address(t.Context(), Redis); !errors.Is(err, ErrMissing) {
		t.Errorf("redis-server without a PATH: %v", err)
	}
	if _, err := set.Address(t.Context(), "OTHER"); err == nil {
		t.Error("an unknown variable has an address")
	}
}
