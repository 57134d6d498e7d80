package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"explain", "lock-contention", exitOK},
		{"explain lock-contention", "What to do\n", exitOK},
		{"explain lock-contention --markdown", "## What to do\n", exitOK},
		{"explain --markdown", "- [lock-contention](causes/lock-contention.md): ", exitOK},
		{"explain lock", "did you mean lock-contention", exitUsage},
		{"explain lok-contension", `did you mean "lock-contention"?`, exitUsage},
		{"explain xyzzy", "redline explain lists all", exitUsage},
		{"__complete explain lock", "lock-contention\t", exitOK},
	} {
		var out, errs strings.Builder
		code := execute(context.Background(), strings.Fields(c.args), &out, &errs)
		if code != c.code || !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("redline %s: exit %d, no %q in\n%s%s", c.args, code, c.want, &out, &errs)
		}
	}
	if err := printText(failing{}, "x"); err != io.ErrClosedPipe {
		t.Errorf("a broken pipe gives %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
