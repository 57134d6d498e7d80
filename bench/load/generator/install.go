//go:build linux

package generator

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redline-go/redline/bench/load/process"
)

// pinned are the peers that the Go module proxy serves, at versions that are known to
// build from it: fortio from 1.69.5 on needs a module that it refuses.
var pinned = map[string]struct{ pkg, version string }{
	"k6":     {"go.k6.io/k6", "v1.8.1"},
	"hey":    {"github.com/rakyll/hey", "v0.1.5"},
	"fortio": {"fortio.org/fortio", "v1.68.0"},
	"ghz":    {"github.com/bojand/ghz/cmd/ghz", "v0.93.0"},
}

// installPatience bounds a build; that of k6 takes minutes on two cores.
const installPatience = 20 * time.Minute

// install returns the program of a pinned peer, built on first use into the
// user's cache. If build is false it is taken only from the cache.
func install(ctx context.Context, name string, build bool, say func(format string, args ...any)) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory for built tools: %w", err)
	}
	p := pinned[name]
	dir := filepath.Join(cache, "redline-bench", name+"@"+p.version)
	program := filepath.Join(dir, path.Base(p.pkg))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if !build {
		return "", fmt.Errorf("not built yet (hint: make bench-load builds %s@%s once)", p.pkg, p.version)
	}
	say("building %s@%s, once", p.pkg, p.version)
	ctx, cancel := context.WithTimeout(ctx, installPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nice", "-n", "10", "go", "install", p.pkg+"@"+p.version)
	cmd.Dir = os.TempDir() // outside of any module
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOFLAGS=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s@%s: %w%s", p.pkg, p.version, err, process.LastLine(out))
	}
	return program, nil
}
