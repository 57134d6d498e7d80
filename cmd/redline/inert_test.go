package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/experiment"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
)

// hostileName acts in a terminal, a log, a CI system or a page if it is printed
// unescaped: an escape sequence, lines of their own, C1, overrides of direction.
const hostileName = "owned\x1b]0;owned\x07\x1b[2J\r\n::error::owned\n##vso[task.complete]\u009b31m\u202e\u2028x"

// taint sets every text within v to hostileName and gives every list, map and pointer an
// element, so that future fields are hostile as well.
func taint(v reflect.Value, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileName)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		taint(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		taint(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		taint(key, depth+1)
		taint(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			taint(v.Field(i), depth+1)
		}
	}
}

// hostileSession is a history with a session of which every text is hostile.
func hostileSession(t *testing.T) string {
	t.Helper()
	var s history.Session
	taint(reflect.ValueOf(&s).Elem(), 0)
	where := filepath.Join(t.TempDir(), "history.db")
	store, err := history.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.AddSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return where
}

// hostileBundle is a run in whose summary, frames, statements and modules every text from outside is
// hostile.
func hostileBundle(t *testing.T) string {
	t.Helper()
	var s record.Summary
	taint(reflect.ValueOf(&s).Elem(), 0)
	s.Schema, s.State, s.Load.Errors = record.SummarySchema, record.Complete, 0
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).Module(hostileName).Alloc(9000, 9<<20, hostileName+"@"+hostileName+":6").
		Statement(hostileName, 9000, time.Millisecond, 1, 1, "").Summary(s).Open(t)
	var f findings.Findings
	taint(reflect.ValueOf(&f).Elem(), 0)
	if err := disk.WriteJSON(rec.Dir, findings.File, f); err != nil { // so that report does not assess again
		t.Fatal(err)
	}
	return rec.Dir
}

// hostileKnee is the session of a knee in whose steps every text is hostile.
func hostileKnee(t *testing.T) string {
	t.Helper()
	dir, header, step := t.TempDir(), knee.Header{}, knee.Step{}
	header.Target, header.Reason, header.Objectives = hostileName, hostileName, []string{hostileName}
	header.Schema = "redline.knee-session/1"
	taint(reflect.ValueOf(&step).Elem(), 0)
	step.Phase = knee.AtKnee
	line, err := json.Marshal(map[string]any{"step": step})
	if err != nil || os.WriteFile(filepath.Join(dir, "steps.jsonl"), append(line, '\n'), 0o600) != nil ||
		disk.WriteJSON(dir, "knee-session.json", header) != nil {
		t.Fatal(err)
	}
	return dir
}

// acts returns the parts of an output that act: characters that a terminal obeys, and lines
// that a CI system takes for commands.
func acts(output string) string {
	if i := strings.IndexAny(output, "\x1b\x07\r\u009b\u202e\u2028"); i >= 0 {
		return output[i:min(len(output), i+20)]
	}
	for line := range strings.Lines(output) {
		if line = strings.TrimLeft(line, " \t"); strings.HasPrefix(line, "::error") || strings.HasPrefix(line, "##vso") {
			return line
		}
	}
	return ""
}

// inProcess runs a command line and returns everything that it prints or writes to out.
func inProcess(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	execute(t.Context(), args, io.Writer(&out), &errs)
	return out.String() + errs.String()
}

// daily is a short history of a forecast.
func daily() string {
	var b strings.Builder
	for day := 2; day <= 31; day++ {
		fmt.Fprintf(&b, "2026-01-%02d,%d\n", day, 100+day*7%5)
	}
	return b.String()
}

