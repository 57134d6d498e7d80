package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/machine"
	"github.com/redline-go/redline/record"
)

// TestRunNamesTheBaseline: a run ends with the newest baseline of its machine, and not with a newer
// one of another machine; JSON stays JSON alone.
func TestRunNamesTheBaseline(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer server.Close()
	dir := t.TempDir()
	save := func(day int, change func(*machine.Baseline)) string {
		steal := 0.07
		b := machine.Baseline{Schema: machine.Schema, Begun: time.Date(2026, 3, day, 9, 30, 0, 0, time.UTC),
			Host: record.HostInfo(), Go: runtime.Version(), Disturbance: machine.Disturbance{Steal: &steal}}
		change(&b)
		path, err := b.Save(filepath.Join(dir, "baselines"))
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Base(path)
	}
	save(1, func(*machine.Baseline) {})
	newest := save(2, func(*machine.Baseline) {})
	save(3, func(b *machine.Baseline) { b.Host.CPUs++ })
	save(4, func(b *machine.Baseline) { b.Go = "go1.1" })

	load := []string{"run", server.URL, "-n", "20", "-c", "1", "--warmup", "0s", "--no-observe"}
	r := invokeIn(t, dir, load...)
	want := "\nthis machine's baseline: baselines/" + newest + " (measured 2026-03-02 09:30 UTC; restless: the hypervisor gave 7.0 % "
	if !strings.Contains(r.stdout, want) {
		t.Errorf("exit %d, without %q:\n%s\n%s", r.code, want, r.stdout, r.stderr)
	}
	if r := invokeIn(t, dir, append(load, "--json")...); strings.Contains(r.stdout, "this machine's baseline") {
		t.Errorf("JSON is followed by text:\n%s", r.stdout)
	}
}

// TestBaselineTooShort: a session without enough rounds is undecided, not a usage error, and keeps nothing.
func TestBaselineTooShort(t *testing.T) {
	dir := t.TempDir()
	r := invokeIn(t, dir, "baseline", "--time", "1ms")
	if r.code != cli.ExitUndecided || !strings.Contains(r.stderr, "too few rounds") || r.stdout != "" {
		t.Errorf("exit %d: %s\n%s", r.code, r.stderr, r.stdout)
	}
	if _, path := machine.Newest(filepath.Join(dir, "baselines")); path != "" {
		t.Errorf("kept %s", path)
	}
}
