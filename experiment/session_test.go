package experiment

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// TestSession runs the experiment whose metric no busy host moves: sizes. Its result is
// kept, and not measured again where the session is resumed.
func TestSession(t *testing.T) {
	chosen, err := Find(Suite(), []string{"E-struct-layout"})
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	s := Session{Checkout: "..", Dir: t.TempDir(), Quick: true, Seed: 1, OnResult: func(int, int, Result) { measured++ }}
	all, err := s.Run(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	// Whether the host lets it make enough rounds in its time is not for this test.
	r, ok := all.Of("E-struct-layout")
	if !ok || r.Verdict != Confirmed && r.Verdict != Inconclusive || math.Abs(r.A/(24*8192)-1) > 0.01 || math.Abs(r.B/(16*8192)-1) > 0.01 || r.Rounds == 0 || !r.Quick || all.Go == "" || measured != 1 {
		t.Errorf("%+v", r)
	}
	s.Resume = true
	if again, err := s.Run(t.Context(), chosen); err != nil || measured != 1 || len(again.Results) != 1 {
		t.Errorf("resumed: %d measured, %v", measured, err)
	}
}

// TestSessionFails: an experiment that cannot run is an error of its own, and an end of the
// session keeps what there is.
func TestSessionFails(t *testing.T) {
	missing := Experiment{ID: "E-none", Claim: "E-none", Benchmark: "NoSuchBenchmark", Metric: "sec/op"}
	s := Session{Checkout: "..", Dir: t.TempDir(), Quick: true}
	if _, err := s.Run(t.Context(), []Experiment{missing}); err == nil || !strings.Contains(err.Error(), "E-none: ") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := s.Run(ended, Suite()[:1]); !errors.Is(err, context.Canceled) || len(all.Results) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
