package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"explain", "lock-contention", cli.ExitOK},
		{"explain lock-contention", "What to do\n", cli.ExitOK},
		{"explain lock-contention --markdown", "## What to do\n", cli.ExitOK},
		{"explain --markdown", "- [lock-contention](causes/lock-contention.md): ", cli.ExitOK},
		{"explain lock", "did you mean lock-contention", cli.ExitUsage},
		{"explain lok-contension", `did you mean "lock-contention"?`, cli.ExitUsage},
		{"explain xyzzy", "redline explain lists all", cli.ExitUsage},
		{"__complete explain lock", "lock-contention\t", cli.ExitOK},
	} {
		var out, errs strings.Builder
		code := execute(context.Background(), strings.Fields(c.args), &out, &errs)
		if code != c.code || !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("redline %s: exit %d, no %q in\n%s%s", c.args, code, c.want, &out, &errs)
		}
	}
	if code := execute(context.Background(), []string{"explain", "lock-contention"}, failing{}, io.Discard); code == cli.ExitOK {
		t.Error("a broken pipe is no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
