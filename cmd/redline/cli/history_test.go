package cli

import (
	"context"
	"os/exec"
	"testing"

	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/scenario"
)

// TestNoHistory: a command without a history closes none.
func TestNoHistory(t *testing.T) {
	t.Setenv(history.Variable, "")
	store, err := OpenHistory(t.Context(), "")
	if store != nil || err != nil {
		t.Fatalf("%v, %v", store, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestTheCommitOfAnInterruptedSession: git is asked also after Ctrl-C.
func TestTheCommitOfAnInterruptedSession(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "--allow-empty", "--no-gpg-sign", "-m", "first"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if c := TargetCommit(ctx, scenario.Target{Build: "."}, ""); len(c.Hash) != 40 || c.Subject != "first" {
		t.Errorf("%+v", c)
	}
	if c := TargetCommit(ctx, scenario.Target{Exec: []string{"git"}}, ""); c.Hash != "" {
		t.Errorf("the commit of a binary without one is %+v", c)
	}
}
