package interned

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/code"
)

// TestStacksEndWhereTheirGoroutinesBegan: CPU samples in a trace have the runtime's root below that, and the work of every
// stack without code of the module's own would be named after it.
func TestStacksEndWhereTheirGoroutinesBegan(t *testing.T) {
	file, err := os.Open("../testdata/path-crowd.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := trace.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	stacks, samples := New(site.Ownership{}), 0
	stacks.NextTrace()
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind() == trace.EventSync {
			stacks.NextGeneration()
		}
		if ev.Kind() != trace.EventStackSample {
			continue
		}
		samples++
		frames := stacks.Info(stacks.Intern(ev.Stack())).Frames
		if slices.ContainsFunc(frames, func(f code.Frame) bool { return f.Function == "runtime.goexit" }) {
			t.Fatalf("a sample's stack: %+v", frames)
		}
	}
	if samples == 0 {
		t.Error("the trace has no CPU samples")
	}
}

// TestManyLayers: who asks is known below a library of as many layers as a trace shows.
func TestManyLayers(t *testing.T) {
	frames := make([]code.Frame, 100)
	for i := range frames {
		frames[i] = code.Frame{Function: "cloud.example/sdk.(*step).Handle", Line: i + 1,
			File: "/root/go/pkg/mod/cloud.example/sdk@v2.0.0/step.go"}
	}
	frames[0] = code.Frame{Function: "runtime.selectgo"}
	frames[90] = code.Frame{Function: "shop/files.list", File: "/src/files/list.go", Line: 7}
	stacks := New(site.Ownership{})
	if kept := stacks.Info(stacks.keep(frames)).Frames; !slices.Contains(kept, frames[90]) {
		t.Errorf("%d frames are kept, without the one that asks", len(kept))
	}
}
