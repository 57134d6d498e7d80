package main

// A run that receives a signal, at each of its steps and each of the signals.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
)

// heard is the output of a command while it runs.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// endedAt starts a run, sends a signal as soon as it prints a phase, and returns how
// it ended.
func endedAt(t *testing.T, tmp, phase string, s syscall.Signal, args ...string) result {
	t.Helper()
	var stdout, stderr heard
	cmd := exec.CommandContext(t.Context(), redline, args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(stderr.String(), phase) {
		select {
		case <-done:
			t.Fatalf("it ended before it said %q:\n%s", phase, stderr.String())
		case <-tick.C:
		}
	}
	if err := cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	<-done
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestLateInterruptIsSaid: one that comes when the outcome is known changes nothing of it, and is said beside it.
func TestLateInterruptIsSaid(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var said bytes.Buffer
	code := execute(ctx, []string{"report", filepath.Join(t.TempDir(), "nothing")}, io.Discard, &said)
	if lines := strings.Split(strings.TrimSpace(said.String()), "\n"); code != cli.ExitInterrupted || len(lines) < 2 ||
		!strings.Contains(lines[0], "nothing") || !strings.HasPrefix(lines[len(lines)-1], "redline: interrupted") {
		t.Errorf("exit %d, %q", code, lines)
	}
}

func TestEveryStepCanBeInterrupted(t *testing.T) {
	t.Parallel()
	// If this test itself runs under nohup, redline would ignore SIGHUP too; a handler
	// here becomes the default there.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	pkg := service(t, healthy)
	for _, c := range []struct {
		phase  string
		signal syscall.Signal
		state  record.State // of the bundle; empty for none
	}{
		{"building", syscall.SIGINT, ""},
		{"waiting until", syscall.SIGTERM, ""},
		{"warm-up", syscall.SIGHUP, record.Aborted},
		{"measuring", syscall.SIGHUP, record.Aborted},
		{"closing the record", syscall.SIGTERM, ""},
		{"reading the compiler's remarks", syscall.SIGINT, record.Complete},
		{"breaking requests down", syscall.SIGTERM, record.Complete},
	} {
		t.Run(c.phase, func(t *testing.T) {
			tmp := t.TempDir()
			bundle := filepath.Join(t.TempDir(), "bundle")
			address := freePort(t)
			path := scenarioFile(t, pkg, address, "load: {connections: 2, duration: 600ms, warmup: 300ms}\n")
			if strings.HasPrefix(c.phase, "waiting") { // for a service that is never ready
				text := fmt.Sprintf("target: {exec: [sleep, \"600\"]}\nrequests: [{get: \"http://%s/\"}]\n", address)
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := endedAt(t, tmp, c.phase, c.signal, "run", path, "-o", bundle, "--plain")
			if r.code != cli.ExitInterrupted || !strings.Contains(r.stderr, "redline: interrupted") {
				t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitInterrupted, r.stderr)
			}
			if c.state != "" {
				rec, err := record.Open(bundle)
				if err != nil {
					t.Fatal(err)
				}
				if rec.Run.State != c.state {
					t.Errorf("state %s, want %s", rec.Run.State, c.state)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestSecondInterruptEndsAtOnce: it ends without grace, and yet leaves nothing behind.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	pids := filepath.Join(t.TempDir(), "pids")
	script := "trap '' TERM INT; echo $$ > " + pids + "; while :; do sleep 0.1; done"
	text := fmt.Sprintf("target: {exec: [sh, -c, %q]}\nrequests: [{get: \"http://%s/\"}]\n",
		"setsid sh -c "+fmt.Sprintf("%q", script)+" & wait", freePort(t))
	path := filepath.Join(t.TempDir(), "deaf.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	i := startWith(t, t.TempDir(), []string{"TMPDIR=" + tmp}, "run", path, "--plain")
	pid := awaitPID(t, pids)
	i.cmd.Process.Signal(os.Interrupt)
	// The first signal is handled once the target is asked to end, which it ignores.
	await(t, "first interrupt", func() bool { return pendingNone(i.cmd.Process.Pid) })
	i.cmd.Process.Signal(os.Interrupt)
	if r := finish(t, i); r.code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d\n%s", r.code, cli.ExitInterrupted, r.stderr)
	}
	awaitGone(t, pid)
	await(t, "end of the scratch folders", func() bool {
		left, _ := filepath.Glob(filepath.Join(tmp, "*"))
		return len(left) == 0
	})
}

// pendingNone reports whether a process has no pending signals.
func pendingNone(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), "ShdPnd:\t0000000000000000")
}

// awaitPID polls for the process id that a shell writes.
func awaitPID(t *testing.T, path string) (pid int) {
	t.Helper()
	await(t, "process id", func() bool {
		data, _ := os.ReadFile(path)
		n, _ := fmt.Sscan(string(data), &pid)
		return n == 1 && strings.HasSuffix(string(data), "\n")
	})
	return pid
}

// TestNohup: under nohup a run survives when the terminal closes.
func TestNohup(t *testing.T) {
	t.Parallel()
	path := scenarioFile(t, service(t, healthy), freePort(t), "load: {connections: 2, duration: 1s, warmup: 0s}\n")
	bundle := filepath.Join(t.TempDir(), "bundle")
	i := &invocation{cmd: exec.CommandContext(t.Context(), "nohup", redline, "run", path, "-o", bundle, "--plain")}
	i.cmd.Dir = t.TempDir()
	i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "bundle", func() bool { return cli.BundleIn(bundle) })
	i.cmd.Process.Signal(syscall.SIGHUP)
	if r := finish(t, i); r.code == cli.ExitInterrupted || r.code < 0 {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
}
