package vitals

import (
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record/timebase"
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
	if h := v.Health("x"); !h.OK || h.Why != "3 windows were skipped because redline got no CPU; half blind" {
		t.Errorf("half blind: %+v", h)
	}
	v.End(2 * time.Second)
	v.End(3 * time.Second)
	if h := v.Health("x"); h.OK || !strings.Contains(h.Why, "ended 2.00 s into") {
		t.Errorf("after the end: %+v", h)
	}
	v.Finish(5 * time.Second)
	v.Finish(6 * time.Second)
	if h := v.Health("x"); len(h.Gaps) != 1 || h.Gaps[0].Span != (timebase.Span{From: 2 * time.Second, To: 6 * time.Second}) {
		t.Errorf("gaps %+v, want one since the end", h.Gaps)
	}
	for i := range 2 * maxGaps {
		v.Blind(timebase.Span{From: time.Duration(2*i) * time.Hour, To: time.Duration(2*i+1) * time.Hour}, "asleep")
	}
	if h := v.Health("x"); len(h.Gaps) != maxGaps {
		t.Errorf("%d gaps are kept, want %d", len(h.Gaps), maxGaps)
	}
}
