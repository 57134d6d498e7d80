package assess

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// cuts are the places, in tenths of a run, at which it may have been killed.
const cuts = 10

// TestKilledRunIsJudgedTheSameTwice cuts recorded runs off and judges what is left
// twice: the second judgement, which finds the first one's files, must be equal in
// findings, what was not judged, and validity. Every fixture at ten places takes a
// quarter of an hour (REDLINE_ALL_CUTS=1); without, some of them at one place each.
func TestKilledRunIsJudgedTheSameTwice(t *testing.T) {
	files, err := filepath.Glob("../corpus/fixtures/*" + corpus.PackExt)
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := os.Getenv("REDLINE_ALL_CUTS") != ""
	const sample = 10
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), corpus.PackExt)
		if !all && i%(len(files)/sample) != 0 {
			continue
		}
		for tenth := 1; tenth <= cuts; tenth++ {
			if !all && tenth != 1+(i/(len(files)/sample))%cuts {
				continue
			}
			t.Run(name+"/"+strconv.Itoa(tenth), func(t *testing.T) {
				t.Parallel()
				twice(t, killedAt(t, file, tenth))
			})
		}
	}
}

func twice(t *testing.T, dir string) {
	var texts [2]string
	for i := range texts {
		_, s, err := Bundle(dir)
		if err != nil {
			t.Fatal(err)
		}
		if s.Generator.Verdict() != record.ValidityUnknown || s.Generator.Valid {
			t.Errorf("judgement %d: the generator is %q, valid %t", i+1, s.Generator.Verdict(), s.Generator.Valid)
		}
		text, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] {
		t.Errorf("judged first:\n%s\nand then:\n%s", texts[0], texts[1])
	}
}

// killedAt leaves of a recorded run what one that was killed after so many tenths
// leaves: the journal, profiles that had ended, and no judgement.
func killedAt(t *testing.T, file string, tenth int) string {
	t.Helper()
	whole, open, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "killed")
	if err := corpus.Unpack(file, whole); err != nil {
		t.Fatal(err)
	}
	rec, err := record.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	run := rec.Run
	run.Steady, run.State, run.Why = timebase.Span{}, record.Running, ""
	w, err := record.Create(open, run)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close(record.Complete, "")
	first, end := rec.Windows()
	last := first + max(1, (end-first)*int64(tenth)/cuts)
	span := timebase.Span{From: timebase.WindowSpan(first, run.Window).From, To: timebase.WindowSpan(last, run.Window).From}
	for _, s := range rec.Names() {
		line := rec.Series(s.Name, s.Labels, span)
		for i, v := range line.Values {
			if v == v { // NaN is none
				if err := w.Add(series.Point{Window: first + int64(i), Series: s, Value: v}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, listed := range rec.Profiles("") {
		if listed.Span.To > span.To {
			continue
		}
		if listed.Data, err = rec.ReadProfile(listed); err != nil {
			t.Fatal(err)
		}
		if err := w.Profile(listed); err != nil {
			t.Fatal(err)
		}
	}
	awaitWindows(t, open, last-first)
	if err := os.CopyFS(dir, os.DirFS(open)); err != nil {
		t.Fatal(err)
	}
	return dir
}
