package observe

import (
	"math"
	"reflect"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
)

type points []series.Point

func (p *points) Add(added ...series.Point) error { *p = append(*p, added...); return nil }
func (*points) Profile(record.Profile) error      { return nil }
func (*points) Trace(record.Trace) error          { return nil }

func TestMeter(t *testing.T) {
	m := Meter{Width: 100 * ms}
	var sink points
	for edge := 100 * ms; edge <= 300*ms; edge += 100 * ms {
		m.Count(series.DBCommits, "", edge, float64(edge/ms))
		m.Gauge(series.DBBackends, "state=active", edge, 7)
		m.Gauge(series.DBBlocked, "", edge, math.NaN())
		if err := m.Flush(&sink); err != nil {
			t.Fatal(err)
		}
	}
	backends := series.Series{Name: series.DBBackends, Labels: "state=active", Unit: "1"}
	commits := series.Series{Name: series.DBCommits, Unit: "1"}
	want := points{
		{Window: 0, Series: backends, Value: 7},
		{Window: 1, Series: commits, Value: 100}, {Window: 1, Series: backends, Value: 7},
		{Window: 2, Series: commits, Value: 100}, {Window: 2, Series: backends, Value: 7},
	}
	if !reflect.DeepEqual(sink, want) {
		t.Errorf("points %v, want %v", sink, want)
	}
	m.Break()
	m.Count(series.DBCommits, "", 500*ms, 1000)
	sink = nil
	if _ = m.Flush(&sink); sink != nil {
		t.Errorf("points %v over a gap", sink)
	}
}

func TestMeterRefusesUnknownNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a series outside the catalogue is taken")
		}
	}()
	(&Meter{}).Gauge("made.up", "", 0, 1)
}
