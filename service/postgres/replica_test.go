package postgres

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestReplica: what is committed on the primary is read on the replica, which takes no
// writes, does not show the password in its settings, and is gone after Stop.
func TestReplica(t *testing.T) {
	primary := start(t, Options{Settings: Replicating()})
	replica, err := primary.Replica(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir, pid := replica.cluster.dir.Path, replica.PID()
	// The commit returns once the replica has replayed it.
	remote, err := pgx.Connect(t.Context(), primary.DSN+"&synchronous_commit=remote_apply")
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close(t.Context())
	if _, err := remote.Exec(t.Context(), "CREATE TABLE seen AS SELECT 42 AS n"); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, replica.DSN, "SELECT n FROM seen"); n != 42 {
		t.Errorf("the replica has %d", n)
	}
	if on := query[string](t, replica.DSN, "SHOW transaction_read_only"); on != "on" {
		t.Errorf("transactions of the replica are read-only: %s", on)
	}
	if written := query[string](t, replica.DSN, "SHOW primary_conninfo"); strings.Contains(written, replica.cluster.password) {
		t.Error("the setting holds the password")
	}
	if err := replica.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !gone(pid) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the replica's process or its folder is left: %v", err)
	}
	given := &Server{DSN: primary.DSN}
	if _, err := given.Replica(t.Context()); err == nil {
		t.Error("a server given by DSN got a replica")
	}
}
