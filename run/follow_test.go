package run

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
)

// TestMarksAreRecorded: at once, without secrets, and only so many; a run that is killed later still has
// them.
func TestMarksAreRecorded(t *testing.T) {
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	bundle, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow, Scenario: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	hide := redact.New()
	hide.Learn("correct horse battery")
	bundle.Hide(hide)
	c := &conductor{Options: Options{Hide: hide}, clock: clock, bundle: bundle}
	if m, err := c.mark("deploy with correct horse battery"); err != nil || strings.Contains(m.Text, "horse") {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := c.mark(strings.Repeat("x", 10_000)); err != nil {
		t.Error(err)
	}
	rec, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	marks := rec.Run.Marks
	if len(marks) != 2 || !strings.HasPrefix(marks[0].Text, "deploy with ") || strings.Contains(marks[0].Text, "horse") ||
		len(marks[1].Text) != record.MaxMarkText || marks[0].At <= 0 || marks[1].At < marks[0].At || marks[1].At > time.Minute {
		t.Errorf("%+v", marks)
	}
	for range record.MaxMarks - 2 {
		if _, err := c.mark(""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.mark("one more"); err == nil || !strings.Contains(err.Error(), "already has 200 marks") {
		t.Errorf("one mark too many: %v", err)
	}
	if err := bundle.Close(record.Complete, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.mark("late"); !errors.Is(err, record.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
