package experiment

import (
	"slices"
	"testing"

	"github.com/redline-go/redline/experiment/servers"
)

// TestEnvironment: an experiment on databases is handed where its servers are, and others
// are handed nothing.
func TestEnvironment(t *testing.T) {
	for _, variable := range []string{servers.Postgres, servers.Replica, servers.Redis} {
		t.Setenv(variable, "given "+variable)
	}
	seen := 0
	for _, e := range Suite() {
		given, stop, err := environment(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		var want []string
		if e.Folder == "storage" {
			want = []string{"REDLINE_LAB_POSTGRES=given REDLINE_LAB_POSTGRES"}
		}
		for _, variable := range more[e.ID] {
			seen++
			want = append(want, variable+"=given "+variable)
		}
		if !slices.Equal(given, want) || cap(given) != len(given) {
			t.Errorf("%s is handed %q with room for %d, want %q", e.ID, given, cap(given), want)
		}
	}
	if seen != len(more) {
		t.Errorf("%d of %d experiments that need more are in the suite", seen, len(more))
	}
}

// TestEnvironmentWithoutServer: what is not installed is left out, for the benchmark to say.
func TestEnvironmentWithoutServer(t *testing.T) {
	t.Setenv(servers.Postgres, "given")
	t.Setenv(servers.Redis, "")
	t.Setenv("PATH", t.TempDir())
	chosen, err := Find(Suite(), []string{"A-xa"})
	if err != nil {
		t.Fatal(err)
	}
	given, stop, err := environment(t.Context(), chosen[0])
	if err != nil || !slices.Equal(given, []string{"REDLINE_LAB_POSTGRES=given"}) {
		t.Fatalf("%q, %v", given, err)
	}
	stop()
}
