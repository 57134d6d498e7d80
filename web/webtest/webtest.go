// Package webtest runs the pages' own tests: Node.js with the packages of web/page, and
// Debian's Chromium, one for all tests of a package.
package webtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Modules makes sure that the packages of a folder of page sources are installed, and skips the
// test, saying why, where they cannot be had. Continuous integration needs Node.js 20 or
// later with npm, and a registry.
func Modules(t *testing.T, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the page's own tests take seconds")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (apt-get install nodejs npm, version 20 or later): %v", tool, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "esbuild")); err == nil {
		return
	}
	if out, err := Command(t, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"); err != nil {
		t.Skipf("npm ci cannot install the page's packages: %v\n%s", err, out)
	}
}

// Chromium returns the path of the browser, and skips the test if there is none.
func Chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium (apt-get install chromium)")
	return ""
}

// Shots returns the folder below $REDLINE_SHOTS that a test's screenshots go into, or "" where nobody asks
// for any.
func Shots(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REDLINE_SHOTS")
	if dir == "" {
		return ""
	}
	dir = filepath.Join(dir, t.Name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Node runs a script of dir and returns what it prints.
func Node(t *testing.T, dir string, args ...string) string {
	t.Helper()
	Modules(t, dir)
	out, err := Command(t, dir, "node", args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// margin is what a page that hangs leaves of the test binary's time (go test -timeout), so that its error is still printed.
// Nothing else bounds it: how long a page takes on a machine that has no CPU for it says nothing of the page.
const margin = time.Minute

// left is the time that a test may still take; 0 is no limit.
func left(t *testing.T) time.Duration {
	deadline, ok := t.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline)-margin, margin)
}

// Command runs a command in dir. It returns its standard output, and with an error the standard error as well.
func Command(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	ctx := t.Context()
	if limit := left(t); limit > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String() + errs.String(), fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out.String(), nil
}
