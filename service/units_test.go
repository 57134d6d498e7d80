package service

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/probe/sampler"
	"github.com/redline-go/redline/record/series"
)

// TestProbeAndRecordAgreeOnUnits: the probe, which cannot import the record, gives each metric of the runtime the unit
// that the record knows it by.
func TestProbeAndRecordAgreeOnUnits(t *testing.T) {
	units := map[ring.Unit]string{ring.One: "1", ring.Nanoseconds: "ns", ring.Bytes: "bytes"}
	metrics := 0
	for _, c := range sampler.New().Columns() {
		if !strings.HasPrefix(c.Name, "/") || c.Labels == "q=count" || strings.HasPrefix(c.Labels, "size=") {
			continue // how many events a histogram has, in all or of one size
		}
		metrics++
		if info, ok := series.Known(c.Name); !ok || info.Unit != units[c.Unit] {
			t.Errorf("%s %s: %q, in the record %q", c.Name, c.Labels, units[c.Unit], info.Unit)
		}
	}
	if metrics < 50 {
		t.Errorf("only %d metrics are compared", metrics)
	}
}
