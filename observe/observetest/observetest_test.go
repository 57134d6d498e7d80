package observetest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
)

// model is the smallest source that conforms.
type model struct {
	subject observe.Subject
	bracket observe.Bracket
}

func (m *model) Describe() observe.Description {
	return observe.Description{Name: "model", Doc: "Counts windows.", Needs: "a PID.", Cost: "nothing."}
}

func (m *model) Open(_ context.Context, subject observe.Subject) error {
	if subject.PID == 0 {
		return &observe.Unsupported{What: "no process", Enable: "name one with --pid"}
	}
	m.subject = subject
	return nil
}

func (m *model) Run(ctx context.Context, sink observe.Sink) error {
	return observe.Every(ctx, m.subject.Clock, m.subject.Window, func(edge time.Duration) error {
		_, err := m.bracket.Read(m.subject.Clock, func() error { return nil })
		_ = sink.Add(series.Point{Window: observe.Ended(edge, m.subject.Window),
			Series: series.Series{Name: series.ProcessThreads, Unit: "1"}, Value: 1})
		return err
	})
}

func (m *model) Health() record.SourceHealth {
	return record.SourceHealth{OK: m.bracket.Samples() > 0, Why: "no sample", Samples: m.bracket.Samples(), Align: m.bracket.Align()}
}

func TestModelConforms(t *testing.T) {
	Run(t, func() observe.Source { return &model{} }, observe.Subject{PID: 1})
}

func TestCheckPoint(t *testing.T) {
	good := series.Point{Window: 3, Series: series.Series{Name: series.DBWaits, Labels: "event=Lock:tuple", Unit: "1"}, Value: 2}
	tests := map[string]func(*series.Point){
		"unknown name":     func(p *series.Point) { p.Series.Name = "made.up" },
		"wrong unit":       func(p *series.Point) { p.Series.Unit = "ns" },
		"NaN":              func(p *series.Point) { p.Value = math.NaN() },
		"infinite":         func(p *series.Point) { p.Value = math.Inf(1) },
		"negative counter": func(p *series.Point) { p.Series, p.Value = series.Series{Name: series.DBCommits, Unit: "1"}, -1 },
		"before the run":   func(p *series.Point) { p.Window = 0 },
		"after the run":    func(p *series.Point) { p.Window = 9 },
		"unknown label":    func(p *series.Point) { p.Series.Labels = "pid=7" },
	}
	if err := checkPoint(good, 1, 5); err != nil {
		t.Errorf("a good point is refused: %v", err)
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			bad := good
			spoil(&bad)
			if checkPoint(bad, 1, 5) == nil {
				t.Errorf("%+v passes", bad)
			}
		})
	}
}
