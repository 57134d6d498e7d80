package vitals

import (
	"strings"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	var v Vitals
	if h := v.Health("x"); h.OK || h.Why == "" {
		t.Errorf("without a sample: %+v", h)
	}
	v.Bracket.Add(0, time.Microsecond)
	if h := v.Health("x"); !h.OK || h.Why != "" || h.Samples != 1 || h.Align.P99 == 0 {
		t.Errorf("with a sample: %+v", h)
	}
	for range 100 {
		v.Say("half blind")
	}
	v.Missed = 3
	if h := v.Health("x"); !h.OK || h.Why != "3 windows were skipped for want of CPU; half blind" {
		t.Errorf("half blind: %+v", h)
	}
	v.End(2 * time.Second)
	v.End(3 * time.Second)
	if h := v.Health("x"); h.OK || !strings.Contains(h.Why, "ended 2s into") {
		t.Errorf("after the end: %+v", h)
	}
}
