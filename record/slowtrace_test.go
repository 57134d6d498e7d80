package record

import (
	"testing"

	"github.com/redline-go/redline/record/timebase"
)

// A trace of a slow window is kept apart from the others, even from one of the same span.
func TestTracesOfSlowWindowsAreApart(t *testing.T) {
	w := create(t)
	span := timebase.Span{From: 1e9, To: 2e9}
	must(t, w.Trace(Trace{Span: span, Data: []byte("ordinary")}))
	must(t, w.Trace(Trace{Span: span, Slow: true, Data: []byte("slow")}))
	must(t, w.Close(Complete, ""))
	r, err := Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	got := map[bool]string{}
	for _, trace := range r.Traces() {
		data, err := r.ReadTrace(trace)
		if err != nil {
			t.Fatal(err)
		}
		got[trace.Slow] = string(data)
	}
	if len(got) != 2 || got[true] != "slow" || got[false] != "ordinary" {
		t.Errorf("%v", got)
	}
}
