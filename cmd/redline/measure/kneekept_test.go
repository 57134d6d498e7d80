package measure

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/scenario"
)

// TestKneeIsKept: the capacity is a series, and every step is a trial; a history that fails in between
// is a note.
func TestKneeIsKept(t *testing.T) {
	store, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	plan := &scenario.Plan{Name: "shop", Requests: []scenario.Request{{URL: "http://127.0.0.1:8080/"}}}
	answer := func(begun time.Time, limit string) *knee.Answer {
		return &knee.Answer{
			State: knee.Found, Knee: &knee.Interval{Rate: 800, Low: 780, High: 820}, Broke: "p99 < 20ms fails: 310 ms",
			Header: knee.Header{Begun: begun, Plan: plan.Redacted(), Objectives: []string{limit}},
			Steps: []knee.Step{
				{Phase: knee.Light, Connections: 1, Requests: 9, Served: 200, P99: 5e6, Outcome: knee.Holds},
				{Phase: knee.Searched, Rate: 850, Requests: 9, Served: 800, Outcome: knee.Breaks, Why: []string{"p99 < 20ms fails: 310 ms"}},
				{Phase: knee.Searched, Rate: 900, Outcome: knee.Void},
			},
		}
	}
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	begun := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	keepKnee(t.Context(), store, t.TempDir(), plan, answer(begun, "p99 < 20ms"), note)
	keepKnee(t.Context(), store, t.TempDir(), plan, answer(begun.Add(time.Hour), "p99 < 90ms"), note)

	sessions, err := store.Sessions(t.Context(), history.Filter{}, 9)
	if err != nil || len(sessions) != 2 || len(sessions[0].Trials) != 3 {
		t.Fatalf("%v: %+v, %q", err, sessions, notes)
	}
	trials := sessions[0].Trials
	if sessions[0].Answer != "800.0/s (780.0 to 820.0); then p99 < 20ms fails: 310 ms" || trials[0].Setting != "1 connection" ||
		trials[0].Note != "p99 5.00 ms" || trials[1].Setting != "850.0/s" || trials[1].Outcome != "breaks" || trials[1].Value != 800 ||
		!math.IsNaN(trials[2].Value) {
		t.Errorf("%+v", sessions[0])
	}
	results, err := store.Results(t.Context(), history.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if series := history.Arrange(results, history.Options{Dirty: true}); len(series) != 2 || series[0].Metric != "capacity" ||
		series[0].Points[0].High != 820 {
		t.Errorf("capacities under two objectives: %+v", series)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	notes = nil
	keepKnee(t.Context(), store, t.TempDir(), plan, answer(begun, "p99 < 20ms"), note)
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "redline: could not add the trials to the history: ") {
		t.Errorf("the notes are %q", text)
	}
}