// TestHostileNamesAreInert gives every verb hostile names, from a bundle if it reads one,
// and else from its command line. A verb that is not in the table fails the test: add how
// it prints a name from outside.
func TestHostileNamesAreInert(t *testing.T) {
	dir := t.TempDir()
	// diagnose replaces the summary of the bundle that it assesses.
	bundle, again, file, db := hostileBundle(t), hostileBundle(t), filepath.Join(dir, "out"), filepath.Join(dir, "history.db")
	h := hostileName
	plan := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(plan, []byte("target: {exec: \"x\"}\n"+h+": 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lab := filepath.Join(dir, "lab")
	points := filepath.Join(dir, "points.csv")
	if err := os.WriteFile(points, []byte("time,value\n"+strings.Repeat("2026-01-01,1\n", 3)+daily()), 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := json.Marshal(experiment.Results{Schema: experiment.Schema, Go: h,
		Results: []experiment.Result{{ID: "E-atomic", Metric: h, Verdict: experiment.Verdict(h), Why: h}}})
	if err != nil || os.Mkdir(lab, 0o755) != nil || os.WriteFile(filepath.Join(lab, experiment.ResultsFile), results, 0o600) != nil {
		t.Fatal(err)
	}
	kneeDir := hostileKnee(t)
	table := map[string][][]string{
		"run":      {{"run", h}, {"run", plan}, {"run", "http://127.0.0.1:1/", "--build", h}, {"run", "--" + h}, {"run", "http://127.0.0.1:1/", "--rate", h}},
		"doctor":   {{"doctor", h}, {"doctor", "--ceilings", h}},
		"knee":     {{"knee", h}, {"knee", plan}, {"knee", "--from", h}, {"knee", "--from", kneeDir}, {"knee", "--from", kneeDir, "--markdown", file}},
		"diagnose": {{"diagnose", h}, {"diagnose", again, "--all"}, {"diagnose", again, "--json"}},
		"report": {{"report", h}, {"report", bundle}, {"report", bundle, "--all"}, {"report", bundle, "--format",
			"md"}, {"report", bundle, "--format", "json"},
			{"report", bundle, "--format", h}, {"report", bundle, "-o", file}, {"report", bundle, "--all", "-o",
				file}, {"report", bundle, "--format", "md", "-o", file}, {"report", bundle, "--format", "json", "-o", file}},
		"explain":          {{"explain", h}},
		"demo":             {{"demo", h}, {"demo", "-o", h, "--" + h}},
		"lint":             {{"lint", h}, {"lint", "--profile", h}, {"lint", "--profile", bundle}},
		"ab":               {{"ab", h}, {"ab", plan, "--a", h, "--b", h}},
		"tune":             {{"tune", h}, {"tune", plan, "--knob", h}, {"tune", "http://127.0.0.1:1/", "--knob", "GOGC=50..400", "--objective", h}, {"tune", "http://127.0.0.1:1/", "--exec", h, "--knob", "env:A=" + h + "," + h + "2"}},
		"gate":             {{"gate", h}, {"gate", plan, "--base", h}, {"gate", plan, "--baseline", h}},
		"compare":          {{"compare", h, h}, {"compare", bundle, bundle}, {"compare", bundle, bundle, "--markdown", file}, {"compare", bundle, bundle, "--json"}, {"compare", bundle, bundle, "--html", file}},
		"serve":            {{"serve", h}},
		"history":          {{"history", "--history", h + "/x"}, {"history", "--history", db}, {"history", "--history", db, "--csv"}, {"history", h, "--history", db}},
		"history trials":   {{"history", "trials", "--history", hostileSession(t)}, {"history", "trials", "--history", h + "/x", "--last", "1"}},
		"history add":      {{"history", "add", h, "--history", db}, {"history", "add", bundle, "--history", db}},
		"bench":            {{"bench", h, "--" + h}, {"bench", "--bench", "("}},
		"forecast":         {{"forecast", h}, {"forecast", points, "--limit", h}, {"forecast", points, "--unit", h, "--plain"}, {"forecast", points, "--unit", h, "--markdown"}, {"forecast", points, "--unit", h, "--json"}, {"forecast", "--prometheus", h, "--query", h}, {"forecast", points, "--column", h}, {"forecast", points, "--holidays", h}},
		"baseline":         {{"baseline", h}, {"baseline", "--against", h}},
		"baseline round":   {{"baseline", "round", h}},
		"version":          {{"version", h}},
		"lab":              {{"lab", h}},
		"lab list":         {{"lab", "list", h}},
		"lab run":          {{"lab", "run", h}, {"lab", "run", "E-atomic", "--checkout", h}},
		"lab ladder":       {{"lab", "ladder", h}},
		"lab ladder order": {{"lab", "ladder", "order", h}, {"lab", "ladder", "order", "--checkout", h}, {"lab", "ladder", "order", "--resume", "-o", h}},
		"lab ladder stack": {{"lab", "ladder", "stack", h}, {"lab", "ladder", "stack", "--" + h}},
		"lab report": {{"lab", "report", "--dir", h}, {"lab", "report", "--dir", lab},
			{"lab", "report", "--dir", lab, "-o", file}, {"lab", "report", "--dir", lab, "--format", "md"},
			{"lab", "report", "--dir", lab, "--format", h}},
	}
	for _, words := range verbs(rootCommand(io.Discard, io.Discard)) {
		verb := strings.Join(words, " ")
		if table[verb] == nil {
			t.Errorf("redline %s is not in the table: which of its outputs hold names from outside?", verb)
		}
	}
	t.Chdir(dir)
	reached := map[string]bool{}
	for verb, lines := range table {
		for _, args := range lines {
			os.Remove(file)
			printed := inProcess(t, args...)
			if got := acts(printed); got != "" {
				t.Errorf("redline %q prints %q in\n%q", args, got, printed)
			}
			written, err := os.ReadFile(file)
			if got := acts(string(written)); err == nil && got != "" {
				t.Errorf("redline %q writes %q", args, got)
			}
			if strings.Contains(printed+string(written), "owned") {
				reached[verb] = true
			}
		}
		if !reached[verb] {
			t.Errorf("no output of redline %s held the hostile name: the test shows nothing of it", verb)
		}
	}
}
