package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// explosive panics where text is printed, as a parser would on a bundle that no one
// anticipated.
type explosive struct{}

func (explosive) Write([]byte) (int, error) { panic("index out of range\n::error::owned") }

func TestPanicNamesTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow, Scenario: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(record.Complete, ""); err != nil {
		t.Fatal(err)
	}
	t.Setenv(debugVariable, "")
	var said bytes.Buffer
	if code := execute(t.Context(), []string{"report", dir}, explosive{}, &said); code != cli.ExitUsage {
		t.Errorf("exit %d", code)
	}
	if text := said.String(); !strings.Contains(text, "damaged") || !strings.Contains(text, assess.Bug) || !strings.Contains(text, dir) ||
		strings.Contains(text, "goroutine") || strings.Count(text, "\n") != 1 {
		t.Errorf("it says %q", text)
	}
	t.Setenv(debugVariable, "1")
	said.Reset()
	execute(t.Context(), []string{"report", dir}, explosive{}, &said)
	if !strings.Contains(said.String(), "crash_test.go") {
		t.Errorf("no stack in %q", said.String())
	}
}

// TestErrorsDoNotAct: a bundle's path is a name as well.
func TestErrorsDoNotAct(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x\x1b[2J\n::error::owned")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	if code := execute(t.Context(), []string{"report", dir}, &out, &said); code != cli.ExitUsage {
		t.Errorf("exit %d", code)
	}
	if strings.Contains(said.String(), "\n::error") || strings.Contains(said.String(), "\x1b") {
		t.Errorf("it says %q", said.String())
	}
}
