//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/service/postgres"
)

const ms = time.Millisecond

// TestMain lets the test binary be the service.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestAlign makes a few events. How exactly they are dated is the bench's to
// show, on a host that is quiet: a reading that comes late has counted what
// followed its edge already. Here every view has to see every event, and most of
// them where they belong, unless the source itself says that it read less often.
func TestAlign(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: ten seconds of events, and a database")
	}
	if _, err := postgres.Installed(); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	trials, err := measure(t.Context(), self, least, 1, os.Stderr)
	var missing *observe.Unsupported
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != least {
		t.Errorf("the service told of %d events, want %d", len(trials), least)
	}
	v := decide(trials)
	if v.trials < least/4 {
		t.Fatalf("%d of %d events lie in a trace", v.trials, least)
	}
	for _, r := range v.rows {
		if r.partly != "" {
			t.Logf("%s is not judged: %s", r.view, r.partly)
			continue
		}
		if r.unseen > 0 {
			t.Errorf("%s does not see %d of %d events", r.view, r.unseen, v.trials)
		}
		if r.share.sameClear*2 < r.share.clear {
			t.Errorf("%s puts %s of the events into their window", r.view, portion(r.share.sameClear, r.share.clear))
		}
	}
}

func TestLand(t *testing.T) {
	event := timebase.Span{From: 310 * ms, To: 312 * ms}
	for _, test := range []struct {
		amounts map[int64]float64
		want    view
	}{
		{map[int64]float64{3: 0.98, 4: 0.02}, view{Seen: true, Same: true, Parts: [3]float64{0.98, 0, 0.02}}},
		{map[int64]float64{2: 0.9, 3: 0.1}, view{Seen: true, Off: 10 * ms, Parts: [3]float64{0.1, 0.9, 0}}},
		{map[int64]float64{4: 1}, view{Seen: true, Off: 88 * ms, Parts: [3]float64{0, 0, 1}}},
		{map[int64]float64{7: 1}, view{}},
	} {
		if got := land(func(w int64) float64 { return test.amounts[w] }, event); got != test.want {
			t.Errorf("%v: %+v, want %+v", test.amounts, got, test.want)
		}
	}
}

func TestEdges(t *testing.T) {
	for _, test := range []struct {
		from, to, want time.Duration
	}{{310 * ms, 320 * ms, 10 * ms}, {370 * ms, 399 * ms, ms}, {395 * ms, 401 * ms, 0}} {
		if got := fromEdge(timebase.Span{From: test.from, To: test.to}); got != test.want {
			t.Errorf("%v to %v is %v from an edge, want %v", test.from, test.to, got, test.want)
		}
	}
	outer := timebase.Span{From: 10 * ms, To: 20 * ms}
	if got := outside(timebase.Span{From: 7 * ms, To: 25 * ms}, outer); got != 5*ms {
		t.Errorf("outside by %v, want 5ms", got)
	}
	if got := outside(timebase.Span{From: 12 * ms, To: 20 * ms}, outer); got != 0 {
		t.Errorf("inside, and outside by %v", got)
	}
}

// trials returns n events that all views see alike.
func trials(n int, of view) (all []trial) {
	for range n {
		t := trial{Edge: 5 * ms, Traced: true, Views: map[string]view{}}
		for _, name := range views {
			t.Views[name] = of
		}
		all = append(all, t)
	}
	return all
}

func TestVerdict(t *testing.T) {
	good := view{Seen: true, Same: true, Off: 10 * time.Microsecond, Stated: 20 * time.Microsecond}
	for name, test := range map[string]struct {
		spoil func([]trial) []trial
		want  string // in the error; none for a pass
	}{
		"all well":               {func(all []trial) []trial { return all }, ""},
		"one in a thousand":      {func(all []trial) []trial { all[5].Views["load"] = view{}; return all }, ""},
		"two in a thousand":      {func(all []trial) []trial { all[5].Views["load"], all[6].Views["events"] = view{}, view{}; return all }, "the same window"},
		"one near an edge":       {func(all []trial) []trial { all[5] = trials(1, view{Seen: true})[0]; all[5].Edge = ms / 2; return all }, ""},
		"across an edge":         {func(all []trial) []trial { all[5].Across, all[6].Across = true, true; return all }, ""},
		"dates off":              {func(all []trial) []trial { off(all[:20], 2*ms, 0); return all }, "the dates of postgres"},
		"dates stated to be off": {func(all []trial) []trial { off(all[:1], 0, ms); return all }, "the dates of postgres"},
		"nothing traced":         {func(all []trial) []trial { all[0].Traced = false; return all[:1] }, "no trial"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := decide(test.spoil(trials(1000, good))).describe(&out)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q\n%s", err, test.want, out.String())
			}
		})
	}
}

func off(all []trial, by, stated time.Duration) {
	for _, t := range all {
		t.Views["postgres"] = view{Seen: true, Same: true, Off: by, Stated: stated}
	}
}

// Trials are kept from one call to the next, so that a measurement can be made in
// pieces.
func TestKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trials")
	for range 2 {
		if err := keep(file, trials(3, view{Seen: true, Off: ms})); err != nil {
			t.Fatal(err)
		}
	}
	all, err := earlier(file)
	if err != nil || len(all) != 6 || all[5].Views["load"].Off != ms || traced(all) != 6 {
		t.Errorf("%d trials, %v", len(all), err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier(file); err == nil {
		t.Error("a file that is cut passes")
	}
	var none strings.Builder
	if err := command(context.Background(), []string{"-trials", "0"}, &none, &none); err == nil {
		t.Error("no trial is asked for, and that passes")
	}
}
