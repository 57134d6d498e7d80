package main

// Disks that are full or read-only, before, during and after a run: the error is
// reported once, the measurements are kept, and the findings are printed.

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix" // mounts

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
)

// smallDisk mounts a file system of the given size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("this machine lets nobody mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// TestNowhereToWrite gives runs directories that cannot be written: the error comes
// before the target starts, with a remedy.
func TestNowhereToWrite(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	args := func(out string) []string {
		return []string{"run", "http://" + freePort(t), "--exec", "touch " + started, "-o", out}
	}
	refused := func(t *testing.T, r result, reason, hint string) {
		t.Helper()
		if r.code != cli.ExitUsage || r.stdout != "" || !strings.Contains(r.stderr, reason) ||
			!strings.Contains(r.stderr, hint) || strings.Contains(r.stderr, "panic") {
			t.Errorf("exit %d, want %d, %q and %q\n%.1000s", r.code, cli.ExitUsage, reason, hint, r.stderr)
		}
		if _, err := os.Stat(started); err == nil {
			t.Error("the target was started")
		}
	}
	t.Run("full", func(t *testing.T) {
		where := t.TempDir()
		refused(t, invokeConfined(t, "full="+where, args(where+"/bundle")...), "no space left on device", "hint: free space")
	})
	t.Run("read-only", func(t *testing.T) {
		where := t.TempDir()
		refused(t, invokeConfined(t, "ro="+where, args(where+"/bundle")...), "read-only file system", "hint: the disk is read-only")
		refused(t, invokeConfined(t, "ro="+where, args(where)...), "read-only file system", "hint: the disk is read-only")
	})
	t.Run("not permitted", func(t *testing.T) {
		n := becomeNobody(t)
		started = filepath.Join(n.dir, "started")
		refused(t, n.invoke(t, args(filepath.Join(filepath.Dir(n.dir), "bundle"))...), "permission denied",
			"hint: -o a directory that you may write")
	})
}

// countdown is a server that calls f as it answers the nth request.
func countdown(t *testing.T, n int64, f func()) string {
	t.Helper()
	var left atomic.Int64
	left.Store(n)
	return "http://" + serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if left.Add(-1) == 0 {
			f()
		}
		fmt.Fprintln(w, "hello")
	}), nil)
}

// TestDiskFillsUp fills the disk in the middle of a run and at its last request.
func TestDiskFillsUp(t *testing.T) {
	t.Parallel()
	const requests = 6000 // on a starved machine the first second may pass without an answer
	for when, at := range map[string]int64{"in the middle": requests / 2, "at the close": requests} {
		t.Run(when, func(t *testing.T) {
			where := smallDisk(t, "1m")
			url := countdown(t, at, func() {
				if err := fill(where); err != nil {
					t.Error(err)
				}
			})
			bundle := filepath.Join(where, "bundle")
			r := invoke(t, "run", url, "--rate", "1000/s", "-n", fmt.Sprint(requests), "--warmup", "0s", "-o", bundle, "--json")
			if r.code != cli.ExitUndecided || strings.Count(r.stderr, "the disk is full") != 1 ||
				!strings.Contains(r.stderr, "hint: free space") {
				t.Errorf("exit %d, want %d and one sentence\n%s", r.code, cli.ExitUndecided, r.stderr)
			}
			if s := summaryOf(t, r); s.Load.Requests == 0 || s.Load.Latency.P50 == 0 {
				t.Errorf("what was measured is lost: %+v", s.Load)
			}
			rec, err := record.Open(bundle)
			if err != nil {
				t.Fatal(err)
			}
			if from, to := rec.Windows(); to-from < 3 {
				t.Errorf("windows %d to %d are kept", from, to)
			}
		})
	}
}

// TestDiskLimits runs with files that may not grow (RLIMIT_FSIZE), a limit that any
// user can have.
func TestDiskLimits(t *testing.T) {
	t.Parallel()
	url := hello(t)
	bundle := filepath.Join(t.TempDir(), "bundle")
	i := startLimited(t, "ulimit -f 128; ", "run", url, "-c", "2", "-d", "3s", "--warmup", "0s", "-o", bundle, "--json")
	r := finish(t, i)
	if r.code == cli.ExitOK {
		t.Skipf("128 blocks were enough for the run\n%s", r.stderr)
	}
	if r.code != cli.ExitUndecided || strings.Count(r.stderr, "a file reached the size limit") != 1 {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	if s := summaryOf(t, r); s.Load.Requests == 0 {
		t.Errorf("what was measured is lost: %+v", s.Load)
	}
}

// TestReadOnlyBundle assesses a bundle that cannot be written, on a read-only disk
// and as a user who may only read it: the findings are printed, with the exit code, and
// a message says once that they are not stored.
func TestReadOnlyBundle(t *testing.T) {
	n := becomeNobody(t)
	bundle := filepath.Join(filepath.Dir(n.dir), "bundle")
	path := filepath.Join(t.TempDir(), "s.yaml")
	text := fmt.Sprintf("requests: [{name: a, get: %q}]\nthresholds: [\"p99 < 1ns\"]\n", hello(t))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	measured := invoke(t, "run", path, "-c", "2", "-n", "500", "--warmup", "0s", "-o", bundle)
	if !exits(measured, cli.ExitFailed) {
		t.Fatalf("exit %d\n%s", measured.code, measured.stderr)
	}
	// Not assessed yet, as after a kill.
	for _, file := range []string{"findings.json", "report.html"} {
		if err := os.Remove(filepath.Join(bundle, file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := filepath.WalkDir(bundle, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o755)
	}); err != nil {
		t.Fatal(err)
	}
	before := contents(t, bundle)
	for name, by := range map[string]func(args ...string) result{
		"on a read-only disk": func(args ...string) result { return invokeConfined(t, "ro="+bundle, args...) },
		"as nobody":           func(args ...string) result { return n.invoke(t, args...) },
	} {
		for verb, code := range map[string]int{"diagnose": measured.code, "report": cli.ExitOK} {
			args := []string{verb, bundle, "--json"}
			if verb == "report" {
				args = []string{verb, bundle, "--format", "json"}
			}
			r := by(args...)
			if s := summaryOf(t, r); s.Load.Requests == 0 || len(s.Thresholds) != 1 {
				t.Errorf("%s %s: %+v", verb, name, s)
			}
			if r.code != code || strings.Count(r.stderr, "could not be stored in "+bundle) != 1 {
				t.Errorf("%s %s: exit %d, want %d and that it is not stored\n%s", verb, name, r.code, code, r.stderr)
			}
		}
	}
	if after := contents(t, bundle); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the bundle changed")
	}
}

// startLimited starts redline from a shell that sets limits.
func startLimited(t *testing.T, limits string, args ...string) *invocation {
	t.Helper()
	i := &invocation{cmd: exec.CommandContext(t.Context(), "sh", append([]string{"-c", limits + `exec "$0" "$@"`, redline}, args...)...)}
	i.cmd.Dir = t.TempDir()
	i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return i
}
