package stacks

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// TestDeepStacksAreCut: only the innermost frames are kept, and inlined calls count as
// frames.
func TestDeepStacksAreCut(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "shop.f"}
	l := &profile.Location{ID: 1, Line: slices.Repeat([]profile.Line{{Function: f, Line: 1}}, 100)}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}},
		Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{{Location: slices.Repeat([]*profile.Location{l}, 20), Value: []int64{7}}}}
	out, err := Flatten(p, "cpu")
	if err != nil || len(out.Samples) != 1 || len(out.Samples[0].Stack) != maxStack || len(out.Samples[0].Inlined) != maxStack {
		t.Fatalf("%v: %d frames, want %d", err, len(out.Samples[0].Stack), maxStack)
	}
	p.Sample = slices.Repeat(p.Sample, maxFrames/maxStack+1)
	if _, err := Flatten(p, "cpu"); err == nil || !strings.Contains(err.Error(), "in sum") {
		t.Errorf("of many: %v", err)
	}
}
