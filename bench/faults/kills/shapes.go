package kills

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// shape is what redline starts.
type shape struct {
	name string
	// target is the scenario's target: build, or exec; b.service ignores every signal
	// that can be ignored.
	target func(b *bench) string
	ab     bool // a comparison of two revisions instead of a run
	builds bool // the service is compiled
}

var shapes = []shape{
	{name: "deaf", target: func(b *bench) string { return fmt.Sprintf("exec: [%q]", b.service) }},
	{name: "shell", target: func(b *bench) string { return fmt.Sprintf("exec: [sh, -c, %q]", b.service+"; true") }},
	{name: "go run", builds: true, target: func(b *bench) string { return fmt.Sprintf("exec: [go, run, -C, %q, ./svc]", b.module) }},
	{name: "daemon", target: func(b *bench) string {
		return fmt.Sprintf("exec: [sh, -c, %q]", "(setsid sh -c '"+b.service+" & exit 0' &) ; while :; do sleep 1; done")
	}},
	{name: "build", builds: true, target: func(b *bench) string { return fmt.Sprintf("build: %q", filepath.Join(b.module, "svc")) }},
	{name: "ab", ab: true, builds: true, target: func(*bench) string { return "build: ./svc" }},
}

const source = `package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello") })
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Getenv("ADDR"), nil))
	os.Exit(1)
}
`

// build makes the repository and the binary of the service.
func (b *bench) build(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Join(b.module, "svc"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module example.com/stall\n\ngo 1.24\n", "svc/main.go": source} {
		if err := os.WriteFile(filepath.Join(b.module, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, words := range []string{"git init -q", "git add .",
		"git -c user.name=bench -c user.email=bench@example.com commit -q -m one", "git tag v1",
		"go build -o " + b.service + " ./svc"} {
		words := strings.Fields(words)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir = b.module
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, out)
		}
	}
	return nil
}

// worktrees returns the worktrees that the repository lists, except itself.
func (b *bench) worktrees(ctx context.Context, s shape) []string {
	if !s.ab {
		return nil
	}
	cmd := exec.CommandContext(ctx, "git", "worktree", "list")
	cmd.Dir = b.module
	out, err := cmd.Output()
	if err != nil {
		return []string{"git worktree list: " + err.Error()}
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")[1:]
}

// scenario writes what a trial runs and returns the file.
func (b *bench) scenario(dir, address string, s shape) (string, error) {
	path := filepath.Join(dir, "stall.yaml")
	text := fmt.Sprintf(`target:
  %s
  env: {ADDR: "%s"}
  ready: http://%[2]s/
  ready_timeout: 5m
load: {connections: 2, duration: 1s, warmup: 300ms}
verify: {p50: off, p90: off, p99: off, allocs_per_request: off, bytes_per_request: off, gc_cpu: off, rss: off}
requests:
  - {name: hello, get: "http://%[2]s/"}
`, s.target(b), address)
	return path, os.WriteFile(path, []byte(text), 0o644)
}
