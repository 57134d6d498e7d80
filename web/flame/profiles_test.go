package flame

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestGraphOutlivesAnUnreadablePart: where one of several profiles cannot be read, the graph stays and cannot be divided
// by time.
func TestGraphOutlivesAnUnreadablePart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	w, err := record.Create(dir, record.Run{Window: timebase.DefaultWindow, Steady: timebase.Span{To: 10 * time.Second}})
	must(t, err)
	f := &profile.Function{ID: 1, Name: "main.wait"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 7}}}
	var good bytes.Buffer
	must(t, (&profile.Profile{SampleType: []*profile.ValueType{{Type: "goroutine", Unit: "count"}},
		Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{5}}}}).Write(&good))
	for at, data := range [][]byte{good.Bytes(), []byte("torn"), good.Bytes()} {
		instant := time.Duration(at+1) * time.Second
		must(t, w.Profile(record.Profile{Type: "goroutine", Span: timebase.Span{From: instant, To: instant}, Data: data}))
	}
	must(t, w.Close(record.Complete, ""))
	rec, err := record.Open(dir)
	must(t, err)
	var s Set
	var missed []string
	s.AddProfiles(rec, func(what string, _ error) { missed = append(missed, what) })
	if len(missed) != 1 || missed[0] != "goroutine flame graph by time" {
		t.Errorf("missed %q", missed)
	}
	if len(s.Graphs) != 1 || len(s.Graphs[0].Columns[0].Parts) != 0 || unpack(&s, s.Graphs[0])["main.wait:7"][0] != 5 {
		t.Errorf("%+v", s.Graphs)
	}
}
