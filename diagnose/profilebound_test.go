package diagnose

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// TestProfileBounds: small files that would become large profiles.
func TestProfileBounds(t *testing.T) {
	for name, unit := range map[string][]byte{
		"samples": {0x12, 0}, "mappings": {0x1a, 0}, "locations": {0x22, 0}, "functions": {0x2a, 0}, "strings": {0x32, 0},
		"labels": {0x12, 4, 0x1a, 0, 0x1a, 0}, "lines": {0x22, 4, 0x22, 0, 0x22, 0},
		"stacks": append([]byte{0x12, 102, 0x0a, 100}, bytes.Repeat([]byte{1}, 100)...),
		"values": append([]byte{0x12, 102, 0x12, 100}, bytes.Repeat([]byte{1}, 100)...),
	} {
		var bomb bytes.Buffer
		w := gzip.NewWriter(&bomb)
		size := 2 << 20
		if len(unit) > 100 {
			size = 5 << 20 // numbers, of which more are allowed
		}
		if _, err := w.Write(bytes.Repeat(unit, size/len(unit))); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := ParseProfile(bomb.Bytes()); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeepStacksAreCut: what lies outside of the innermost frames is left out,
// inlined calls counted.
func TestDeepStacksAreCut(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "shop.f"}
	l := &profile.Location{ID: 1, Line: slices.Repeat([]profile.Line{{Function: f, Line: 1}}, 100)}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{{Location: slices.Repeat([]*profile.Location{l}, 20), Value: []int64{7}}}}
	out, err := flatten(p, "cpu")
	if err != nil || len(out.Samples) != 1 || len(out.Samples[0].Stack) != maxStack || len(out.Samples[0].Inlined) != maxStack {
		t.Fatalf("%v: %d frames, want %d", err, len(out.Samples[0].Stack), maxStack)
	}
	p.Sample = slices.Repeat(p.Sample, maxFrames/maxStack+1)
	if _, err := flatten(p, "cpu"); err == nil || !strings.Contains(err.Error(), "in sum") {
		t.Errorf("of many: %v", err)
	}
}
