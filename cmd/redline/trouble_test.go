package main

// Failures around a run: the disk is full, the database goes away, the bundle is
// damaged. Each ends with a clear message and keeps the data so far.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/service/postgres"
)

func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("this machine lets nobody mount: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", disk).Run() })
	bundle := filepath.Join(disk, "bundle")
	// The service itself uses up the rest of the disk in the middle of the load, because
	// how much a run writes depends on the host.
	greedy := fmt.Sprintf(`var asked atomic.Int64
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 200 {
			filler, err := os.Create(%q)
			for err == nil {
				_, err = filler.Write(make([]byte, 512))
			}
		}
		fmt.Fprintln(w, "hello")
	})`, filepath.Join(disk, "filler"))
	r := invoke(t, "run", scenarioFile(t, service(t, greedy), freePort(t), "load: {rate: 200/s, duration: 2s, warmup: 0s}\n"), "-o", bundle)
	if r.code != cli.ExitUndecided || !strings.Contains(r.stderr, "no space left on device") {
		t.Errorf("exit %d, want %d and the reason\n%s", r.code, cli.ExitUndecided, r.stderr)
	}
	rec, err := record.Open(bundle)
	if err != nil {
		t.Fatalf("the bundle does not open: %v", err)
	}
	if from, to := rec.Windows(); to <= from {
		t.Error("no window was kept")
	}
	awaitGone(t, rec.Run.Target.PID)
}

func TestDatabaseLostMidRun(t *testing.T) {
	t.Parallel()
	db, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Stop(context.Background())
	bundle := filepath.Join(t.TempDir(), "bundle")
	path := scenarioFile(t, service(t, healthy), freePort(t),
		"load: {connections: 2, duration: 10m, warmup: 0s}\nobserve: {postgres: \""+db.DSN+"\"}\n")
	i := start(t, "run", path, "-o", bundle, "--json")
	awaitWindows(t, bundle)
	if err := db.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// It continues for two seconds of its own time, each with its queries, and only then
	// ends, as requested.
	lost := awaitLoaded(t, bundle, 0)
	if kept := awaitLoaded(t, bundle, lost+20); kept < lost+20 {
		t.Errorf("%d windows, and %d when the database went", kept, lost)
	}
	if err := i.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := finish(t, i)
	s := summaryOf(t, r)
	if r.code != cli.ExitInterrupted || s.State != record.Aborted || s.Load.Requests == 0 {
		t.Errorf("exit %d, state %s: the run did not go on until it was asked to end\n%s", r.code, s.State, r.stderr)
	}
	for _, source := range s.Sources {
		if source.Name == "postgres" && source.Why == "" {
			t.Errorf("the source does not say that it lost the database: %+v", source)
		}
	}
	if password := passwordOf(t, db.DSN); grepTree(t, bundle, password) || strings.Contains(r.stdout+r.stderr, password) {
		t.Error("the database's password was written down")
	}
}

// passwordOf returns the password of a URL DSN.
func passwordOf(t *testing.T, dsn string) string {
	t.Helper()
	_, rest, _ := strings.Cut(dsn, "://")
	user, _, _ := strings.Cut(rest, "@")
	_, password, ok := strings.Cut(user, ":")
	if !ok || len(password) < 8 {
		t.Fatal("the DSN has no password to look for")
	}
	return password
}

// grepTree reports whether any file below dir holds text.
func grepTree(t *testing.T, dir, text string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found = found || strings.Contains(string(data), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDamagedBundle(t *testing.T) {
	t.Parallel()
	bundle := filepath.Join(t.TempDir(), "bundle")
	path := scenarioFile(t, service(t, healthy), freePort(t), shortLoad)
	r := invoke(t, "run", path, "-o", bundle, "--json")
	if !ran(r) {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	before := map[string]bool{} // findings about a busy host or its quota are no error
	for _, f := range summaryOf(t, r).Findings {
		before[f.Cause] = true
	}
	for _, pattern := range []string{"traces/*", "profiles/cpu*", "profiles/allocs*"} {
		files, err := filepath.Glob(filepath.Join(bundle, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s in the bundle", pattern)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(file, info.Size()/2); err != nil {
				t.Fatal(err)
			}
		}
	}
	began := time.Now()
	s := summaryOf(t, invoke(t, "diagnose", bundle, "--json"))
	if s.Load.Requests == 0 {
		t.Error("the load half is gone with the traces")
	}
	if len(s.NotJudged) == 0 {
		t.Errorf("nothing is said to be not judged after %v: %+v", time.Since(began), s)
	}
	for _, f := range s.Findings {
		if f.Confidence != findings.Low && !before[f.Cause] {
			t.Errorf("only the damaged bundle of a healthy service gives %s: %s", f.Cause, f.Title)
		}
	}
	if err := os.WriteFile(filepath.Join(bundle, "run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, "diagnose", bundle); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "run.json") {
		t.Errorf("exit %d, want %d and the file's name\n%s", r.code, cli.ExitUsage, r.stderr)
	}
}
