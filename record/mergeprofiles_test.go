package record

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/record/profiles"
	"github.com/redline-go/redline/record/timebase"
)

// cpuProfile is a CPU profile of 10 s with n samples of one stack.
func cpuProfile(t testing.TB, n int) []byte {
	t.Helper()
	function := func(id uint64, name string) *profile.Location {
		return &profile.Location{ID: id, Line: []profile.Line{{Function: &profile.Function{ID: id, Name: name}, Line: 7}}}
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		DurationNanos: 1e10,
	}
	p.Location = []*profile.Location{function(1, "main.work"), function(2, "main.main")}
	for _, l := range p.Location {
		p.Function = append(p.Function, l.Line[0].Function)
	}
	p.Sample = []*profile.Sample{{Location: p.Location, Value: []int64{int64(n), int64(n) * 1e7}}}
	var b bytes.Buffer
	must(t, p.Write(&b))
	return b.Bytes()
}

// cpuOf adds all CPU profiles of a record up.
func cpuOf(t *testing.T, r *Record) (samples, duration int64) {
	t.Helper()
	for _, l := range r.Profiles("cpu") {
		data, err := r.ReadProfile(l)
		must(t, err)
		p, err := profiles.Parse(data)
		must(t, err)
		for _, s := range p.Sample {
			samples += s.Value[0]
		}
		duration += p.DurationNanos
	}
	return samples, duration
}

// TestProfilesAreMerged writes CPU profiles of four hours and counts their samples. In
// between, merged files lie beside those that they were made of, as a kill leaves them.
func TestProfilesAreMerged(t *testing.T) {
	t.Parallel()
	w := handled(t)
	const each, n = time.Minute, 4 * 60
	var samples int64
	for i := range n {
		from := time.Duration(i)*each + 3*time.Second
		must(t, w.Profile(Profile{Type: "cpu", Span: timebase.Span{From: from, To: from + each}, Data: cpuProfile(t, i)}))
		samples += int64(i)
	}
	// What came last makes the others old.
	must(t, w.Profile(Profile{Type: "cpu", Span: timebase.Span{From: 5 * time.Hour, To: 5*time.Hour + each}, Data: cpuProfile(t, 0)}))
	must(t, w.Profile(Profile{Type: "mutex", Span: timebase.Span{From: 0, To: 4 * time.Hour}, Data: cpuProfile(t, 1)}))
	must(t, w.Profile(Profile{Type: "heap", Span: timebase.Span{From: time.Hour, To: time.Hour}, Data: cpuProfile(t, 1)}))
	for did, steps := true, 0; did; steps++ {
		before := filepath.Join(t.TempDir(), "before")
		look := steps%9 == 0
		if look {
			must(t, os.CopyFS(before, os.DirFS(w.dir)))
		}
		var err error
		did, err = w.joinProfiles()
		must(t, err)
		if look {
			merge(t, filepath.Join(w.dir, profilesDir), filepath.Join(before, profilesDir))
			r, err := Open(before)
			must(t, err)
			if got, _ := cpuOf(t, r); got != samples {
				t.Fatalf("killed within step %d: %d samples, want %d", steps, got, samples)
			}
		}
	}
	r, err := Open(w.dir)
	must(t, err)
	if got, duration := cpuOf(t, r); got != samples || duration != (n+1)*int64(10*time.Second) {
		t.Errorf("%d samples over %v, want %d", got, time.Duration(duration), samples)
	}
	if list := r.Profiles("cpu"); len(list) != 5 ||
		list[1].Span != (timebase.Span{From: time.Hour + 3*time.Second, To: 2*time.Hour + 3*time.Second}) {
		t.Errorf("%d CPU profiles: %v", len(list), list)
	}
	if len(r.Profiles("mutex")) != 1 || len(r.Profiles("heap")) != 1 {
		t.Errorf("profiles %v", r.Profiles(""))
	}
}

// TestBadProfilesStay has one that cannot be parsed among those to be merged.
func TestBadProfilesStay(t *testing.T) {
	w := create(t)
	for i := range 180 {
		from := time.Duration(i) * 10 * time.Second
		data := cpuProfile(t, 1)
		if i == 7 {
			data = []byte("none")
		}
		must(t, w.Profile(Profile{Type: "cpu", Span: timebase.Span{From: from, To: from + 10*time.Second}, Data: data}))
	}
	must(t, w.Close(Complete, ""))
	r, err := Open(w.dir)
	must(t, err)
	// The first five minutes hold the bad one and stay, two times five minutes become one
	// each, the last fifteen are too new.
	if n := len(r.Profiles("cpu")); n != 30+2+90 {
		t.Errorf("%d CPU profiles", n)
	}
}
